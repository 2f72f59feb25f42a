"""Two hundred turns with a real, small model, judged by P1 to P5; prints what came of them.

`python -m tests.bench.real_model [TURNS]`. Half of them are about a book given whole, half about a long one. The model is
wrong about nearly everything: what counts is that no fault is shown.
"""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from contextlib import aclosing
from pathlib import Path

from tests.fakes.local_model import local_model
from tests.parts import LOCAL_MODEL
from tests.promises.proof import RAW, quotations
from tests.promises.real_turns import Judged, questions, real_turns

TURNS = 200


async def ask(folder: Path, count: int, *, long: bool, tally: Counter[str]) -> None:
    """One book's share of the turns, with a server of its own."""
    async with (
        local_model(slots=1) as url,
        aclosing(real_turns(folder / str(long), url, questions(count, long=long), long=long)) as turns,
    ):
        async for judged in turns:
            count_turn(judged, tally)


def count_turn(judged: Judged, tally: Counter[str]) -> None:
    """Add one turn to the tally; a fault is told at once."""
    answer = judged.turn.answer
    tally.update(
        turns=1,
        requests=judged.requests,
        drafts=judged.drafts,
        notes=len(answer.footnotes),
        tags_dropped=len(answer.dropped),
        tags_written=len(RAW.findall(judged.said)),
        quotations_written=len(quotations(judged.said)),
        faults=len(judged.faults),
    )
    tally[f"outcome {answer.outcome}"] += 1
    tally.update(f"dropped: {drop.reason}" for drop in answer.dropped)
    tally.update(f"notice: {notice.key}" for notice in answer.notices)
    for fault in judged.faults:
        tally[f"fault {fault.partition(':')[0]}"] += 1
        print(f"{judged.turn.question!r}: {fault}\n    said: {judged.said!r}", flush=True)
    if tally["turns"] % 20 == 0:
        print(f"{tally['turns']} turns, {tally['notes']} notes, {tally['faults']} faults", flush=True)


async def main(turns: int) -> int:
    if not LOCAL_MODEL:
        print("part left out: no local model (requirements-ci.txt)")
        return 0
    tally: Counter[str] = Counter()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        async with asyncio.TaskGroup() as group:
            for long in (False, True):
                group.create_task(ask(Path(name), turns // 2, long=long, tally=tally))
    for key, count in tally.items():
        print(f"{key}: {count}")
    print(f"P1 to P5: {tally['faults']} faults; {time.monotonic() - began:.0f} s")
    return tally["faults"]


if __name__ == "__main__":
    sys.exit(min(1, asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else TURNS))))
