"""`index`: add books and wait until a language model has summarised them; interrupted, the next call goes on."""

import sys
from argparse import Namespace
from time import monotonic

from adapters.console.here import HERE
from bot import shapes
from bot.commands.headless import Desk, each_book, run_headless
from bot.config import Config
from bot.failures import explain
from bot.wiring import open_model
from core.errors import LoccitError, OperatorError, UpstreamError
from core.model import BookCard, Usage
from core.strings import say
from core.summaries import Summarised


def run(arguments: Namespace, config: Config) -> int:
    """Run the command; its exit code, 1 when a book was not finished. Raises OperatorError without a model."""
    if open_model(config) is None:
        raise OperatorError("index_no_model")
    live = sys.stderr.isatty() and not arguments.json

    def index(desk: Desk, card: BookCard) -> None:
        begun = monotonic()
        steps = [Summarised(0, 0, 0, Usage())]
        error: LoccitError | None = None
        try:
            desk.do(_follow(desk, card, steps, refresh=arguments.refresh, live=live))
        except LoccitError as failure:
            error = failure
        # What only waits for somebody else goes on with the next call; the rest waits for whoever runs this.
        state = "done" if error is None else "paused" if isinstance(error, UpstreamError) else "failed"
        seconds = monotonic() - begun
        last = steps[-1]
        lines = [
            say("index_progress", desk.locale, title=card.title, done=last.done, total=last.total),
            say("index_cost", desk.locale, calls=last.usage.calls, read=last.usage.input_tokens, wrote=last.usage.output_tokens),
        ]  # fmt: skip
        if last.flagged:
            flagged = say("index_flagged", desk.locale, count=last.flagged)
            if arguments.json:  # the shape has no place for it, and "done" would hide it
                print(lines[0], flagged, file=sys.stderr)
            lines.append(flagged)
        desk.show(lambda: shapes.indexed(card, last, seconds, state), lambda: lines)
        if error is not None:
            print(explain(error, desk.locale)[1], file=sys.stderr)
            desk.failed = True

    return run_headless(
        arguments, config, lambda desk: each_book(desk, arguments.books, lambda card: index(desk, card)), writes=True
    )


async def _follow(desk: Desk, card: BookCard, steps: list[Summarised], *, refresh: bool, live: bool) -> None:
    try:
        async for step in desk.club.summaries.index(HERE, card.sha256, refresh=refresh):
            steps.append(step)
            if live:
                print(f"\r{step.done}/{step.total}", end="", file=sys.stderr, flush=True)
    finally:
        if live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
