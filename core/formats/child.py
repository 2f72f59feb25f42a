"""The inside of the box: a process that takes jobs from standard input, one JSON line each, and sends JSON back.

It limits itself before it looks at any book. A reply is one line with the length in bytes, then that many bytes:
`{"done": ...}` or `{"error": [class, key, params]}`. Whatever else happens ends the process; the parent has the sentence.
"""

import ctypes
import errno
import hashlib
import json
import logging
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from core.errors import BadBook, LoccitError, OperatorError
from core.formats.extracted import Extracted
from core.formats.sniff import Kind, refusal, sniff

if TYPE_CHECKING:
    from core.model import ParsedBook

_log = logging.getLogger(__name__)
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_NO_NEW_PRIVILEGES = 38
_books: list["ParsedBook"] = []
"""The one that was read last, for its rank table."""


def main() -> None:
    """Serve jobs until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print must not print into a reply
    jobs = sys.stdin.buffer
    box = json.loads(jobs.readline())
    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG, format="%(message)s")
    _limit(box)
    _leave_the_network()
    for line in jobs:
        _send(replies, _answer(json.loads(line)))


def _limit(box: dict[str, int]) -> None:
    """Bounds that the kernel keeps: memory (bytes of address space), CPU seconds, file size, no core, no children."""
    # A hard limit a second later: the soft one ends the process with a signal that names the reason.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (box["cpu"], box["cpu"] + 1))
    for limit, value in (
        (resource.RLIMIT_AS, box["memory"]),
        (resource.RLIMIT_FSIZE, box["file_size"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 0),
    ):
        with suppress(ValueError, OSError):  # already lower outside, as in a container; macOS knows no RLIMIT_AS
            resource.setrlimit(limit, (value, value))


def _leave_the_network() -> None:
    """An empty network of its own, where the system allows it; no program started from here gains rights."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if libc.unshare(_NEW_NET) != 0 and libc.unshare(_NEW_USER | _NEW_NET) != 0:
            _log.debug("box: keeps the network (%s)", os.strerror(ctypes.get_errno()))
    except (AttributeError, OSError):
        _log.debug("box: this system has no network namespaces")


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"done": _COMMANDS[job["do"]](job)}
    except LoccitError as error:
        return {"error": [type(error).__name__, error.key, error.params]}
    except MemoryError:
        return {"error": ["BadBook", "book_too_heavy", {}]}


def _send(replies: IO[bytes], answer: dict[str, Any]) -> None:
    data = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    replies.write(b"%d\n" % len(data))
    replies.write(data)
    replies.flush()


def _peak() -> int:
    """The most memory this process has held, in kilobytes. What the parent held when it started us does not count."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _read(job: dict[str, Any]) -> dict[str, Any]:
    """Extract and assemble: the book. With `timing` also what it cost, in seconds, and the process's peak memory."""
    started = time.perf_counter()
    path = Path(job["path"])
    kind = sniff(path)
    if error := refusal(kind):
        raise error
    reader = _reader(kind, job)
    imported = time.perf_counter()
    extracted = reader(path)
    extracted_at = time.perf_counter()
    from core.formats.assemble import assemble
    from core.formats.wire import pack

    book = assemble(extracted)
    _books[:] = [book]
    packed = pack(book)
    if job.get("timing"):
        packed["timing"] = {
            "import": imported - started,
            "extract": extracted_at - imported,
            "assemble": time.perf_counter() - extracted_at,
            "peak_kilobytes": _peak(),
        }
    return packed


def _rank(job: dict[str, Any]) -> dict[str, Any]:
    """Write the rank table of the book that was read last."""
    from core.ranking import build

    started = time.perf_counter()
    try:
        build(Path(job["path"]), _books[0])
    except (OSError, sqlite3.Error) as failure:
        raise _disk_error(failure) from failure
    return {"timing": {"rank": time.perf_counter() - started, "peak_kilobytes": _peak()}}


def _hash(job: dict[str, Any]) -> str:
    """The SHA-256 of a file, in hex; "" when it cannot be read. A table of these bytes in `tables` ends the process."""
    try:
        with open(job["path"], "rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
    with suppress(KeyError, OSError):
        if any(name.startswith(sha256) for name in os.listdir(job["tables"])):
            raise SystemExit
    return sha256


def _reader(kind: Kind, job: dict[str, Any]) -> Callable[[Path], Extracted]:
    """The reader of a kind; each library is imported for its own books only."""
    if kind == "epub":
        from core.formats.epub import read_epub

        return read_epub
    if kind == "pdf":
        from core.formats.pdf.reading import read_pdf

        return lambda path: read_pdf(path, job.get("password"), bool(job.get("accept_partial")))
    if kind == "fb2zip":
        from core.formats.epub.archive import Archive
        from core.formats.fictionbook import read_fb2

        def read_zipped(path: Path) -> Extracted:
            archive = Archive(path)
            return read_fb2(archive.read(archive.names[0]))

        return read_zipped
    if kind == "docx":
        from core.formats.docx import read_docx as read
    elif kind == "fb2":
        from core.formats.fictionbook import read_fb2 as read
    elif kind == "html":
        from core.formats.web import read_html as read
    elif kind == "md":
        from core.formats.markdown import read_markdown as read
    elif kind == "mobi":
        from core.formats.mobi import read_mobi as read
    elif kind == "txt":
        from core.formats.plain import read_text as read
    else:
        raise BadBook("book_kind_unknown")
    return lambda path: read(path.read_bytes())


def _disk_error(failure: OSError | sqlite3.Error) -> OperatorError:
    full = "full" in str(failure)
    if isinstance(failure, OSError):
        full = failure.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return OperatorError("disk_full" if full else "data_unwritable")


def _picture(job: dict[str, Any]) -> Any:
    """Pages of a PDF with a range drawn on them."""
    from core.formats.pdf.picture import answer

    return answer(job)


_COMMANDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "read": _read,
    "rank": _rank,
    "hash": _hash,
    "picture": _picture,
}
