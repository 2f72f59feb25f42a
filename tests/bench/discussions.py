"""Five hundred drafts of a careless model, drafted, swapped and posted: no question with a foreign, later or missing tag.

Run: python -m tests.bench.discussions [DRAFTS]
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.clubs import open_club
from tests.core.test_discussions import posted
from tests.fakes.drafts import Careless
from tests.fakes.model import ScriptedModel


async def _run(wanted: int) -> int:
    drafts = own = seed = 0
    while drafts < wanted:
        careless = Careless(seed)
        with tempfile.TemporaryDirectory() as folder:
            async with open_club(Path(folder), ScriptedModel(careless)) as club:
                own += await posted(club)
        drafts += careless.said
        seed += 1
    print(f"{drafts} drafts in {seed} discussions: {own} of the model's questions posted, none of them unproven")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_run(int(sys.argv[1]) if len(sys.argv) > 1 else 500)))
