"""`text`, `passage` and `quote`: what stands in a book. No model has a part in these."""

from argparse import Namespace

from adapters.console import view
from adapters.console.here import HERE, local_reader
from bot import shapes
from bot.commands.headless import Desk, each_book, run_headless, typed
from bot.config import Config
from core.model import BookCard


def run(arguments: Namespace, config: Config) -> int:
    """Run the command; its exit code."""

    def text(desk: Desk, card: BookCard) -> None:
        book = desk.do(desk.club.dump(HERE, card.sha256))
        desk.show(lambda: shapes.text(card, book, desk.locale), lambda: view.whole(book))

    def passage(desk: Desk, card: BookCard) -> None:
        found = desk.do(desk.club.passages.open_tag(HERE, card.sha256, typed(arguments.tag), locale=desk.locale))
        desk.show(lambda: shapes.passage(found), lambda: view.passage(found, desk.look))

    def quote(desk: Desk, card: BookCard) -> None:
        reader = local_reader(desk.locale)
        wanted, limit = typed(arguments.words), arguments.limit
        _, found = desk.do(
            desk.club.passages.find_quote(HERE, wanted, card.sha256, limit_words=limit, reader=reader, private=True)
        )
        desk.show(lambda: shapes.quote(found), lambda: view.quotes(card, found, desk.look))

    work = {"text": text, "passage": passage, "quote": quote}[arguments.command]
    return run_headless(arguments, config, lambda desk: each_book(desk, arguments.books, lambda card: work(desk, card)))
