"""The one chat of this machine's data folder, and whoever sits at it."""

from pathlib import Path

from core.errors import ReaderError
from core.model import Conversation, Reader, Upload

PLATFORM = "console"
HERE = Conversation(PLATFORM, "local")
"""Headless commands share its books."""


def local_reader(locale: str) -> Reader:
    """Whoever sits at this machine; the folder is theirs, so they manage it."""
    return Reader("local", locale, manages=True)


def local_upload(path: Path, reader: Reader, id: str, password: str | None) -> Upload:
    """The upload of a file of this machine; bytes of its name that are no text become "?".

    Raises ReaderError for a folder or a device: opening one may never come back.
    """
    if path.exists() and not path.is_file():
        raise ReaderError("console_not_a_file", path=str(path))
    name = path.name.encode("utf-8", "replace").decode("utf-8")
    return Upload(f"{PLATFORM}:{id}", HERE, reader, path, name, password=password)
