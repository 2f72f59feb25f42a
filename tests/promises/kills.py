"""Kill -9 in the midst of uploads and questions, again and again; then nothing acknowledged may be missing or double."""

import asyncio
import random
import sqlite3
from collections import Counter
from pathlib import Path

from tests import programs
from tests.bot.running import environment
from tests.clubs import ROOM, open_club

FOLDERS = 2
"""Worked on side by side; each is killed half of the times."""


async def _live(folder: Path, name: str, seed: int, kill_after: int | None, delay: float = 0.0) -> Counter[str]:
    """Run a process of `living`; kill it `delay` seconds after so many acknowledgements. What it acknowledged."""
    process = await programs.start(
        "tests.promises.living",
        *(folder, name, str(seed)),
        environment=environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    lines: list[bytes] = []
    try:
        while kill_after is None or len(lines) < kill_after:
            line = await process.stdout.readline()
            if not line:
                break
            lines.append(line)
        if kill_after is not None:
            await asyncio.sleep(delay)
    finally:
        if process.returncode is None and kill_after is not None:
            process.kill()
    rest, errors = await process.communicate()
    assert kill_after is not None or process.returncode == 0, errors.decode()
    assert b"Traceback" not in errors, errors.decode()
    lines += rest.splitlines(keepends=True)
    return Counter(line.decode().strip() for line in lines if line.endswith(b"\n"))


async def _many_lives(folder: Path, seed: int, kills: int) -> Counter[str]:
    rng = random.Random(seed)
    acknowledged: Counter[str] = Counter()
    for life in range(kills):
        # Some lives end before the resumption has ended, some in the midst of the work.
        after = rng.choice((0, 1, 1, 2, 3, 5, 8))
        delay = rng.random() * (2.0 if after == 0 else 0.1)
        acknowledged += await _live(folder, f"life{life}", seed * 100 + life, after, delay)
    acknowledged += await _live(folder, "-", 0, None)
    return acknowledged


async def kill_and_judge(place: Path, kills: int) -> Counter[str]:
    """Kill a working process so many times, then hold what it acknowledged against what is stored; the counts."""
    folders = [place / f"folder{number}" for number in range(FOLDERS)]
    for folder in folders:
        folder.mkdir()
    lives = await asyncio.gather(
        *(_many_lives(folder, seed, kills // FOLDERS) for seed, folder in enumerate(folders, 1))
    )
    uploads = questions = 0
    for folder, acknowledged in zip(folders, lives, strict=True):
        with sqlite3.connect(folder / "data" / "loccit.db") as raw:
            states = {table: dict(raw.execute(f"SELECT event, state FROM {table}")) for table in ("upload", "question")}
            answers = Counter(
                event for (event,) in raw.execute("SELECT q.event FROM turn t JOIN question q ON q.id = t.question")
            )
            turns, orphans = raw.execute(
                "SELECT count(*), sum(question IS NULL OR question NOT IN (SELECT id FROM question)) FROM turn"
            ).fetchone()
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        raw.close()
        for line in acknowledged:
            kind, event = line.split()
            if kind != "resumed":
                assert states[kind].get(event) == "done", line
        # Rows that were not acknowledged in time may be there too; they are finished all the same.
        assert set(states["upload"].values()) <= {"done"}
        assert set(states["question"].values()) <= {"done"}
        assert set(answers) == set(states["question"])
        assert set(answers.values()) <= {1}
        assert (turns, orphans or 0) == (len(answers), 0)
        uploads += sum(line.startswith("upload") for line in acknowledged)
        questions += sum(line.startswith("question") for line in acknowledged)
        async with open_club(folder / "data") as club:
            for card in await club.club.shelf(ROOM):
                book = await club.club.dump(ROOM, card.sha256)
                assert book.runs
            latest = await club.club.questions.latest(ROOM)
            assert (latest is not None) == bool(answers)
        assert not list((folder / "data" / "ranks").glob("*.new*"))
    return Counter(kills=kills // FOLDERS * FOLDERS, uploads=uploads, questions=questions)
