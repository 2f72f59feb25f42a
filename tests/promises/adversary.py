"""Model outputs that try to break P2 and P5: forged tags of fifteen kinds, true tags in odd spellings, quotations true and
altered, cut into random pieces and sometimes cut off. Seeded; each case knows what an honest settling must show.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from core.document import parse, plain
from core.footnotes import Settled, Settler
from core.model import Span
from core.tags import NOTE
from tests.books.lantern import EVIDENCE, RUNS, passages

PASSAGES = passages(EVIDENCE)
_WORDS = [
    "the",
    "keeper",
    "said",
    "that",
    "nobody",
    "had",
    "seen",
    "her",
    "coat",
    "since",
    "spring",
    "and",
    "so",
    "they",
    "waited",
    "at",
    "the",
    "door",
    "again",
]
_DASHES = ["-", "–", "—", "−", "‐", "﹣", "－"]
_MARKS = [
    ("“", "”"), ('"', '"'), ("«", "»"), ("« ", " »"), ("„", "“"), ("„", "”"), ("‘", "’"), ("‚", "‘"), ("「", "」"), ("『", "』"),
    ("‹", "›"), ("'", "'"), ("»", "«"),
]  # fmt: skip
_Random = random.Random


@dataclass
class Case:
    """A draft in pieces and what must come of it. Ends are offsets in the draft: a cut before one voids the demand."""

    draft: str
    pieces: list[str] = field(default_factory=list)
    reason: str = "stop"
    true_tags: list[tuple[int, Span]] = field(default_factory=list)
    forged: list[tuple[int, str]] = field(default_factory=list)
    true_quotes: list[tuple[int, str]] = field(default_factory=list)
    false_quotes: list[tuple[int, str, str]] = field(default_factory=list)

    def holds(self, end: int) -> bool:
        """True when what ends there was certainly complete; a number just before a cut may have lost digits."""
        return end < len(self.draft) or (end == len(self.draft) and self.reason == "stop")


def _body(span: tuple[int, int, int]) -> str:
    return f"f{span[0]}-{span[1]}-{span[2]}"


def _any(rng: _Random) -> Span:
    return rng.choice(list(EVIDENCE))


def _shift(rng: _Random) -> int:
    return rng.choice([-3, -2, -1, 1, 2, 3, 10, 100])


def _wrong_end(rng: _Random) -> str:
    span = _any(rng)
    return f"[{_body((span.file, span.start, max(1, span.end + _shift(rng))))}]"


def _wrong_start(rng: _Random) -> str:
    span = _any(rng)
    return f"[{_body((span.file, span.start + abs(_shift(rng)), span.end))}]"


def _wrong_file(rng: _Random) -> str:
    span = _any(rng)
    return f"[{_body((span.file + rng.choice([10, 20, 100]), span.start, span.end))}]"


def _union(rng: _Random) -> str:
    return rng.choice(["[f1-0-101]", "[f1-42-131]", "[f2-0-102]", "[f3-0-122]"])


def _two_parts(rng: _Random) -> str:
    span = _any(rng)
    return f"[f{span.file}-{span.end}]"


def _one_part(rng: _Random) -> str:
    return f"[f{_any(rng).file}]"


def _four_parts(rng: _Random) -> str:
    return f"[{_body(_any(rng))}-{rng.randint(1, 99)}]"


def _sentence_inside(rng: _Random) -> str:
    return f"[{_body(_any(rng))}{rng.choice(['? but we can skip it', ' or so', ', which is the one', ': see there'])}]"


def _swapped(rng: _Random) -> str:
    span = _any(rng)
    return f"[{_body((span.file, span.end, span.start))}]"


def _not_delivered(rng: _Random) -> str:
    return f"[{_body(rng.choice([span for span in RUNS if span not in EVIDENCE]))}]"


def _leading_zero(rng: _Random) -> str:
    span = _any(rng)
    return f"[f{span.file}-{span.start}-0{span.end}]"


def _letters(rng: _Random) -> str:
    span = _any(rng)
    return f"[f{span.file}-{rng.choice(['start', 'x', '?', ''])}-{span.end}]"


def _bare_wrong(rng: _Random) -> str:
    span = _any(rng)
    return f"[{span.file}-{span.start}-{span.end + abs(_shift(rng))}]"


def _without_brackets(rng: _Random) -> str:
    span = _any(rng)
    text = _body((span.file, span.start, span.end + abs(_shift(rng))))
    return rng.choice([text, f"({text})"])


def _group_of_wrong(rng: _Random) -> str:
    return f"[{_wrong_end(rng)[1:-1]}{rng.choice([', ', '; ', ' ', ',', ' and '])}{_wrong_start(rng)[1:-1]}]"


FORGERIES: tuple[Callable[[_Random], str], ...] = (
    _wrong_end, _wrong_start, _wrong_file, _union, _two_parts, _one_part, _four_parts, _sentence_inside, _swapped,
    _not_delivered, _leading_zero, _letters, _bare_wrong, _without_brackets, _group_of_wrong,
)  # fmt: skip
"""The fifteen kinds."""


def _respelled(rng: _Random, tag: str) -> str:
    """The same numbers in another spelling."""
    dash = rng.choice(_DASHES)
    for change in rng.sample(range(9), rng.randint(0, 3)):
        match change:
            case 0:
                tag = tag.replace("-", dash)
            case 1:
                tag = tag.replace("-", " - ") if tag.startswith("[") else tag
            case 2:
                tag = tag.replace("[f", "[f_").replace("[F", "[F_")
            case 3:
                tag = tag.replace("f", "F", 1) if tag.startswith("[f") else tag
            case 4:
                tag = tag.replace("[", "［").replace("]", "］")
            case 5:
                tag = re.sub(r"(?<=\d)(?=\D)", "\u200b", tag, count=1)
            case 8:  # what a small real model wrote
                tag = re.sub(r"(?<=[fF])(?=\d)", rng.choice("-:#.=/"), tag)
            case 6:
                tag = tag.replace("[", "\\[").replace("]", "\\]")
            case _:
                tag = re.sub(r"\d", lambda digit: chr(0xFF10 + int(digit[0])), tag, count=2)
    return tag


def _true_tag(rng: _Random) -> tuple[str, list[Span]]:
    first = _any(rng)
    kind = rng.randrange(6)
    if kind == 0:
        second = _any(rng)
        return f"[{_body(first)}{rng.choice([', ', '; ', ' '])}{_body(second)}]", [first, second]
    if kind == 1:
        return f"[{first.file}-{first.start}-{first.end}]", [first]
    if kind == 2:
        return rng.choice([_body(first), f"({_body(first)})"]), [first]
    return _respelled(rng, f"[{_body(first)}]"), [first]


def _claim(rng: _Random) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(2, 7)))


def _stretch(rng: _Random) -> str:
    """Some whole words of the evidence."""
    while True:
        words = rng.choice(PASSAGES).split()
        begin = rng.randrange(len(words))
        text = " ".join(words[begin : begin + rng.randint(1, 9)]).rstrip(".,")
        if not set(text) & set("“”🧥") and any(char.isalpha() for char in text):
            return text


def _altered(rng: _Random) -> str:
    """A stretch with one word changed, added or left out, and surely not in the evidence."""
    while True:
        words = _stretch(rng).split()
        at = rng.randrange(len(words))
        match rng.randrange(3):
            case 0:
                words[at] = rng.choice(["crimson", "harbour", "seven", "never"])
            case 1:
                words.insert(at, rng.choice(["not", "hardly", "old-fashioned"]))
            case _:
                del words[at]
        text = " ".join(words).strip(".,’'")
        if text and not any(re.search(rf"\b{re.escape(text)}\b", passage, re.IGNORECASE) for passage in PASSAGES):
            return text


_FRAMES = [
    "{a} {t}.", "{a} ({t}).", "{a}, {t}, and {b}.", "{a} {t}{u}.", "{a} ({t}, {u}).", "{a} ({u}; {t}) {b}.", "{t} {a}.",
    "**{a}** {t}.", "**{a} {t}**.", "*{a} {t}* {b}.", "{a}; {t}.", "{a} {t} {u} {b}.", "{a} [{b} {t}](https://example.invalid/x).",
    "{a} {t} – {b}.", "({a} {t})", "{a}: {t}.", "{a}{t}{u}", "{a} {t}, {u}.", "{a} {t} and {u}.", "{a} `{t}` {b}.", "{a} **{t}** {b}.",
]  # fmt: skip
_LINES = [
    "{s}",
    "{s}",
    "{s}",
    "- {s}",
    "1. {s}",
    "> {s}",
    "## {s}",
    "| {s} | x |\n|---|---|\n| {a} {t} | {b} |",
    "- {t}",
    "```\n{a} {t}\n```",
]
_DECOYS = [
    "They won [3-2].",
    "See a[1-2] there.",
    "On [2024-01-15] it rained.",
    "It was 5'10\" tall.",
    "The keepers' log, Mara's.",
    "Well [sic].",
]


def make(seed: int) -> Case:
    """The case with this number; equal for equal seeds."""
    rng = random.Random(seed)
    case = Case("")
    text = ""

    def tag(frame_end: list[Callable[[int], None]]) -> str:
        if rng.random() < 0.5:
            forged = rng.choice(FORGERIES)(rng)
            if rng.random() < 0.4:
                forged = _respelled(rng, forged)
            frame_end.append(lambda end, raw=forged: case.forged.append((end, raw)))  # type: ignore[misc]  # a default binds now
            return forged
        true, runs = _true_tag(rng)
        frame_end.append(lambda end, found=runs: case.true_tags.extend((end, run) for run in found))  # type: ignore[misc]  # as above
        return true

    for _ in range(rng.randint(2, 6)):
        ends: list[Callable[[int], None]] = []
        roll = rng.random()
        if roll < 0.4:
            opening, closing = rng.choice(_MARKS)
            if rng.random() < 0.5:
                quote = f"{opening}{_stretch(rng)}{closing}"
                ends.append(lambda end, shown=quote: case.true_quotes.append((end, shown)))  # type: ignore[misc]  # as above
            else:
                words = _altered(rng)
                quote = f"{opening}{words}{closing}"
                ends.append(lambda end, shown=quote, bare=words: case.false_quotes.append((end, shown, bare)))  # type: ignore[misc]  # as above
            line = f"{_claim(rng)} {quote} {_claim(rng)} {tag(ends)}."
        elif roll < 0.5:
            line = rng.choice(_DECOYS)
        else:
            line = rng.choice(_LINES).replace("{s}", rng.choice(_FRAMES))
            while match := re.search(r"\{([abtu])\}", line):
                line = line[: match.start()] + (_claim(rng) if match[1] in "ab" else tag(ends)) + line[match.end() :]
        if line[0] in "-1>#|`":  # blocks begin on a line of their own
            text = text.rstrip() + "\n\n" if text else ""
        text += line
        for note_end in ends:
            note_end(len(text))
        text += "\n\n" if "\n" in line or line[0] in "-1>#|`" or rng.random() < 0.4 else " "
        if text.endswith(" ") and rng.random() < 0.5:
            text = text[:-1] + "\n\n"
    case.draft = text.rstrip()
    if rng.random() < 0.25:
        case.draft = case.draft[: rng.randrange(1, len(case.draft))]
        case.reason = rng.choice(["length", "", "content_filter"])
    at = 0
    while at < len(case.draft):
        size = rng.choice([1, 1, 2, 3, 4, 5, 9, 40])
        case.pieces.append(case.draft[at : at + size])
        at += size
    return case


_RAW = re.compile(
    r"(?<![A-Za-z0-9])[fF][\s_*\\\u200b]*\d+[\s_*\\\u200b]*[-–—−‐﹣－][\s_*\\\u200b]*\d|[\[［]\s*[fF][_\s]*[\d-]"
    r"|[\[［]\s*(?!2024)\d+\W{1,3}\d+\W{1,3}\d+"
)
_PIECE = re.compile(r"[\[［\\(]\s*[fF]?[\s_]*\d*[-–—−‐﹣－\d\s]*\Z|(?<![A-Za-z])[fF][_\d][-\d]*\Z")
_DEBRIS = re.compile(
    r"\(\s*[,;]?\s*\)|\[\s*\]|\S  +\S| [.,;](?:\s|\Z)|,\s*[,.;]|[(\[]\s*[,;]|[,;]\s*[)\]]|\*\*\s*\*\*|``|“”|«\s*»|\.\."
)


@dataclass(frozen=True)
class Verdict:
    """What went wrong, by promise; all empty when the settling was honest."""

    false_notes: list[str]
    raw_tags: list[str]
    lost: list[str]
    debris: list[str]
    retracted: list[str]
    quotes_lost: list[str]
    quotes_kept: list[str]

    @property
    def faults(self) -> list[str]:
        return [fault for kind in self.__dataclass_fields__ for fault in getattr(self, kind)]


def judge(case: Case) -> Verdict:
    """Stream the case through a settler and look at every edit a reader would have seen."""
    verdict = Verdict([], [], [], [], [], [], [])
    settler = Settler(EVIDENCE, PASSAGES)
    seen = ""
    for piece in case.pieces:
        settler.feed(piece)
        visible = settler.markdown
        if not visible.startswith(seen):
            verdict.retracted.append(visible)
        seen = visible
        if _PIECE.search(visible[-80:]):
            verdict.raw_tags.append(visible[-80:])
    settled = settler.finish(case.reason)
    if not settled.markdown.startswith(seen.rstrip()):
        verdict.retracted.append(settled.markdown)
    _judge_notes(case, settled, verdict)
    shown = plain(parse(settled.markdown))
    bare = plain(parse(re.sub(f" ?{NOTE.pattern}", "", settled.markdown)))
    if raw := _RAW.search(bare):
        verdict.raw_tags.append(raw[0])
    if debris := _DEBRIS.search(shown):
        verdict.debris.append(f"{debris[0]!r} in {shown!r}")
    for end, quote in case.true_quotes:
        if case.holds(end) and quote not in bare:
            verdict.quotes_lost.append(quote)
    for end, quote, words in case.false_quotes:
        if quote in bare or (case.holds(end) and words not in bare):
            verdict.quotes_kept.append(quote)
    return verdict


def _judge_notes(case: Case, settled: Settled, verdict: Verdict) -> None:
    wanted = list(dict.fromkeys(run for end, run in case.true_tags if case.holds(end)))
    possible = {run for _, run in case.true_tags}
    verdict.false_notes.extend(str(run) for run in settled.runs if run not in possible or run not in EVIDENCE)
    verdict.lost.extend(str(run) for run in wanted if run not in settled.runs)
    if [run for run in settled.runs if run in wanted] != wanted:
        verdict.lost.append(f"order {settled.runs}")
    numbers = [int(number) for number in re.findall("\ufdd0([0-9]+)", settled.markdown)]
    if list(dict.fromkeys(numbers)) != list(range(1, len(settled.runs) + 1)):
        verdict.false_notes.append(f"numbers {numbers} for {len(settled.runs)} runs")


def cases(count: int, first: int = 0) -> Iterator[Case]:
    for seed in range(first, first + count):
        yield make(seed)
