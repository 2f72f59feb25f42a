"""Files the dialogue touches: paths as people type or drag them, and exports that never overwrite."""

import shlex
from pathlib import Path

from core.errors import ReaderError


def typed_path(folder: Path, words: str) -> Path:
    """The path somebody typed or dragged in: as it stands, or with the quotes and backslashes of a shell."""
    plain = folder / words
    if is_file(plain):
        return plain
    try:
        [path] = shlex.split(words)
        return folder / Path(path).expanduser()
    except (ValueError, RuntimeError):  # not one word, quotes that do not close, nobody's home
        return plain


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name longer than the system takes
        return False


def export_path(folder: Path) -> Path:
    """A name for an export that no file in `folder` has yet."""
    return free_path(folder, "loccit-export.md")


def free_path(folder: Path, name: str) -> Path:
    """The name, or one made of it, that no file in `folder` has yet."""
    number, path = 1, folder / name
    while path.exists():
        number += 1
        path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
    return path


def write_new(path: Path, text: str) -> None:
    """Write a file that was not there. Raises ReaderError when it was, or cannot be written; then nothing is left of it."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """As `write_new`."""
    try:
        with path.open("xb") as file:
            try:
                file.write(data)
                file.flush()
            except OSError:
                path.unlink()
                raise
    except FileExistsError as error:
        raise ReaderError("console_export_exists", path=str(path)) from error
    except OSError as error:
        raise ReaderError("console_export_failed", path=str(path), reason=error.strerror or "") from error
