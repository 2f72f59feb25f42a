"""Sentences of a model that carry proven notes, told apart, put in order and numbered anew. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from core import document, tags
from core.footnotes import Settled
from core.model import (
    Cite,
    Code,
    Document,
    Emphasis,
    Footnote,
    Heading,
    Inline,
    LineBreak,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Span,
    Text,
)
from core.retrieval import Evidence
from core.sentences import sentences

Pieces = tuple[str | Span, ...]
"""Words, and in their places the runs that prove them (counted through the books of the turn)."""


def proven_sentences(settled: Settled) -> list[Pieces]:
    """The sentences of a settled draft that carry a note, in order; a note after the stop belongs to what it follows."""
    found = []
    for line in _lines(document.parse(settled.markdown)):
        bare, notes = _without_notes(line)
        ranges = sentences(bare)
        for at, (start, end) in enumerate(ranges):
            first = start if at else 0
            following = ranges[at + 1][0] if at + 1 < len(ranges) else len(bare)
            mine = [
                (place, number) for place, number in notes if (first < place <= following) or (not at and not place)
            ]
            if mine:
                found.append(_pieces(bare, start, end, mine, settled.runs))
    return found


def proven_line(settled: Settled) -> Pieces:
    """A settled draft as one line, with its notes."""
    bare, notes = _without_notes(" ".join(_lines(document.parse(settled.markdown))))
    return _pieces(bare, 0, len(bare), notes, settled.runs)


def words_of(pieces: Pieces) -> str:
    """The words alone."""
    return "".join(piece for piece in pieces if isinstance(piece, str)).strip()


def runs_of(pieces: Iterable[str | Span]) -> list[Span]:
    """The runs alone, each once."""
    return list(dict.fromkeys(piece for piece in pieces if isinstance(piece, Span)))


class Notes:
    """Numbers runs by first appearance, each with an id for its button."""

    def __init__(self, evidence: Evidence, new_id: Callable[[], str]) -> None:
        self._evidence = evidence
        self._new_id = new_id
        self._notes: dict[Span, Footnote] = {}

    @property
    def footnotes(self) -> tuple[Footnote, ...]:
        return tuple(self._notes.values())

    def cite(self, run: Span) -> Cite:
        """The note of a run of the turn."""
        if run not in self._notes:
            source, span = self._evidence.origin(run)
            number = len(self._notes) + 1
            self._notes[run] = Footnote(number, tags.tag(run), source.sha256, source.text_version, span, self._new_id())
        return Cite(self._notes[run].number)

    def inline(self, pieces: Pieces) -> tuple[Inline, ...]:
        """Words and notes as a document has them."""
        return tuple(Text(piece) if isinstance(piece, str) else self.cite(piece) for piece in pieces)


def quoted(text: str, cite: Cite) -> Quote:
    """Words of the book, word for word, with their note."""
    return Quote((Paragraph((Text(text), Text(" "), cite)),))


def _pieces(bare: str, start: int, end: int, notes: Sequence[tuple[int, int]], runs: Sequence[Span]) -> Pieces:
    parts: list[str | Span] = []
    done = start
    for place, number in notes:
        place = min(max(place, start), end)
        if place > done:
            parts.append(bare[done:place])
        if not 1 <= number <= len(runs):
            continue
        if not parts or isinstance(parts[-1], Span):
            parts.append(runs[number - 1])
        else:
            parts += [runs[number - 1]] if parts[-1].endswith(" ") else [" ", runs[number - 1]]
        done = max(done, place)
    if end > done:
        parts.append(bare[done:end])
    return tuple(parts)


def _without_notes(line: str) -> tuple[str, list[tuple[int, int]]]:
    """The line without its notes, and where each stood: (place in what is left, number)."""
    notes: list[tuple[int, int]] = []
    parts: list[str] = []
    done = length = 0
    for match in tags.NOTE.finditer(line):
        piece = line[done : match.start()]
        after = line[match.end() : match.end() + 1]
        if piece.endswith(" ") and (not after or not after.isalnum()):
            piece = piece.rstrip(" ")  # the space that stood before the note
        parts.append(piece)
        length += len(piece)
        notes.append((length, int(match[1])))
        done = match.end()
    parts.append(line[done:])
    return "".join(parts), notes


def _lines(blocks: Document) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph(children) | Heading(_, children):
                yield "".join(map(_text, children))
            case Quote(inner):
                yield from _lines(inner)
            case ListBlock(items):
                for item in items:
                    yield from _lines(item.children)
            case _:
                pass  # nobody tells a story in code or tables


def _text(node: Inline) -> str:
    match node:
        case Text(text) | Code(text):
            return text
        case Emphasis(children) | Link(children, _):
            return "".join(map(_text, children))
        case Cite(number):
            return tags.note(number)
        case LineBreak():
            return " "
