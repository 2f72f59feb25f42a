"""The rules every test runs under: no network but loopback, no settings from outside, a word about what was left out."""

import ipaddress
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

# Whoever runs the tests may have a bot of their own configured; no test may read those settings, files or keys.
_FOREIGN = re.compile(
    r"^(LOCCIT|OPENAI|DISCORD|TELEGRAM|SLACK)_|(_TOKEN|_API_KEY|_SECRET)$|^(https?|all|no)_proxy$|^XDG_|^PG", re.I
)
for _name in [name for name in os.environ if _FOREIGN.search(name)]:
    del os.environ[_name]
os.environ["HOME"] = tempfile.mkdtemp(prefix="loccit-home-")
os.environ["LC_ALL"] = "C.UTF-8"
# Whoever starts the tests behind a shell's back has Ctrl-C ignored, and programs started from here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Otherwise every program that a test starts compiles all our modules again: a third of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The store waits for the disk at every write. Nothing here tests power cuts, so the tests' folders lie in memory, where
# there is enough of it.
_MEMORY, _ENOUGH = Path("/dev/shm"), 4 << 30
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ENOUGH:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

_LOOPBACK_NAMES = {"localhost", "localhost.localdomain", "", None}
_LEFT_OUT = "part left out: "
_PATIENCE = 5.0


def _is_local(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in _LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_the_network(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: it sees every socket of this process, whichever library opens it. Unix sockets have no host."""
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        if isinstance(address, tuple) and not _is_local(address[0]):
            raise AssertionError(f"a test tried to reach {address!r}; tests may use loopback only")
    elif event == "socket.getaddrinfo" and not _is_local(arguments[0]):
        raise AssertionError(f"a test tried to look up {arguments[0]!r}; tests may use loopback only")


sys.addaudithook(_refuse_the_network)


@pytest.fixture(autouse=True)
def _every_connection_is_closed() -> Iterator[None]:
    """Named where it happens: otherwise the collector says so in some later test."""
    before = _connections()
    yield
    ends = time.monotonic() + _PATIENCE
    while (left := _connections() - before) and time.monotonic() < ends:
        time.sleep(0.01)  # a thread ends a little after its connection
    assert not left, f"{len(left)} connections to a database stay open"


def _connections() -> set[threading.Thread]:
    """The threads of aiosqlite, one for each."""
    return {thread for thread in threading.enumerate() if "_connection_worker" in thread.name}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browsing() -> AsyncIterator[None]:
    """For tests in the session's loop: what they have of `shared_browser` is closed at the end."""
    yield
    from tests.browser import close_shared_browser  # slow to import; whoever needed it has done so

    await close_shared_browser()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--parts-file", type=Path, help="write the parts left out to this file, one a line")


_LONG = (
    "test_turns_with_a_real_model",
    "test_workers",
    "test_indexing_crash",
    "test_p7_nothing_lost",
    "test_p10_no_failure",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: not item.path.name.startswith(_LONG))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name what was left out. A skip that names no part is not honest, so it is named too."""
    counts: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        part = reason.removeprefix(_LEFT_OUT) if reason.startswith(_LEFT_OUT) else f"skipped without a part: {reason}"
        counts[part] = counts.get(part, 0) + 1
    if counts:
        terminalreporter.section("parts left out")
        for part, count in sorted(counts.items()):
            terminalreporter.write_line(f"{part} ({count} tests)")
    file: Path | None = config.getoption("--parts-file")
    if file is not None:
        file.write_text("".join(f"{part}\n" for part in sorted(counts)), encoding="utf-8")


def pytest_unconfigure() -> None:
    shutil.rmtree(os.environ["HOME"], ignore_errors=True)
