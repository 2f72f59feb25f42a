"""The command line: what can be typed, and the outermost edge where every failure becomes one sentence."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.config import Config

OK, FAILED, INTERRUPTED, BROKEN_PIPE = 0, 1, 130, 141
"""Exit codes; wrong usage is 2, by argparse. The last two are what a shell gives for SIGINT and SIGPIPE."""

_MOST_TOKENS = 10_000_000
"""More than any book here can hold (20 M characters)."""
_BOOK = "a file, or the id of a book that was added (its first 8 characters or more)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. Never raises, never prints a traceback."""
    # A closed stream is a reader who is not there, or an input that has ended.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115  # they live as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a letter shows "?" and goes on
    arguments = parser().parse_args(argv)
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _let_go_of_stdout()
        return BROKEN_PIPE


def _let_go_of_stdout() -> None:
    """What is still buffered has no reader; without this the interpreter would complain about it on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: argparse.Namespace) -> int:
    from bot.config import read_config, system_locale
    from bot.logs import silence

    silence()
    locale = system_locale()
    try:
        config = read_config(data=arguments.data, verbose=arguments.verbose)
        locale = config.locale
        return _command(arguments, config)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # the outermost edge: one sentence, an exit code, details in the log
        from bot.failures import explain
        from bot.output import OutputFailed, print_json

        key, message = explain(error, locale)
        print(message, file=sys.stderr)
        if getattr(arguments, "json", False) and not isinstance(error, OutputFailed):
            with suppress(OutputFailed):
                print_json({"error": {"key": key, "message": message}})
        if isinstance(error, OutputFailed):
            _let_go_of_stdout()
        return FAILED


def _command(arguments: argparse.Namespace, config: "Config") -> int:
    from bot.folder import make_folder
    from bot.imports import importing
    from bot.logs import start_logs

    make_folder(config.data)
    start_logs(config.data, verbose=config.verbose)
    with _reading_ahead(arguments, config):
        with importing():
            command = import_module(f"bot.commands.{arguments.module}")
        code: int = command.run(arguments, config)
    return code


def _reading_ahead(arguments: argparse.Namespace, config: "Config") -> AbstractContextManager[None]:
    """`text` of a file that is new: a child reads it while everything else is loaded, which takes about as long."""
    if arguments.command != "text":
        return nullcontext()
    from pathlib import Path

    from core.formats.ahead import reading_ahead

    return reading_ahead(Path(arguments.books[0]), arguments.password, config.data / "ranks")


def parser() -> argparse.ArgumentParser:
    """Every command with its options."""
    loccit = argparse.ArgumentParser(
        prog="loccit", description="Ask a book; get answers with footnotes; open the exact passage behind each."
    )
    commands = loccit.add_subparsers(required=True, metavar="COMMAND")

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", metavar="DIR", help="the folder that holds books and answers (or LOCCIT_DATA)")
    common.add_argument("--verbose", action="store_true", help="show the log on stderr as well")
    locked = argparse.ArgumentParser(add_help=False)
    locked.add_argument("--password", metavar="WORD", help="opens a locked PDF")
    printed = argparse.ArgumentParser(add_help=False)
    printed.add_argument("--json", action="store_true", help="print JSON, one object a line")

    limited = argparse.ArgumentParser(add_help=False)
    limited.add_argument(
        "--limit",
        metavar="HOW-FAR",
        type=_typed,
        help='how far the book has been read, such as "finished 3" or "40 %%"',
    )

    def add(name: str, module: str, help: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=help, description=help, parents=[common, *parents])
        command.set_defaults(module=module, command=name)
        return command

    chat = add("chat", "chat", "talk about books in the terminal", locked)
    chat.add_argument("books", metavar="BOOK", nargs="*", help="files to add first")

    add("demo", "chat", "a short tour with the bundled book")

    add("run", "run", "serve the chat platforms that are set up, until it is stopped")

    text = add("text", "books", "print what was read of a book: text, contents, chapters", locked, printed)
    text.add_argument("books", metavar="BOOK", nargs="+", help=_BOOK)

    ask = add("ask", "questions", "answer a question from a book", locked, limited, printed)
    ask.add_argument("books", metavar="BOOK", nargs="+", help=_BOOK)
    ask.add_argument("question", metavar="QUESTION", help="the question; - reads one a line from stdin")
    ask.add_argument("--without-book", action="store_true", help="answer from general knowledge, marked as such")
    ask.add_argument("--evidence-tokens", metavar="N", type=_positive, help="how much of the book may be consulted")

    index = add("index", "indexing", "have a language model summarise books, for better answers", locked, printed)
    index.add_argument("books", metavar="BOOK", nargs="+", help=_BOOK)
    index.add_argument("--refresh", action="store_true", help="redo summaries that failed or are outdated")

    add("worker", "worker", "make summaries from the queue on a PostgreSQL server, beside run; start as many as wanted")

    passage = add("passage", "books", "print the passage of a tag such as [f5-123-165]", locked, printed)
    passage.add_argument("books", metavar="BOOK", nargs="+", help=_BOOK)
    passage.add_argument("tag", metavar="TAG")

    quote = add("quote", "books", "find words in a book, exact or nearly", locked, limited, printed)
    quote.add_argument("books", metavar="BOOK", nargs="+", help=_BOOK)
    quote.add_argument("words", metavar="WORDS")

    backup = add("backup", "backup", "save everything to one file, also while a bot or a chat is running")
    backup.add_argument("file", metavar="FILE", help="the file to write; an earlier backup of that name is replaced")

    restore = add("restore", "backup", "put back what a backup holds")
    restore.add_argument("file", metavar="FILE", help="a file that backup wrote")
    restore.add_argument("--force", action="store_true", help="in place of the data that is there")

    forget = add("forget", "forget", "delete everything about a reader, a channel or a book, for good")
    forget.add_argument("kind", metavar="KIND", choices=("reader", "channel", "book"), help="reader, channel or book")
    forget.add_argument("name", metavar="NAME", help="platform:id, such as telegram:123; of a book its sha256")
    forget.add_argument("--yes", action="store_true", help="do not ask first")

    add("stats", "stats", "say what the language model was asked, what it cost and how answers ended", printed)

    add("doctor", "doctor", "say what is set up and what the language model can do")
    return loccit


def _typed(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= _MOST_TOKENS:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {_MOST_TOKENS:,}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
