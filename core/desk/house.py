"""What is said about the bot itself: help, settings, privacy, about, models, forgetting."""

from dataclasses import replace

from core import VERSION
from core.desk.keys import COMMANDS, Action, Visit
from core.desk.writing import heading, paragraphs, sentence, short
from core.errors import ReaderError
from core.model import Reply
from core.strings import LOCALES, say


async def help(visit: Visit) -> Reply:
    """One phone screen: what can be done here, with the channel's own book in the examples."""
    shelf = await visit.club.shelf(visit.conversation)
    spelled = {name: visit.spell(name) for name in COMMANDS}
    if not shelf:
        return Reply(sentence("desk_help_empty", visit.locale, **spelled))
    card = next((card for card in shelf if card.current), shelf[0])
    text = say("desk_help", visit.locale, title=short(card.title, 60), **spelled)
    return Reply(paragraphs(*text.strip().split("\n\n")))


def about(visit: Visit) -> Reply:
    """Version, licence, where the source is: whoever uses the bot may have it (AGPL)."""
    where = (
        say("desk_source", visit.locale, source=visit.source) if visit.source else say("desk_source_ask", visit.locale)
    )
    return Reply(paragraphs(say("desk_about", visit.locale, version=VERSION), where))


async def privacy(visit: Visit) -> Reply:
    """Where text lies, what goes to whom, how long, and how to have it deleted."""
    model, _ = await visit.club.questions.model(visit.conversation)
    goes = "desk_privacy_offline" if model == "offline" else "desk_privacy_model"
    forget = visit.spell("forget")
    parts = [
        say("desk_privacy", visit.locale, forget=forget),
        say(goes, visit.locale, model=model),
        say("desk_privacy_kept", visit.locale),
    ]
    return Reply(paragraphs(*parts), private=True)


async def model(visit: Visit, choice: str | None) -> Reply:
    """Which model answers here, and those to choose from; for those who manage the chat to choose."""
    if choice is not None and not visit.reader.manages:
        raise ReaderError("managers_only")
    name, offered = await visit.club.questions.model(visit.conversation, choice)
    if name == "offline":
        return Reply(sentence("console_model_offline", visit.locale))
    rows = [
        await visit.choices([(say("desk_model", visit.locale, model=short(other)), {"do": "model", "name": other})])
        for other in offered
        if other != name
    ]
    return Reply(sentence("console_model", visit.locale, model=name), tuple(rows))


async def settings(visit: Visit) -> Reply:
    """What can be set for this channel, each with buttons; for those who manage it."""
    now = await visit.club.settings(visit.conversation)
    lines = [
        heading(say("desk_settings", visit.locale)),
        *sentence("desk_settings_language", visit.locale, language=_language(now.get("locale"), visit)),
        *sentence(f"desk_settings_uploads_{now.get('uploads', 'everyone')}", visit.locale),
        *sentence(f"desk_settings_ask_first_{'on' if now.get('ask_first') else 'off'}", visit.locale),
    ]
    languages: list[tuple[str, Action]] = [
        (say("language_name", locale), {"do": "set", "key": "locale", "value": locale}) for locale in LOCALES
    ]
    languages.append((say("desk_language_own", visit.locale), {"do": "set", "key": "locale", "value": None}))
    uploads = "managers" if now.get("uploads", "everyone") == "everyone" else "everyone"
    first = not now.get("ask_first")
    who: tuple[str, Action] = (
        say(f"desk_set_uploads_{uploads}", visit.locale),
        {"do": "set", "key": "uploads", "value": uploads},
    )
    ask: tuple[str, Action] = (
        say(f"desk_set_ask_first_{'on' if first else 'off'}", visit.locale),
        {"do": "set", "key": "ask_first", "value": first},
    )
    rows = tuple([await visit.choices(labelled, step=True) for labelled in (languages, [who], [ask])])
    return Reply(tuple(lines), rows)


async def change(visit: Visit, action: Action) -> Reply:
    """Change one setting, then show them all again, in the language that was chosen."""
    now = await visit.club.change_settings(visit.conversation, visit.reader, {str(action["key"]): action["value"]})
    locale = str(now.get("locale") or "") or visit.locale
    return await settings(replace(visit, reader=replace(visit.reader, locale=locale)))


def _language(locale: object, visit: Visit) -> str:
    return say("language_name", str(locale)) if locale else say("desk_language_own", visit.locale)
