"""A file that somebody sent without a word to us: asked about once, by its name; nothing is fetched before a yes."""

import hashlib
from collections.abc import Mapping
from typing import Any

from core.desk.keys import Action, Visit
from core.desk.writing import heading, sentence, short
from core.errors import Missing, ReaderError
from core.model import Arrival, Reply
from core.strings import say

_ENDINGS = (".epub", ".pdf", ".mobi", ".azw", ".azw3", ".fb2", ".fb2.zip")
"""Kinds of files that are more often books than not. Notes, lists and drafts come as text or DOCX: those wait for a word."""
_MEDIA = ("application/epub+zip", "application/pdf", "application/x-mobipocket-ebook", "application/x-fictionbook")
_NEVER = ("image/", "audio/", "video/")
_NAME = 100
"""Characters of a file's name that are shown."""


def may_be_book(name: str, media: str = "") -> bool:
    """Whether a file is worth the question, by its name and the media type that the platform claims ("": it claims none)."""
    media = media.lower()
    return not media.startswith(_NEVER) and (name.lower().endswith(_ENDINGS) or media.startswith(_MEDIA))


async def seen(visit: Visit, name: str, size: int, file: Mapping[str, Any], event: str) -> Reply | None:
    """The question whether the club reads this; None when it was asked before, or the sender may not add books here."""
    try:
        await visit.club.editions.admit(visit.conversation, visit.reader)
    except ReaderError:
        return None  # nobody asked: no refusal either
    memo = _memo(visit, name, size)
    before = await visit.club.post.recall(visit.conversation.platform, memo)
    if before is not None and before != {"event": event}:
        return None
    await visit.club.post.remember(visit.conversation.platform, memo, {"event": event})
    said: Action = {"do": "seen", "memo": memo, "event": event, "file": dict(file), "by": visit.reader.id}
    row = await visit.choices(
        [
            (say("desk_seen_yes", visit.locale), {**said, "wanted": True}),
            (say("desk_seen_no", visit.locale), {**said, "wanted": False}),
        ]
    )
    return Reply((heading(short(name, _NAME)), *sentence("desk_seen", visit.locale)), (row,))


async def answered(visit: Visit, action: Action) -> Reply:
    """Yes or no, by who sent the file or manages the chat; the first of the two holds."""
    if not visit.reader.manages and visit.reader.id != action["by"]:
        raise ReaderError("desk_seen_not_yours")
    post, platform, memo = visit.club.post, visit.conversation.platform, str(action["memo"])
    event, wanted = str(action["event"]), bool(action["wanted"])
    if wanted:
        await visit.club.editions.admit(visit.conversation, visit.reader)
    before = await post.recall(platform, memo)
    if before not in (None, {"event": event}, {"event": event, "wanted": wanted}):
        raise Missing("unknown_button")
    await post.remember(platform, memo, {"event": event, "wanted": wanted})
    return Reply((), arrival=Arrival(event, action["file"], wanted))


def _memo(visit: Visit, name: str, size: int) -> str:
    """One for each file and chat. The name is not kept."""
    mark = hashlib.sha256(f"{name}\0{size}".encode("utf-8", "replace")).hexdigest()[:24]
    return f"seen:{visit.conversation.channel}:{mark}"
