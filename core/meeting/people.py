"""Everything said of a person so far: each place where a name stands in the permitted text, counted by chapter. No model."""

import asyncio
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from core import words
from core.errors import ReaderError
from core.meeting.means import Means
from core.meeting.outline import chapter_at, outline
from core.meeting.proven import Notes, quoted
from core.model import BookCard, Conversation, Footnote, Limit, Position, Quote, Reader, Span
from core.retrieval import Evidence, Source
from core.sentences import sentences

LONGEST_NAME = 80
_SHOWN = 300
"""Characters of a mention: a longer sentence is cut around the name."""
_APOSTROPHES = "'’‘ʼ`´"
_DASHES = "-‐‑‒–—"


@dataclass(frozen=True, slots=True)
class Group:
    """The mentions of one chapter. `chapter` is None before the first one and in books without chapters."""

    chapter: int | None
    count: int
    mention: Quote
    note: Footnote


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a name stands once: the words around it, with their note."""

    chapter: int | None
    mention: Quote
    note: Footnote


@dataclass(frozen=True, slots=True)
class Person:
    card: BookCard
    limit: Limit
    name: str
    count: int
    first: Sighting | None
    latest: Sighting | None
    groups: tuple[Group, ...]
    """One a chapter, in reading order; only those of the page asked for."""
    pages: int


class People:
    """Looks names up."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def who(
        self,
        conversation: Conversation,
        name: str,
        choice: str | None = None,
        *,
        reader: Reader | None = None,
        mine: Reader | None = None,
        page: int = 0,
        size: int = 6,
    ) -> Person:
        """Where `name` stands, up to the club's limit and the place of `mine`; of the chapters one page of `size`.

        What is shown counts as opened by the `reader`.

        A name counts as a whole word, case and accents folded; where the book has it with a capital at all, only so
        ("Will" is not "will"). Raises ReaderError for what is no name.
        """
        name = " ".join(unicodedata.normalize("NFC", name).split()).strip('"“”„«»?!.,:;')
        if not any(map(str.isalnum, name)) or len(name) > LONGEST_NAME:
            raise ReaderError("who_no_name")
        card = await self._means.card(conversation, choice)
        source = await self._means.source(conversation, card, mine)
        found = await mentions(source, name)
        contents = await self._means.store.books.contents(source.sha256, source.text_version)
        chapters = outline(contents) if contents else ()
        by_chapter: dict[int | None, list[Span]] = {}
        for at in found:
            chapter = chapter_at(chapters, at.first)
            by_chapter.setdefault(chapter.number if chapter else None, []).append(at)
        pages = max(1, -(-len(by_chapter) // size))
        page = min(max(page, 0), pages - 1)
        notes = Notes(Evidence([source]), self._means.new_id)
        if found:
            name = " ".join((await source.text(found[0])).split())  # as the book spells it
        first = latest = None
        if found and page == 0:
            first, latest = [
                Sighting(number, *await self._shown(source, at, notes))
                for at in (found[0], found[-1])
                for number in [next(number for number, spans in by_chapter.items() if at in spans)]
            ]
        groups = []
        for number, spans in list(by_chapter.items())[page * size : (page + 1) * size]:
            groups.append(Group(number, len(spans), *await self._shown(source, await self._best(source, spans), notes)))
        await self._means.count(conversation, reader, source, [note.span for note in notes.footnotes])
        await self._means.keep_notes(conversation, notes.footnotes)
        return Person(card, source.limit, name, len(found), first, latest, tuple(groups), pages)

    async def _best(self, source: Source, spans: Sequence[Span]) -> Span:
        """The mention of a chapter whose surroundings say most of the name: the run that has it most often, the longer first."""
        runs: dict[Span, list[Span]] = {}
        for span in spans:
            run = await source.run_at(span.first)
            if run is not None:
                runs.setdefault(run, []).append(span)
        return max(runs.items(), key=lambda one: (len(one[1]), min(one[0].end - one[0].start, _SHOWN)))[1][0]

    async def _shown(self, source: Source, at: Span, notes: Notes) -> tuple[Quote, Footnote]:
        run = await source.run_at(at.first)
        assert run is not None  # only such mentions are counted
        text = await source.text(run)
        mention = quoted(_around(text, at.start - run.start, at.end - run.start), notes.cite(run))
        return mention, next(note for note in notes.footnotes if note.span == run)


async def mentions(source: Source, name: str) -> list[Span]:
    """Every place of a name in the permitted runs of a book, in reading order."""
    pattern = _pattern(name)
    every: list[tuple[Span, bool]] = []
    for file in range(source.files):
        end = min(source.length(file), source.end.offset) if file == source.end.file else source.length(file)
        if Position(file, 0) >= source.end or not end:
            continue
        text = await source.readable(Span(file, 0, end))
        for start, stop in await asyncio.to_thread(_found, pattern, text):
            span = Span(file, start, stop)
            run = await source.run_at(span.first)
            if run is not None and source.permits(span):
                every.append((span, not text[start].islower()))
    capital = [span for span, has in every if has]
    return capital or [span for span, _ in every]


def _found(pattern: "re.Pattern[str]", text: str) -> list[tuple[int, int]]:
    found = []
    for match in pattern.finditer(text.translate(_plain_letters(text))):
        before = text[match.start() - 1 : match.start()] if match.start() else ""
        after = text[match.end() : match.end() + 1]
        if unicodedata.category(after or " ").startswith("M"):
            continue  # a vowel sign: the word goes on
        if words.is_cjk(match[0][:1]) or not (before.isalnum() or before == "_"):
            found.append(match.span())
    return found


def _pattern(name: str) -> "re.Pattern[str]":
    """The name as a whole word; a space in it is any white space, apostrophes and hyphens are any of their kind."""
    folded = name.translate(_plain_letters(name))
    parts = []
    for char in folded:
        if char.isspace():
            parts.append(r"\s+")
        elif char in _APOSTROPHES:
            parts.append(f"[{_APOSTROPHES}]")
        elif char in _DASHES:
            parts.append(f"[{re.escape(_DASHES)}]")
        else:
            parts.append(re.escape(char))
    # Without anything before it, so that a literal beginning is found fast; `_found` looks at what stands before.
    return re.compile("".join(parts) + ("" if any(map(words.is_cjk, name)) else r"(?!\w)"))


def _plain_letters(text: str) -> dict[int, str]:
    """For each letter of a text the same without accent and case, where that is one letter: lengths stay."""
    table = {}
    for char in set(text):
        plain = unicodedata.normalize("NFD", char)[:1] if unicodedata.category(char)[0] == "L" else char
        plain = plain.lower()
        if len(plain) == 1 and plain != char and not words.is_cjk(char):
            table[ord(char)] = plain
    return table


def _around(text: str, start: int, end: int) -> str:
    """The sentence of a run in which the name stands; of a long one the words around the name."""
    begin, stop = next(((a, b) for a, b in sentences(text) if a <= start < b), (0, len(text)))
    stop = max(stop, end)
    if stop - begin <= _SHOWN:
        return " ".join(text[begin:stop].split())
    half = (_SHOWN - (end - start)) // 2
    first = max(begin, start - half)
    last = min(stop, end + half)
    if first > begin and " " in text[first:start]:
        first += text[first:start].index(" ") + 1
    if last < stop and " " in text[end:last]:
        last = end + text[end:last].rindex(" ")
    shown = " ".join(text[first:last].split())
    return f"{'… ' if first > begin else ''}{shown}{' …' if last < stop else ''}"
