"""P2: whatever the model writes, a footnote is a run that was delivered in this turn; nothing raw shows, nothing true is lost."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from core.footnotes import settle
from core.model import Span
from core.tags import tag
from tests.books.lantern import EVIDENCE
from tests.promises.adversary import FORGERIES, PASSAGES, cases, judge

COUNT = 400


def test_four_hundred_adversarial_outputs_give_no_false_note_no_raw_tag_and_no_debris_and_lose_nothing() -> None:
    faults: Counter[str] = Counter()
    first: dict[str, str] = {}
    true_tags = forged = cut = 0
    for case in cases(COUNT):
        verdict = judge(case)
        true_tags += len(case.true_tags)
        forged += len(case.forged)
        cut += case.reason != "stop"
        for kind in ("false_notes", "raw_tags", "lost", "debris", "retracted"):
            for fault in getattr(verdict, kind):
                faults[kind] += 1
                first.setdefault(kind, f"{fault} in {case.draft!r}")
    assert not faults, first
    assert min(true_tags, forged) > COUNT
    assert cut > COUNT / 10


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__.strip("_"))
def test_each_kind_of_forgery_is_dropped_and_counted(forge: Callable[[random.Random], str]) -> None:
    for seed in range(50):
        forged = forge(random.Random(seed))
        settled = settle(f"Ink {forged}.", EVIDENCE, PASSAGES)
        assert settled.markdown == "Ink.", forged
        assert settled.runs == ()
        assert settled.dropped, forged


def test_the_judge_sees_a_false_note_a_raw_tag_and_a_lost_one() -> None:
    """The generator is only worth something if a dishonest settling would be caught."""
    case = next(case for case in cases(100) if case.true_tags and case.forged and case.reason == "stop")
    assert not judge(case).faults
    case.true_tags.append((0, Span(3, 84, 122)))
    case.true_tags = [(end, span) for end, span in case.true_tags if span != case.true_tags[0][1]]
    assert judge(case).faults


def test_a_run_that_was_not_delivered_in_this_turn_is_no_note_however_well_it_is_spelled() -> None:
    for span in EVIDENCE:
        rest = {other: text for other, text in EVIDENCE.items() if other != span}
        settled = settle(f"Ink {tag(span)}.", rest, ())
        assert (settled.markdown, settled.runs) == ("Ink.", ())
        assert settled.counts == {"not_in_evidence": 1}
