"""Under an answer: its footnotes as buttons, what else can be done with it; and the passage that a press shows."""

from collections.abc import Sequence
from dataclasses import replace

from core.desk.keys import Action, Visit
from core.desk.writing import heading, paragraphs, sentence, short
from core.errors import Missing
from core.model import (
    Choice,
    Contents,
    Document,
    Emphasis,
    Footnote,
    Limit,
    Paragraph,
    Passage,
    Position,
    Quote,
    Reply,
    Text,
    Turn,
)
from core.strings import say, say_limit

_STEPS = 40
"""How often a passage may be widened on each side: enough for a paragraph of 10,000 characters; the daily cap counts."""
CLOSE = "close"
MOVE = ".m"
"""Ends the id of the button that moves the reader's own place past a passage, and shows it."""
SAVE = ".q"
"""Ends the id of the button that saves the passage of a note for all: no row of the database until it is pressed."""


TO_ASK_AGAIN = frozenset({"answer_empty", "answer_broke_off"})
"""Notices of an answer whose sentence is to ask again."""


async def note_choices(visit: Visit, turn: Turn) -> tuple[Choice, ...]:
    """A button for each footnote of an answer, in order: its number, then the chapter it is from."""
    return await choices_of(visit, turn.answer.footnotes)


async def choices_of(visit: Visit, footnotes: Sequence[Footnote]) -> tuple[Choice, ...]:
    """A button for each of these footnotes."""
    contents: dict[str, Contents] = {}
    for book in {note.book for note in footnotes}:
        try:
            _, contents[book] = await visit.club.contents(visit.conversation, book)
        except Missing:
            continue  # taken off the shelf since: the number alone still answers
    return tuple(Choice(_label(note, contents.get(note.book), visit.locale), note.id, "note") for note in footnotes)


def in_rows(choices: Sequence[Choice], row: int = 5) -> tuple[tuple[Choice, ...], ...]:
    """So many buttons side by side; platforms whose rows are narrower break them again."""
    return tuple(tuple(choices[at : at + row]) for at in range(0, len(choices), row))


def _label(note: Footnote, contents: Contents | None, locale: str | None) -> str:
    at = Position(note.span.file, note.span.start)
    for chapter in contents.chapters if contents else ():
        if chapter.start <= at < chapter.end:
            return say("desk_note_chapter", locale, number=note.number, chapter=chapter.number)
    page = contents.labels[at.file] if contents and at.file < len(contents.labels) else ""
    if page and contents and contents.pages:
        return say("desk_note_page", locale, number=note.number, page=short(page, 12))
    return say("desk_note", locale, number=note.number)


async def ways_on(visit: Visit, turn: Turn) -> tuple[tuple[Choice, ...], ...]:
    """Rows of what can be done with an answer: go on, look further, set the reach, more.

    No button keeps the question's words: they stand in one place, and are gone with it when they are forgotten.
    """
    keys = {notice.key for notice in turn.answer.notices}
    labelled: list[tuple[str, Action]] = []
    if "question_kept" in keys:
        labelled.append((say("desk_try_again", visit.locale), {"do": "try", "turn": turn.id}))
    if keys & TO_ASK_AGAIN:
        labelled.append((say("desk_try_again", visit.locale), {"do": "again", "turn": turn.id, "how": "same"}))
    if turn.answer.cut:
        labelled.append((say("desk_continue", visit.locale), {"do": "continue", "turn": turn.id}))
    if turn.answer.outcome == "not_in_book":
        labelled.append((say("desk_search_words", visit.locale), {"do": "quote", "turn": turn.id}))
        labelled.append((say("desk_without", visit.locale), {"do": "without", "turn": turn.id}))
    if "reach" in keys and turn.books:
        labelled.append((say("desk_set_reach", visit.locale), {"do": "progress", "book": turn.books[0][0]}))
    labelled.append((say("desk_more", visit.locale), {"do": "more", "turn": turn.id}))
    return (await visit.choices(labelled),)


async def more(visit: Visit, action: Action) -> Reply:
    """What stands behind "⋯"."""
    turn = str(action["turn"])
    rewrite: list[tuple[str, Action]] = [
        (say(f"desk_{how}", visit.locale), {"do": "again", "turn": turn, "how": how}) for how in ("shorter", "longer")
    ]
    judge: list[tuple[str, Action]] = [
        (say("desk_wrong", visit.locale), {"do": "flag", "turn": turn}),
        (say("desk_delete", visit.locale), {"do": "delete", "turn": turn}),
    ]
    rows = (await visit.choices(rewrite, own=True), await visit.choices(judge, own=True))
    return Reply(sentence("desk_more_what", visit.locale), rows, private=True)


async def opened(visit: Visit, id: str) -> Reply:
    """The passage behind a note's button, or behind one under a passage (`note.before.after.sure`).

    Raises Missing and ReaderError as `Club.press` does.
    """
    note, before, after, sure = _steps(id)
    passage = await visit.club.passages.press(
        visit.conversation,
        note,
        reader=visit.reader,
        before=before,
        after=after,
        locale=visit.locale,
    )
    if passage.ahead is not None and not sure:
        ways = (f"{note}.0.0.1", f"{note}{MOVE}")
        return await warning(visit, passage, passage.ahead, *ways)
    if not before and not after:
        await visit.club.meeting.digests.opened(visit.conversation, passage)
    further: list[Choice] = []
    if passage.more_before and before < _STEPS:
        further.append(Choice(say("desk_before", visit.locale), f"{note}.{before + 1}.{after}.1", "step"))
    if passage.more_after and after < _STEPS:
        further.append(Choice(say("desk_after", visit.locale), f"{note}.{before}.{after + 1}.1", "step"))
    rows = [tuple(further)] if further else []
    close = Choice(say("desk_close", visit.locale), CLOSE, "close")
    save = Choice(say("quotes_save", visit.locale), f"{note}{SAVE}", "act")
    rows.append((*_picture(visit, note, passage), save, *in_the_book(visit, passage), close))
    return Reply(passage_document(passage, visit.locale), tuple(rows), private=True, passage=passage)


def in_the_book(visit: Visit, passage: Passage) -> tuple[Choice, ...]:
    """The way into the reading view, where there is one."""
    if visit.link_for is None:
        return ()
    return (Choice(say("web_open", visit.locale), visit.link_for(visit.conversation, passage, visit.reader), "link"),)


def _picture(visit: Visit, note: str, passage: Passage) -> tuple[Choice, ...]:
    if not passage.pictured:
        return ()
    return (Choice(say("desk_picture", visit.locale), f"{note}.p", "step"),)


async def pictured(visit: Visit, id: str) -> Reply:
    """The page picture behind a passage's button. Raises Missing `no_page_picture` when there is none to be had."""
    note = id.removesuffix(".p")
    pages = await visit.club.passages.picture(visit.conversation, note, reader=visit.reader)
    if not pages:
        raise Missing("no_page_picture")
    back = Choice(say("desk_back", visit.locale), f"{note}.0.0.1", "step")
    rows = ((back, Choice(say("desk_close", visit.locale), CLOSE, "close")),)
    return Reply(sentence("desk_pictured", visit.locale), rows, private=True, picture=pages[0].png)


def passage_document(passage: Passage, locale: str | None) -> Document:
    """Where it stands, then the exact text with the quoted run in bold."""
    where = " · ".join(part for part in (passage.title, passage.heading, passage.label) if part)
    read = sentence("machine_read", locale) if passage.machine_read else ()
    text = (Text(passage.before), Emphasis((Text(passage.quote),), strong=True), Text(passage.after))
    filled = tuple(part for part in text if not isinstance(part, Text) or part.text)
    return (heading(where), *read, Quote((Paragraph(filled),)))


async def warning(visit: Visit, passage: Passage, place: Limit, anyway: str, move: str) -> Reply:
    """What stands before a passage past the reader's own place, with buttons of these ids: show it, move the place too."""
    _, contents = await visit.club.contents(visit.conversation, passage.book)
    number = _chapter(contents, passage)
    where = say("who_chapter", visit.locale, number=number) if number else passage.label
    ways = (
        Choice(say("desk_show_anyway", visit.locale), anyway, "step"),
        Choice(say("desk_move_place", visit.locale), move, "step"),
        Choice(say("desk_close", visit.locale), CLOSE, "close"),
    )
    reach = say_limit(place, visit.locale)
    return Reply(sentence("desk_ahead", visit.locale, where=where, reach=reach), (ways,), private=True)


def lead(reply: Reply, locale: str | None) -> Document:
    """What a reply says before the passage it shows, for a platform that draws passages itself."""
    passage = passage_document(reply.passage, locale) if reply.passage else ()
    return reply.document[: len(reply.document) - len(passage)]


async def moved(visit: Visit, id: str) -> Reply:
    """Move the reader's own place to where the passage of a note has been read, and show it."""
    note = id.removesuffix(MOVE)
    passage = await visit.club.passages.press(visit.conversation, note, reader=visit.reader)
    said = await moved_past(visit, passage)
    shown = await opened(visit, f"{note}.0.0.1")
    return replace(shown, document=said + shown.document)


async def moved_past(visit: Visit, passage: Passage) -> Document:
    """Move the reader's own place past a passage, and say so."""
    _, contents = await visit.club.contents(visit.conversation, passage.book)
    words = _read_to(contents, passage)
    _, limit = await visit.club.place(visit.conversation, visit.reader, passage.book, words)
    return sentence("desk_place_moved", visit.locale, reach=say_limit(limit, visit.locale))


def _read_to(contents: Contents, passage: Passage) -> str:
    """A place by which the passage has been read: the end of its chapter, else so many percent of the book."""
    if number := _chapter(contents, passage):
        return f"finished {number}"
    before = sum(contents.lengths[: passage.span.file]) + passage.span.end
    percent = -(-100 * before // max(1, sum(contents.lengths)))
    return f"{percent} %" if percent < 100 else "all"


def _chapter(contents: Contents, passage: Passage) -> int | None:
    """The number of the chapter that a passage ends in; its title may be a spoiler."""
    last = passage.span.last
    return next((chapter.number for chapter in contents.chapters if chapter.start < last <= chapter.end), None)


def is_note(id: str) -> bool:
    """True for the id of a passage's own buttons: the desk reads them without asking what they do."""
    return "." in id


def _steps(id: str) -> tuple[str, int, int, bool]:
    """A passage button's id taken apart. Raises Missing `unknown_note` for one we never made."""
    if "." not in id:
        return id, 0, 0, False
    note, *rest = id.split(".")
    if len(rest) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 3 for part in rest):
        raise Missing("unknown_note")
    before, after, sure = (int(part) for part in rest)
    if before > _STEPS or after > _STEPS or sure > 1:
        raise Missing("unknown_note")
    return note, before, after, bool(sure)


async def alone(visit: Visit, action: Action) -> Reply | None:
    """What others may see in the place of what is this reader's alone, with a button that shows it to them; None: nobody is here."""
    if visit.private:
        return None
    show = await visit.choices([(say("desk_alone_show", visit.locale), action)], own=True)
    return Reply(sentence("desk_alone", visit.locale), (show,))


def said(text: str) -> Reply:
    """Plain words for the one who pressed."""
    return Reply(paragraphs(text), private=True)
