"""Real processes side by side in one data folder: who is refused, who waits, who always works; backups; a folder that is read-only."""

import ctypes
import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from bot.config import read_config
from core.errors import OperatorError
from core.strings import say
from tests.books.lantern_epub import lantern_house
from tests.bot.running import PATIENCE, Ran, command, environment, loccit

QUESTION = "What did Mara keep the log in?"
_DAC_OVERRIDE, _PR_CAPBSET_DROP = 1, 24


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return lantern_house(tmp_path)


@contextmanager
def running(*words: str | Path, data: Path, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """A `loccit chat` or `run` that holds the folder until the block ends; it is killed then, as a crash would."""
    process = subprocess.Popen(
        command(*words),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(LOCCIT_DATA=str(data), **settings),
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not (
            (data / "lock").exists() and (data / "lock").read_text() == "chat" and (data / "loccit.db").exists()
        ):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


def states(data: Path, table: str) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(data / "loccit.db")) as database:
        return database.execute(f"SELECT event, state FROM {table} ORDER BY id").fetchall()


def refused(ran: Ran) -> bool:
    return ran.code == 1 and "Loccit is running on the data folder" in ran.sentence


def test_a_bot_holds_the_folder_as_a_chat_does(data: Path, tmp_path: Path) -> None:
    with running("run", data=data, LOCCIT_WEB_PORT="0"):
        assert refused(loccit("run", data=data))
        assert refused(loccit("ask", "0" * 64, QUESTION, data=data))
        assert loccit("backup", tmp_path / "saved.zip", data=data).code == 0


def test_while_a_chat_holds_the_folder_writers_are_refused_and_lookers_work(
    data: Path, book: Path, tmp_path: Path
) -> None:
    [answer] = loccit("ask", "--json", book, QUESTION, data=data).objects
    tag, id = answer["footnotes"][0]["tag"], hashlib.sha256(book.read_bytes()).hexdigest()
    with running("chat", data=data):
        assert refused(loccit("chat", data=data))
        assert refused(loccit("ask", id, QUESTION, data=data))
        assert refused(loccit("text", book, data=data))  # a file would be added
        assert refused(loccit("forget", "reader", "console:local", "--yes", data=data))
        assert refused(loccit("restore", tmp_path / "saved.zip", data=data))
        shown = loccit("passage", id, tag, data=data)
        assert shown.code == 0
        assert loccit("stats", data=data).code == 0
        doctor = loccit("doctor", data=data)
        assert (doctor.code, doctor.err) == (0, "")
        saved = loccit("backup", tmp_path / "saved.zip", data=data)
        assert (saved.code, saved.err) == (0, ""), saved.err
    # Killed, not closed: the log of the database is still there.
    again = tmp_path / "again"
    restored = loccit("restore", tmp_path / "saved.zip", data=again)
    assert (restored.code, restored.err) == (0, "")
    assert "books 1, answers 1, files 1" in restored.out
    assert loccit("passage", id, tag, data=again).out == shown.out
    over = loccit("restore", tmp_path / "saved.zip", data=again)
    assert over.code == 1
    assert "--force" in over.sentence


def test_writing_commands_wait_for_each_other(data: Path, book: Path) -> None:
    environ = environment(LOCCIT_DATA=str(data))
    together = [
        subprocess.Popen(command("ask", book, QUESTION), env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in together:
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, b"")
    assert [state for _, state in states(data, "question")] == ["done"] * 2


def test_a_command_leaves_to_the_chat_what_a_killed_chat_left(data: Path, book: Path) -> None:
    loccit("ask", book, QUESTION, data=data)
    with closing(sqlite3.connect(data / "loccit.db")) as database, database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(question)") if row[1] not in ("id", "event")]
        kept = ", ".join(name if name not in ("state", "thread") else f"'accepted' AS {name}" for name in columns)
        kept = kept.replace("'accepted' AS thread", "NULL AS thread")
        database.execute(
            f"INSERT INTO question (event, {', '.join(columns)}) SELECT 'console:left', {kept} FROM question LIMIT 1"
        )
    assert loccit("ask", book, "Who arrived?", data=data).code == 0
    assert ("console:left", "accepted") in states(data, "question")
    assert QUESTION in loccit("chat", data=data, stdin="/quit\n").out
    assert ("console:left", "done") in states(data, "question")


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder whose files can be read and nothing else."""
    entries = [folder, *folder.rglob("*")]
    modes = [entry.stat().st_mode for entry in entries]
    for entry in reversed(entries):
        entry.chmod(0o555 if entry.is_dir() else 0o444)
    try:
        yield
    finally:
        for entry, mode in zip(entries, modes, strict=True):
            entry.chmod(mode)


def _obey_permissions() -> None:
    """Root may write anywhere; without this ability it has to keep to the modes of files as others do."""
    if os.getuid() == 0:
        assert ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _DAC_OVERRIDE, 0, 0, 0) == 0


def looking(*words: str | Path, data: Path) -> Ran:
    done = subprocess.run(
        command(*words),
        capture_output=True,
        env=environment(LOCCIT_DATA=str(data)),
        preexec_fn=_obey_permissions,
        timeout=PATIENCE,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("left", ["closed", "killed", "log without its index"])
def test_lookers_work_where_nothing_can_be_written_whatever_state_it_was_left_in(
    left: str, data: Path, book: Path, tmp_path: Path
) -> None:
    assert loccit("ask", book, QUESTION, data=data).code == 0
    if left != "closed":
        with running("chat", data=data) as chat:
            assert chat.stdin is not None
            chat.stdin.write(f"{QUESTION}\n".encode())
            chat.stdin.flush()
            deadline = time.monotonic() + PATIENCE
            while [state for _, state in states(data, "question")] != ["done", "done"]:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            # Stopped first: this test's own look must not be the last to leave and fold up the log.
            chat.send_signal(signal.SIGSTOP)
        _dirty(data)
        assert (data / "loccit.db-wal").stat().st_size
        if left == "log without its index":
            (data / "loccit.db-shm").unlink()
    answers = 1 if left == "closed" else 3
    with read_only(data):
        if left == "closed":
            refusal = looking("ask", book, QUESTION, data=data)
            assert refusal.code == 1
            assert "cannot be used (Permission denied)" in refusal.sentence
        doctor = looking("doctor", data=data)
        assert (doctor.code, doctor.err) == (0, "")
        assert "SQLite" in doctor.out
        stats = looking("stats", "--json", data=data)
        assert (stats.code, stats.objects[0]["total"]["answers"]) == (0, answers)
        saved = looking("backup", tmp_path / "saved.zip", data=data)
        assert (saved.code, saved.err) == (0, "")
    assert f"answers {answers}" in loccit("restore", tmp_path / "saved.zip", data=tmp_path / "again").out


_DIRTY = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
columns = [row[1] for row in database.execute("PRAGMA table_info(turn)") if row[1] not in ("sequence", "id", "question")]
names = ", ".join(columns)
database.execute(f"INSERT INTO turn (id, {names}) SELECT 'only-in-the-log', {names} FROM turn LIMIT 1")
database.commit()
os._exit(0)
"""


def _dirty(data: Path) -> None:
    """Write one more row and die: it stands in the log alone."""
    subprocess.run([sys.executable, "-c", _DIRTY, str(data / "loccit.db")], check=True)


def test_doctor_tells_where_the_data_lies_what_waits_and_what_failed(data: Path, book: Path, tmp_path: Path) -> None:
    lines = loccit("doctor", data=data).out.splitlines()
    assert str(data) in lines[0]
    assert "GB free" in lines[0]
    assert lines[1] == "There is no database yet; it is made when it is first needed."
    assert not (data / "loccit.db").exists()
    loccit("ask", book, QUESTION, data=data)
    with closing(sqlite3.connect(data / "loccit.db")) as database, database:
        database.execute("UPDATE question SET state = 'kept'")
        database.execute("UPDATE upload SET state = 'failed'")
    ran = loccit("doctor", data=data)
    assert ran.code == 0
    assert "Database: SQLite" in ran.out
    assert "schema 0" in ran.out
    assert "Waiting: 1 question kept for the provider" in ran.out
    assert "Failed since yesterday: 1 upload" in ran.out
    with closing(sqlite3.connect(data / "loccit.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    ran = loccit("doctor", data=data)
    assert ran.code == 1
    assert "newer Loccit" in ran.out
    (data / "loccit.db").write_bytes(b"this is a letter, not a database. " * 40)
    ran = loccit("doctor", data=data)
    assert (ran.code, ran.err) == (1, "")
    assert "Traceback" not in ran.out


def test_doctor_reads_every_page_of_the_file_and_says_that_it_is_damaged(data: Path, book: Path) -> None:
    assert loccit("text", book, data=data).code == 0
    assert loccit("doctor", data=data).code == 0
    with closing(sqlite3.connect(data / "loccit.db")) as connection:
        [size] = connection.execute("PRAGMA page_size").fetchone()
        [page] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'piece'").fetchone()
    with (data / "loccit.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)
    ran = loccit("doctor", data=data)
    assert (ran.code, ran.err) == (1, "")
    assert say("database_damaged", "en") in ran.out.splitlines()


def test_an_operator_forgets_on_request_after_a_typed_yes(data: Path, book: Path) -> None:
    loccit("chat", book, data=data, stdin=f"{QUESTION}\n/place 50 %\n")
    no = loccit("forget", "reader", "console:local", data=data, stdin="perhaps\n")
    assert no.code == 1
    assert no.err.splitlines()[-1] == "Nothing was deleted."
    yes = loccit("forget", "reader", "console:local", data=data, stdin="YES\n")
    assert yes.code == 0
    assert yes.out == "Deleted for good: 1 question, 1 answer, 1 place.\n"
    sha256 = hashlib.sha256(book.read_bytes()).hexdigest()
    gone = loccit("forget", "book", sha256, "--yes", data=data)
    assert (gone.code, gone.err) == (0, "")
    assert gone.out.startswith("Deleted for good: 1 book, 1 file")
    assert not [path for path in (data / "originals").rglob("*") if path.is_file()]
    assert loccit("forget", "channel", "console:local", "--yes", data=data).code == 0
    assert "platform:id" in loccit("forget", "reader", "local", "--yes", data=data).sentence
    assert "sha256" in loccit("forget", "book", "12345678", "--yes", data=data).sentence


def test_how_long_words_are_kept_is_a_whole_number_of_days() -> None:
    for value in ("0", "-1", "ten", "1.5"):
        with pytest.raises(OperatorError, match="config_days"):
            read_config({"HOME": "/h", "LOCCIT_KEEP_QUESTIONS_DAYS": value})
    config = read_config({"HOME": "/h", "LOCCIT_KEEP_QUESTIONS_DAYS": "7", "LOCCIT_KEEP_HISTORY_DAYS": "30"})
    assert (config.keep_questions_days, config.keep_history_days) == (7, 30)
