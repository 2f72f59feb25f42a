"""A discussion at the desk: the organiser's private draft, each question with its ways, posting, what is answered, the wrap-up."""

import re

from core.desk.keys import Action, Visit
from core.desk.notes import choices_of, in_rows
from core.desk.writing import heading, paragraphs, sentence
from core.errors import ReaderError
from core.meeting.discussions import Draft
from core.meeting.drafting import LONGEST
from core.model import (
    Attachment,
    Block,
    Document,
    Emphasis,
    Form,
    Letter,
    Paragraph,
    Reply,
    Text,
)
from core.strings import is_word, say, say_limit, tell

_NUMBERED = re.compile(r"(\d{1,2})\s+(.+)", re.S)


async def discuss(visit: Visit, words: str, event: str, book: str | None = None) -> Reply:
    """The draft at work, or a new one; `edit 2 WORDS` changes a question, `answer 2 WORDS` answers a posted one."""
    first, _, rest = words.partition(" ")
    discussions = visit.club.meeting.discussions
    edits = is_word(first, "discuss_word_edit")
    if edits or is_word(first, "discuss_word_answer"):
        found = _NUMBERED.fullmatch(rest.strip())
        if found is None:
            key = "discuss_edit_how" if edits else "discuss_answer_how"
            raise ReaderError(key, discuss=visit.spell("discuss"))
        number, said = int(found[1]), found[2].strip()
        if edits:
            topic = await discussions.drafted(visit.conversation, visit.reader, number)
            return await _shown(visit, await discussions.rewrite(visit.conversation, visit.reader, topic, said))
        topic = await discussions.numbered(visit.conversation, number)
        return await answered(visit, topic, said, event)
    if not words:
        draft = await discussions.mine(visit.conversation, visit.reader)
        if draft is not None and book in (None, draft.card.sha256):
            return await _shown(visit, draft)
    place = rest.strip() if is_word(first, "discuss_word_new") else words
    return await _shown(visit, await discussions.prepare(visit.conversation, visit.reader, book, place or None))


async def act(visit: Visit, action: Action) -> Reply:
    """What a button under the draft does."""
    discussions = visit.club.meeting.discussions
    topic = str(action.get("topic", ""))
    match action["how"]:
        case "keep":
            return await _shown(visit, await discussions.keep(visit.conversation, visit.reader, topic))
        case "another":
            return await _shown(visit, await discussions.another(visit.conversation, visit.reader, topic))
        case "show":
            draft = await discussions.mine(visit.conversation, visit.reader)
            if draft is None:
                raise ReaderError("unknown_button")
            return await _shown(visit, draft)
        case "edit" if "written" in action:
            written = str(action["written"])
            return await _shown(visit, await discussions.rewrite(visit.conversation, visit.reader, topic, written))
        case "edit":
            number, locale = int(action["number"]), visit.locale
            how = sentence("discuss_edit_this", locale, discuss=visit.spell("discuss"), number=number)
            title = say("discuss_edit", locale, number=number)
            words = await discussions.wording(visit.conversation, visit.reader, topic)
            return Reply(how, private=True, form=Form(title, say("discuss_edit_label", locale), words, LONGEST))
        case _:
            async with visit.club.meeting.alone(visit.conversation):
                count = await discussions.post(visit.conversation, visit.reader, str(action["discussion"]))
            return Reply(sentence("discuss_posted_now", visit.locale, count=count), private=True)


async def _shown(visit: Visit, draft: Draft) -> Reply:
    """The draft, for the organiser alone: five rows of buttons, as many as the narrowest platform has."""
    reach = say_limit(draft.limit, visit.locale)
    document: Document = (heading(say("discuss_draft", visit.locale, title=draft.card.title, reach=reach)),)
    for topic in draft.topics:
        mark = f"{say('discuss_kept_mark', visit.locale)} " if topic.kept else ""
        document += _led(f"{topic.number}. {mark}", topic.document)
    document += sentence("discuss_draft_how", visit.locale, discuss=visit.spell("discuss"))
    document += paragraphs(*(tell(notice, visit.locale) for notice in draft.notices))

    def act(how: str, topic: str, number: int) -> Action:
        return {"do": "discuss", "how": how, "topic": topic, "number": number}

    rows = []
    for how in ("keep", "another", "edit"):
        labelled = []
        for topic in draft.topics:
            key = "discuss_unkeep" if how == "keep" and topic.kept else f"discuss_{how}"
            labelled.append((say(key, visit.locale, number=topic.number), act(how, topic.id, topic.number)))
        rows.append(await visit.choices(labelled, own=True, step=how != "edit"))
    rows += in_rows(await choices_of(visit, [topic.note for topic in draft.topics]))
    posting: tuple[str, Action] = (
        say("discuss_post", visit.locale),
        {"do": "discuss", "how": "post", "discussion": draft.id},
    )
    rows.append(await visit.choices([posting], own=True))
    show: tuple[str, Action] = (say("discuss_show", visit.locale), {"do": "discuss", "how": "show"})
    before = Reply(sentence("discuss_before", visit.locale), (await visit.choices([show], own=True),))
    return Reply(document, tuple(rows), private=True, before=before)


def _led(lead: str, document: Document) -> Document:
    """The question with its number before its first word."""
    first, *rest = document
    if isinstance(first, Paragraph):
        return (Paragraph((Emphasis((Text(lead),), strong=True), *first.children)), *rest)
    return (heading(lead), *document)


async def letter(visit: Visit, letter: Letter) -> Reply | None:
    """A posted question, or the words above all of them; None when it may not be said any more."""
    discussions = visit.club.meeting.discussions
    if "topic" not in letter.params:
        about = await discussions.head(visit.conversation, str(letter.params["discussion"]))
        if about is None:
            return None
        card, limit = about
        reach = say_limit(limit, visit.locale)
        said = {"title": card.title, "reach": reach, "discuss": visit.spell("discuss")}
        return Reply(sentence("discuss_head", visit.locale, **said))
    turn = await discussions.told(visit.conversation, str(letter.params["topic"]))
    if turn is None:
        return None
    lead = f"{letter.params['number']}/{letter.params['of']} "
    notes = in_rows(await choices_of(visit, turn.answer.footnotes))
    return Reply(_led(lead, turn.answer.document), notes, turn=turn.id)


async def answered(visit: Visit, topic: str, words: str, event: str) -> Reply:
    """Somebody answered a posted question."""
    kept = await visit.club.meeting.discussions.remark(visit.conversation, visit.reader, topic, words, event)
    return Reply(sentence("discuss_noted" if kept else "discuss_not_noted", visit.locale), private=True)


async def wrap(visit: Visit) -> Reply:
    """The latest discussion here as a file: questions, what was answered, quotations with their exact sources."""
    wrapped = await visit.club.meeting.wraps.wrap(visit.conversation, visit.reader, visit.locale, visit.link_for)
    parts = [say("wrap_questions", visit.locale, count=wrapped.questions)]
    if wrapped.consent:
        parts.append(say("wrap_replies", visit.locale, count=wrapped.replies))
    parts.append(say("wrap_quotes", visit.locale, count=wrapped.quotes))
    said = ", ".join(parts)
    document: tuple[Block, ...] = paragraphs(f"{said}.")
    if not wrapped.consent:
        document += sentence("wrap_no_replies", visit.locale, setup=visit.spell("setup"))
    file = Attachment("discussion.md", wrapped.text.encode(), "text/markdown")
    return Reply(document, attachments=(file,))
