"""Two hundred kills -9 during uploads and questions: what was acknowledged is there, each question answered once.

`python -m tests.bench.kills_asking [KILLS]`.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.promises.kills import kill_and_judge


def main(kills: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        counted = asyncio.run(kill_and_judge(Path(folder), kills))
    print("kills {kills}: {uploads} uploads and {questions} questions acknowledged, 0 lost, 0 twice".format(**counted))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
