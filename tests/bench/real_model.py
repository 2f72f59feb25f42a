"""Two hundred turns with a real, small model, judged by P1 to P5; prints what came of them.

`python -m tests.bench.real_model [TURNS]`. Half of them are about a book given whole, half about a long one. The model is
wrong about nearly everything: what counts is that no fault is shown.
"""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fakes.local_model import local_model
from tests.parts import LOCAL_MODEL
from tests.promises.proof import RAW, quotations
from tests.promises.real_turns import questions, real_turns

TURNS = 200


async def ask(folder: Path, url: str, count: int, *, long: bool, tally: Counter[str], faults: list[str]) -> None:
    """One book's share of the turns."""
    async for judged in real_turns(folder / str(long), url, questions(count, long=long), long=long):
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
        tally.update(f"fault {fault.partition(':')[0]}" for fault in judged.faults)
        if tally["turns"] % 20 == 0:
            print(f"{tally['turns']} turns, {tally['notes']} notes, {len(faults)} faults", flush=True)
        faults += [f"{judged.turn.question!r}: {fault}\n    said: {judged.said!r}" for fault in judged.faults]


async def main(turns: int) -> int:
    if not LOCAL_MODEL:
        print("part left out: no local model (requirements-ci.txt)")
        return 0
    tally: Counter[str] = Counter()
    faults: list[str] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        async with local_model() as url, asyncio.TaskGroup() as group:
            for long in (False, True):
                group.create_task(ask(Path(name), url, turns // 2, long=long, tally=tally, faults=faults))
    for key, count in tally.items():
        print(f"{key}: {count}")
    print("P1 to P5:", "no fault" if not faults else "\n".join(faults))
    print(f"{time.monotonic() - began:.0f} s")
    return len(faults)


if __name__ == "__main__":
    sys.exit(min(1, asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else TURNS))))
