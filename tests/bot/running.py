"""Runs the command line in a process of its own, in a clean environment; `command` is for starting it from nothing."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import programs

CHECKOUT = programs.CHECKOUT
PATIENCE = 60.0
"""Seconds until a command counts as hanging."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        """The JSON objects printed, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def sentence(self) -> str:
        """The one line on stderr. No failure may show more, and none shows internals."""
        [line] = self.err.splitlines()
        assert "Traceback" not in line
        return line


def environment(**settings: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(CHECKOUT), "LC_ALL": "C.UTF-8"} | settings


def loccit(
    *words: str | Path, data: Path | None = None, stdin: str = "", cwd: Path | None = None, **settings: str
) -> Ran:
    """Run `loccit WORDS…` to its end. `data` becomes LOCCIT_DATA, `settings` environment variables."""
    given = settings | ({"LOCCIT_DATA": str(data)} if data else {})
    code, out, err = programs.run(
        programs.LOCCIT,
        *words,
        environment=environment(**given),
        folder=cwd or Path.cwd(),
        stdin=stdin.encode(),
        patience=PATIENCE,
    )
    return Ran(code, out.decode("utf-8"), err.decode("utf-8"))


def command(*words: str | Path) -> Sequence[str]:
    return [sys.executable, "-m", "bot", *map(str, words)]
