"""Setting up at the desk: the first hello, and a checklist with a button for what can be changed; the weekly digest."""

from core.desk.keys import Action, Visit
from core.desk.notes import choices_of, in_rows
from core.desk.writing import heading, paragraphs, sentence, short
from core.meeting.digests import DIGEST
from core.meeting.discussions import REPLIES
from core.meeting.wall import DAILY
from core.model import Block, Check, Letter, ListBlock, Reply
from core.model import Item as ListItem
from core.strings import say, say_limit, tell

_SWITCHES = ("ask_first", REPLIES, DIGEST)


def hello(visit: Visit, letter: Letter) -> Reply:
    """One line in a new server or group, and what the platform adds to it."""
    spelled = {name: visit.spell(name) for name in ("add", "help", "setup")}
    more = str(letter.params.get("more") or "")
    return Reply((*sentence("hello", visit.locale, **spelled), *(sentence(more, visit.locale) if more else ())))


async def setup(visit: Visit) -> Reply:
    """What is on, what is missing and how to mend it."""
    state = await visit.club.meeting.arriving.look(visit.conversation, visit.reader)
    settings = await visit.club.settings(visit.conversation)
    locale = visit.locale
    checks = [] if visit.checks is None else list(await visit.checks(visit.conversation, locale))
    if state.model is None:
        checks.append(Check(True, say("setup_model_none", locale)))
    elif state.failure is not None:
        checks.append(Check(False, tell(state.failure, locale)))
    else:
        answers = say("setup_model", locale, model=short(state.model), milliseconds=state.milliseconds)
        checks.append(Check(True, answers))
    if state.writable is None:
        checks.append(Check(True, say("setup_storage", locale)))
    else:
        checks.append(Check(False, tell(state.writable, locale)))
    if state.card is None:
        checks.append(Check(False, say("setup_no_book", locale, add=visit.spell("add"))))
    else:
        checks.append(Check(True, say("setup_books", locale, count=state.books, title=short(state.card.title, 60))))
        if state.card.limit_words is None:
            checks.append(Check(False, say("setup_no_place", locale, progress=visit.spell("progress"))))
        else:
            _, limit = await visit.club.progress(visit.conversation, visit.reader, state.card.sha256)
            checks.append(Check(True, say("setup_place", locale, reach=say_limit(limit, locale))))
    lines = [f"{say('setup_ok' if check.ok else 'setup_missing', locale)} {check.text}" for check in checks]
    language = (
        say("language_name", str(settings["locale"])) if settings.get("locale") else say("desk_language_own", locale)
    )
    lines += [
        say("desk_settings_language", locale, language=language),
        say(f"desk_settings_uploads_{settings.get('uploads', 'everyone')}", locale),
        say(f"desk_settings_ask_first_{_on(settings.get('ask_first'))}", locale),
        say(f"setup_replies_{_on(settings.get(REPLIES))}", locale),
        say(f"setup_digest_{_on(settings.get(DIGEST))}", locale),
        say(f"setup_daily_{_on(settings.get(DAILY) is not None)}", locale, quotes=visit.spell("quotes")),
        say("setup_zone", locale, zone=await _zone(visit), schedule=visit.spell("schedule")),
    ]
    items = tuple(ListItem(paragraphs(line)) for line in lines)
    document: tuple[Block, ...] = (heading(say("setup_title", locale)), ListBlock(items))
    again: tuple[str, Action] = (say("setup_again", locale), {"do": "setup"})
    more: tuple[str, Action] = (say("setup_settings", locale), {"do": "settings"})
    rows = [await visit.choices([again, more], own=True, step=True)]
    for key in _SWITCHES:
        now = bool(settings.get(key))
        label = f"desk_set_ask_first_{_on(not now)}" if key == "ask_first" else f"setup_set_{key}_{_on(not now)}"
        action: Action = {"do": "setup", "key": key, "value": not now}
        rows.append(await visit.choices([(say(label, locale), action)], own=True, step=True))
    return Reply(document, tuple(rows), private=True)


async def switch(visit: Visit, action: Action) -> None:
    """Change one thing of the checklist."""
    key, value = str(action["key"]), bool(action["value"])
    if key == DIGEST:
        await visit.club.meeting.digests.set(visit.conversation, visit.reader, value)
    elif key == REPLIES:
        await visit.club.meeting.discussions.agree(visit.conversation, visit.reader, value)
    else:
        await visit.club.change_settings(visit.conversation, visit.reader, {key: value})


async def digest(visit: Visit, letter: Letter) -> Reply | None:
    """The week in a few lines."""
    found = await visit.club.meeting.digests.of_week(letter)
    if found is None:
        return None
    locale = visit.locale
    blocks: list[Block] = [heading(say("digest_title", locale))]
    if found.card is not None and found.limit is not None:
        blocks += sentence("digest_place", locale, title=found.card.title, reach=say_limit(found.limit, locale))
    for limit, count in found.places:
        blocks += sentence("digest_readers", locale, count=count, reach=say_limit(limit, locale))
    for one in found.opened:
        blocks += [*sentence("digest_opened", locale, count=one.presses), one.mention]
    if found.questions:
        blocks += sentence("digest_open", locale)
        blocks.append(ListBlock(tuple(ListItem(paragraphs(question)) for question in found.questions)))
    return Reply(tuple(blocks), in_rows(await choices_of(visit, [one.note for one in found.opened])))


async def _zone(visit: Visit) -> str:
    return await visit.club.meeting.schedule.zone(visit.conversation)


def _on(value: object) -> str:
    return "on" if value else "off"
