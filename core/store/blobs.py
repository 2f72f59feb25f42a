"""Originals: the files people uploaded, named by their content, in a local folder."""

from pathlib import Path


class Originals:
    """A content-addressed folder: `ab/cd/abcd….` holds the bytes whose SHA-256 is `abcd…`."""

    @classmethod
    async def open(cls, folder: Path) -> "Originals":
        """Make the folder when it is missing and sweep what killed processes left half written.

        Raises OperatorError `data_unwritable` or `disk_full`.
        """
        raise NotImplementedError

    async def put(self, path: Path) -> str:
        """Copy the file in and return its SHA-256 (hex). Once this returns, the bytes survive a crash.

        Putting the same bytes again is harmless. The source stays where it is.
        Raises OperatorError `disk_full` or `data_unwritable`; nothing half written stays.
        """
        raise NotImplementedError

    def path(self, sha256: str) -> Path:
        """Where the original lies; the file need not exist."""
        raise NotImplementedError

    async def checked(self, sha256: str) -> Path:
        """The path, after reading the file whole and comparing its hash.

        Raises Missing `original_missing`; BrokenPromise `original_damaged`.
        """
        raise NotImplementedError

    async def delete(self, sha256: str) -> bool:
        """Remove the original; False when there was none."""
        raise NotImplementedError
