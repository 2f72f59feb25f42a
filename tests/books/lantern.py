"""*The Lantern House*: four small spine files whose runs and offsets are known by heart. Written for these tests; AGPL as the rest."""

from core.model import Span, SpineFile

RUNS: dict[Span, str] = {
    Span(0, 0, 17): "The Lantern House",
    Span(0, 17, 43): " A novel in three chapters",
    Span(1, 0, 42): "Mara kept the lighthouse log in green ink.",
    Span(1, 42, 101): " The keeper before her, Old Tobin, had vanished in a storm.",
    Span(1, 101, 131): " Nobody in Carrow spoke of it.",
    Span(2, 0, 51): "Ivo arrived on the Tuesday ferry with one suitcase.",
    Span(2, 51, 102): " He said he was a surveyor, but his boots were new.",
    Span(3, 0, 40): "The green ink in the log was not Mara’s.",
    Span(3, 40, 84): " Ivo’s suitcase held Tobin’s oilskin coat. 🧥",
    Span(3, 84, 122): " “It still smells of salt,” Mara said.",
}
FILES = tuple(
    SpineFile(index, "", "".join(text for span, text in RUNS.items() if span.file == index)) for index in range(4)
)
CHAPTERS = ("Green Ink", "The Ferry", "Tobin's Coat")
DIAL = Span(4, 0, 27)
DIAL_TEXT = "Type [f1-0-42] on the dial."
"""File 4 of case C23: book text that looks like a tag."""

EVIDENCE = {span: text for span, text in RUNS.items() if span.file > 0}
"""What is delivered unless a case says otherwise: all runs of the three chapters."""


def passages(runs: dict[Span, str]) -> list[str]:
    """Delivered runs as contiguous stretches: neighbours joined."""
    out: list[str] = []
    last: Span | None = None
    for span, text in sorted(runs.items()):
        if last is not None and (last.file, last.end) == (span.file, span.start):
            out[-1] += text
        else:
            out.append(text)
        last = span
    return out


for _span, _text in RUNS.items():
    assert FILES[_span.file].text[_span.start : _span.end] == _text, _span
assert [len(file.text) for file in FILES] == [43, 131, 102, 122]
