"""Where the log goes and what a line looks like. A line holds facts (ids, lengths, keys), never what people wrote or read."""

import json
import logging
import traceback
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

_OURS = ("bot", "adapters", "core")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_FILE_BYTES = 2_000_000
_FILES_KEPT = 3


class JsonLines(logging.Formatter):
    """One JSON object a line. Of an exception it keeps the types and the places, not the messages: a database error
    quotes its parameters, and those are book text."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _places(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)


def _places(error: BaseException | None) -> list[dict[str, object]]:
    """The chain of an error, outermost first: type and where it passed."""
    chain: list[dict[str, object]] = []
    while error is not None and len(chain) < 10:
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        chain.append({"type": type(error).__qualname__, "where": where})
        error = error.__cause__ or error.__context__
    return chain


def silence() -> None:
    """Nothing is logged to the terminal until `start_logs` says so. Other people's libraries log what they please (texts,
    parameters), so nothing of theirs is kept or shown at all."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.raiseExceptions = False


def start_logs(folder: Path, *, verbose: bool) -> None:
    """Log our own modules to a file in `folder`, and to stderr as well when `verbose`.

    A folder that cannot be written is no reason to stop here: whoever needs it says so in a sentence.
    """
    handlers: list[logging.Handler] = []
    if folder.is_dir():
        try:
            handlers.append(
                RotatingFileHandler(
                    folder / "loccit.log", maxBytes=_FILE_BYTES, backupCount=_FILES_KEPT, encoding="utf-8"
                )
            )
        except OSError:
            handlers.append(logging.NullHandler())
    if verbose:
        handlers.append(logging.StreamHandler())
    for handler in handlers:
        handler.setFormatter(JsonLines())
        for name in _OURS:
            logger = logging.getLogger(name)
            logger.setLevel(logging.INFO)
            logger.propagate = False
            logger.addHandler(handler)
