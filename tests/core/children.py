"""The boxed children of this process, as the system sees them."""

import os
from pathlib import Path


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def children() -> list[int]:
    """Processes started by this one that run the inside of the box."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_bytes()
            except (OSError, ValueError, IndexError):
                continue
            if parent == os.getpid() and b"core.formats.child" in command:
                found.append(int(entry.name))
    return found
