"""Ten thousand adversarial outputs, streamed and judged; prints what was tried and every kind of fault.

`python -m tests.bench.adversary [count] [first]`.

Used so far: 0 to 9,999 and 100,000 to 100,399 while settling was written; 10,000 each from 2, 3 and 4 million as first looks.
"""

import sys
from collections import Counter

from tests.promises.adversary import cases, judge


def main(count: int, first: int) -> int:
    tried: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for case in cases(count, first):
        verdict = judge(case)
        tried.update(
            outputs=1,
            cut_off=case.reason != "stop",
            pieces=len(case.pieces),
            true_tags=len(case.true_tags),
            forged_tags=len(case.forged),
            true_quotations=len(case.true_quotes),
            altered_quotations=len(case.false_quotes),
        )
        for kind in verdict.__dataclass_fields__:
            faults[kind] += len(getattr(verdict, kind))
            for fault in getattr(verdict, kind)[:1]:
                print(f"{kind}: {fault}\n  {case.draft!r}", file=sys.stderr)
    print("tried: ", ", ".join(f"{name} {number}" for name, number in tried.items()))
    print("faults:", ", ".join(f"{name} {number}" for name, number in faults.items()))
    return 1 if sum(faults.values()) else 0


if __name__ == "__main__":
    count, first = [*map(int, sys.argv[1:]), 10_000, 0][:2] if len(sys.argv) != 2 else (int(sys.argv[1]), 0)
    sys.exit(main(count, first))
