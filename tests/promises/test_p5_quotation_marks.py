"""P5: quotation marks mean quotation. True ones keep their marks, altered ones lose them, in every style and any stream."""

import pytest

from core.document import parse, plain
from core.footnotes import settle
from tests.books.lantern import EVIDENCE
from tests.promises.adversary import PASSAGES, cases, judge

COUNT = 400
STYLES = [
    "“%s”",
    '"%s"',
    "«%s»",
    "« %s »",
    "„%s“",
    "„%s”",
    "‘%s’",
    "‚%s‘",
    "「%s」",
    "『%s』",
    "‹%s›",
    "'%s'",
    "»%s«",
    "”%s”",
]


def test_in_four_hundred_adversarial_outputs_every_true_quotation_keeps_its_marks_and_no_altered_one_does() -> None:
    true = false = 0
    for case in cases(COUNT, first=100_000):
        verdict = judge(case)
        assert not verdict.quotes_lost, case.draft
        assert not verdict.quotes_kept, case.draft
        true += len(case.true_quotes)
        false += len(case.false_quotes)
    assert min(true, false) > COUNT / 4


# What somebody says in the book is quoted without the words around it.
SENTENCES = [text.strip(" 🧥") for text in EVIDENCE.values() if "“" not in text] + ["It still smells of salt,"]


@pytest.mark.parametrize("style", STYLES)
def test_every_sentence_of_the_evidence_may_be_quoted_in_every_style(style: str) -> None:
    for words in SENTENCES:
        quoted = style % words
        shown = plain(parse(settle(f"It says {quoted} there.", EVIDENCE, PASSAGES).markdown))
        assert shown == f"It says {quoted} there."


@pytest.mark.parametrize("style", STYLES)
def test_one_changed_word_in_any_sentence_costs_the_marks_in_every_style(style: str) -> None:
    for sentence in SENTENCES:
        words = sentence.split()
        for at in range(len(words)):
            changed = " ".join([*words[:at], "crimson", *words[at + 1 :]])
            shown = plain(parse(settle(f"It says {style % changed} there.", EVIDENCE, PASSAGES).markdown))
            assert shown == f"It says {changed} there."


@pytest.mark.parametrize("style", STYLES)
def test_a_false_quotation_that_ends_in_an_s_takes_no_marks_from_the_true_one_behind_it(style: str) -> None:
    """In single marks an s before the end looks like a plural possessive; a mark that is no apostrophe is none."""
    false, true = style % "the log was not Tobin’s", style % "lighthouse log"
    shown = plain(parse(settle(f"It says {false} and {true} there.", EVIDENCE, PASSAGES).markdown))
    if style in ("‘%s’", "'%s'"):  # an apostrophe and the end are one character: which of them it is, words decide
        assert "lighthouse log" in shown
    else:
        assert shown == f"It says the log was not Tobin’s and {true} there."
