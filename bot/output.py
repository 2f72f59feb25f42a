"""Standard output: where results go, and the one failure that is about the place and not about the work."""

import json
import sys
from collections.abc import Mapping, Sequence


class OutputFailed(Exception):
    """What stands behind stdout takes no more (a full disk); nothing else can be printed there either."""


def print_json(shape: Mapping[str, object]) -> None:
    """One object a line, in UTF-8 whatever the terminal speaks. Raises OutputFailed, BrokenPipeError."""
    _write(json.dumps(shape, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def print_lines(lines: Sequence[str]) -> None:
    """Lines for people, in the terminal's encoding. Raises OutputFailed, BrokenPipeError."""
    _write("".join(f"{line}\n" for line in lines).encode(sys.stdout.encoding, "replace"))


def _write(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()  # for whoever reads along
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed from error
