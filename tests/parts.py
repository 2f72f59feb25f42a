"""Which optional parts of the machine the tests found: the shared corpus, PostgreSQL, Chromium, the model server.

What is missing is left out and named at the end of the run (see conftest.py); `.ci/run` fails when any but the
shared corpus is missing.
"""

from pathlib import Path

import pytest

from tests.fakes.local_model import model_file

_BESIDE = Path(__file__).resolve().parents[2] / "shared"
SHARED: Path | None = _BESIDE if (_BESIDE / "books" / "manifest.json").is_file() else None

needs_shared = pytest.mark.skipif(SHARED is None, reason="part left out: no ../shared")

# Debian keeps server programs out of the path.
_SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[4]))
POSTGRES: Path | None = _SERVERS[-1].parent if _SERVERS else None
"""The folder of PostgreSQL's own programs."""

needs_postgres = pytest.mark.skipif(POSTGRES is None, reason="part left out: no PostgreSQL")

LOCAL_MODEL = model_file() is not None
"""Whether the packages of a small real model and its server are installed (requirements-ci.txt)."""

needs_local_model = pytest.mark.skipif(not LOCAL_MODEL, reason="part left out: no local model")

CHROMIUM: Path | None = Path("/usr/bin/chromium") if Path("/usr/bin/chromium").exists() else None
"""The browser that walks through the web page as a person would; Debian's package `chromium`."""

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="part left out: no Chromium")
