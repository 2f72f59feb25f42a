"""`ask`: answer questions from a book, one or a line each."""

import sys
from argparse import Namespace
from collections.abc import Iterator

from adapters.console import view
from adapters.console.here import HERE, PLATFORM, local_reader
from bot import shapes
from bot.commands.headless import Desk, each_book, run_headless, typed
from bot.config import Config
from bot.wiring import new_id
from core.errors import ReaderError
from core.model import Answered, BookCard, Conversation, Question, Turn


def run(arguments: Namespace, config: Config) -> int:
    """Run the command; its exit code."""

    def answer(desk: Desk, card: BookCard, words: str) -> None:
        turn = desk.do(_turn(desk, card, words, arguments))
        passages = [
            desk.do(desk.club.passages.press(HERE, note.id, locale=desk.locale)) for note in turn.answer.footnotes
        ]
        lines = view.answer(turn.answer, desk.look, dialogue=False)
        for note, passage in zip(turn.answer.footnotes, passages, strict=True):
            lines += ["", *view.note(passage, note.number, desk.look)]
        desk.show(lambda: shapes.answer(turn, passages, desk.locale), lambda: lines)

    def work(desk: Desk) -> None:
        if arguments.question != "-":
            each_book(desk, arguments.books, lambda card: answer(desk, card, typed(arguments.question)))
            return
        cards: list[BookCard] = []
        each_book(desk, arguments.books, cards.append)
        if cards:
            for words in _lines():
                for card in cards:
                    with desk.failures():
                        answer(desk, card, words)

    return run_headless(arguments, config, work, writes=True)


async def _turn(desk: Desk, card: BookCard, words: str, arguments: Namespace) -> Turn:
    if not words.strip():
        raise ReaderError("question_empty")
    event = f"{PLATFORM}:{new_id()}"
    # A thread of its own: no question sees another's exchange, and a bare number in the chat still means the chat's answer.
    apart = Conversation(HERE.platform, HERE.channel, thread=event)
    reader = local_reader(desk.locale)
    question = Question(
        event,
        apart,
        reader,
        words,
        book=card.sha256,
        limit_words=arguments.limit,
        evidence_tokens=arguments.evidence_tokens,
        without_book=arguments.without_book,
        private=True,
    )
    async for step in desk.club.questions.ask(question):
        if isinstance(step, Answered):
            await desk.club.questions.shown(step.turn.id)  # whoever typed the command reads it now or never
            return step.turn
    raise RuntimeError("a question ended without an answer")


def _lines() -> Iterator[str]:
    for line in sys.stdin.buffer:
        yield line.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r\n")
