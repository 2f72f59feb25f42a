"""One chat, or one command at a time, writes in a data folder."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.folder import hold, make_folder
from core.errors import OperatorError

_HOLD = """
import sys
from pathlib import Path
from bot.folder import hold
with hold(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path, holder: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder until the block ends."""
    command = [sys.executable, "-c", _HOLD, str(folder), holder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_a_second_chat_and_a_writing_command_are_told_that_a_chat_is_open(tmp_path: Path) -> None:
    with held(tmp_path, "chat"):
        for holder in ("chat", "command"):
            with pytest.raises(OperatorError, match="folder_in_chat"):
                hold(tmp_path, holder).__enter__()


def test_a_command_that_only_reads_may_look_on_while_a_chat_is_open(tmp_path: Path) -> None:
    with held(tmp_path, "chat"), hold(tmp_path, "command", writes=False):
        pass


def test_a_command_waits_for_another_until_its_patience_ends(tmp_path: Path) -> None:
    with held(tmp_path, "command"), pytest.raises(OperatorError, match="folder_busy"):
        hold(tmp_path, "command", patience=0.2).__enter__()
    with hold(tmp_path, "command", patience=0):
        pass


def test_a_command_goes_on_as_soon_as_the_other_has_finished(tmp_path: Path) -> None:
    with held(tmp_path, "command") as other:
        assert other.stdin is not None
        os.kill(other.pid, signal.SIGSTOP)
        other.stdin.close()
        os.kill(other.pid, signal.SIGCONT)
        with hold(tmp_path, "command"):
            assert other.wait() == 0


def test_a_chat_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    with held(tmp_path, "chat") as other:
        other.kill()
        other.wait()
        with hold(tmp_path, "chat", patience=0):
            pass


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OperatorError, match="data_folder_unusable"):
        make_folder(tmp_path / "file" / "inside")


def test_a_new_data_folder_is_its_owners_alone(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
