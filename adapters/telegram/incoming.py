"""What an update of the Bot API means for us: raw JSON in, `Heard` or `Press` out, None for what is none of our business. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from core.desk import COMMANDS, may_be_book

Json = Mapping[str, Any]
Kind = Literal["ask", "command", "book", "seen", "hello", "unreadable", "moved", "status", "vote"]

_OURS = frozenset({*COMMANDS, "start", "stop"})
_UNREADABLE = ("photo", "voice", "audio", "video", "video_note", "sticker", "animation", "location", "contact", "poll")


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself."""

    id: int
    username: str


@dataclass(frozen=True, slots=True)
class File:
    """A document somebody sent; `size` in bytes as the platform claims it."""

    id: str
    name: str
    size: int
    media: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """Something said to us, small enough to keep until it is dealt with."""

    key: str
    kind: Kind
    chat: int
    message: int
    user: int
    private: bool
    topic: int | None = None
    locale: str | None = None
    name: str = ""
    """Of a command; of a status what we are in the chat from now on; of a vote the poll, by Telegram's id."""
    words: str = ""
    file: File | None = None
    reply_to: int | None = None
    """The message of ours this replies to."""
    edited: bool = False
    anonymous: bool = False
    """True for an administrator who speaks as the group; `user` is the group then."""
    other: int = 0
    """The new id of a chat that moved; whether status `name` follows one in which we were in the chat."""
    partly: bool = False
    """True for a book that is to be taken without its picture pages."""
    question: Mapping[str, Any] = field(default_factory=dict)
    """A question a button asked, as its fields that are no defaults."""
    choice: int | None = None
    """Of a vote: the option, counted from 0; None when it is taken back."""
    shown_as: str = ""
    """The event whose message shows what comes of this one; "" = its own."""
    by: str = ""
    """What the others in the chat call this person."""

    @property
    def under(self) -> str:
        """The key under which what is said to this stands on record."""
        return self.shown_as or self.key


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed button."""

    query: str
    data: str
    chat: int
    message: int
    user: int
    private: bool
    topic: int | None = None
    locale: str | None = None
    by: str = ""
    whispered: bool = False
    """True when the button stands in a message for this member's eyes; `message` is its id then."""


def kept(payload: Json) -> Heard:
    """Something said to us that was on record."""
    file = payload.get("file")
    return Heard(**{**payload, "file": File(**file) if file else None})


def read(update: Json, me: Me) -> Heard | Press | None:
    """What an update asks of us."""
    if query := update.get("callback_query"):
        return _press(query)
    if changed := update.get("my_chat_member"):
        return _status(changed)
    if answer := update.get("poll_answer"):
        return _vote(answer, update["update_id"])
    edited = "edited_message" in update
    message = update.get("edited_message") or update.get("message")
    return None if message is None else _heard(message, me, edited)


def _press(query: Json) -> Press | None:
    message = query.get("message")
    if message is None or query["from"].get("is_bot"):
        return None
    whispered = message.get("ephemeral_message_id")
    return Press(
        query=query["id"],
        data=str(query.get("data", "")),
        chat=message["chat"]["id"],
        message=message["message_id"] if whispered is None else whispered,
        user=query["from"]["id"],
        private=message["chat"]["type"] == "private",
        topic=_topic(message),
        locale=query["from"].get("language_code"),
        by=_called(query["from"]),
        whispered=whispered is not None,
    )


def _status(changed: Json) -> Heard:
    chat, now = changed["chat"], changed["new_chat_member"]["status"]
    before = changed["old_chat_member"]["status"]
    return Heard(
        key=f"telegram:{chat['id']}:status:{changed['date']}:{before}:{now}",
        kind="status",
        chat=chat["id"],
        message=0,
        user=changed["from"]["id"],
        private=chat["type"] == "private",
        locale=changed["from"].get("language_code"),
        name=now,
        other=int(before not in ("left", "kicked")),
    )


def _vote(answer: Json, update: int) -> Heard:
    """Who votes as a chat (an anonymous administrator) is that chat; where the poll stands is not told."""
    voter, options = answer.get("voter_chat") or answer["user"], answer["option_ids"]
    return Heard(
        key=f"telegram:vote:{answer['poll_id']}:{update}",
        kind="vote",
        chat=0,
        message=0,
        user=voter["id"],
        private=False,
        name=answer["poll_id"],
        choice=options[0] if options else None,
    )


def _heard(message: Json, me: Me, edited: bool) -> Heard | None:
    chat, author = message["chat"], message.get("from")
    if chat["type"] not in ("private", "group", "supergroup") or author is None:
        return None
    anonymous = (message.get("sender_chat") or {}).get("id") == chat["id"]
    if not anonymous and (author.get("is_bot") or message.get("sender_chat")):
        return None  # another bot, or a channel: two machines would answer each other for ever
    private = chat["type"] == "private"
    replied = message.get("reply_to_message") or {}
    if "forum_topic_created" in replied:
        replied = {}
    to_us = (replied.get("from") or {}).get("id") == me.id
    suffix = f":{message.get('edit_date', 0)}" if edited else ""

    def heard(kind: Kind, **more: Any) -> Heard:
        return Heard(
            key=f"telegram:{chat['id']}:{message['message_id']}{suffix}",
            kind=kind,
            chat=chat["id"],
            message=message["message_id"],
            user=chat["id"] if anonymous else author["id"],  # all of them share one account over all groups
            private=private,
            topic=_topic(message),
            locale=author.get("language_code"),
            reply_to=replied.get("message_id") if to_us else None,
            edited=edited,
            anonymous=anonymous,
            by="" if anonymous else _called(author),
            **more,
        )

    if moved := message.get("migrate_to_chat_id"):
        return heard("moved", other=moved)
    text = message.get("text") or message.get("caption") or ""
    words, named = _without_name(text, message.get("entities") or message.get("caption_entities") or (), me)
    if command := _command(text, me):
        name, aimed, rest = command
        if not aimed or (name not in _OURS and aimed != "us" and not private):
            return None
        file = _file(message) or _file(replied)
        if name == "add" and file is not None:
            return None if edited else heard("book", file=file, words=rest)
        return heard("command", name=name, words=rest)
    file = _file(message) or (_file(replied) if named and not words else None)
    if file is not None and (private or named):
        return heard("book", file=file, words=words) if not edited else None  # the password, should it need one
    if file is not None:  # nobody addressed us, but it may be a book for the club
        return heard("seen", file=file) if not edited and may_be_book(file.name, file.media) else None
    if not (private or named or to_us):
        return None
    if words:
        return heard("ask", words=words)
    if any(kind in message for kind in _UNREADABLE):
        return heard("unreadable") if private or named else None
    return heard("hello") if named else None


def _topic(message: Json) -> int | None:
    """Only a message of a topic names one: in a group without topics the same field counts replies."""
    return message.get("message_thread_id") if message.get("is_topic_message") else None


def _file(message: Json) -> File | None:
    document = message.get("document")
    if not document:
        return None
    name, size = document.get("file_name") or "book", document.get("file_size") or 0
    return File(document["file_id"], name, size, document.get("mime_type") or "")


def _called(person: Json) -> str:
    return " ".join(filter(None, (person.get("first_name"), person.get("last_name"))))


def _command(text: str, me: Me) -> tuple[str, str, str] | None:
    """(name, whom it is for: "us", "anybody" or "" for another bot, the words behind it)."""
    if not text.startswith("/"):
        return None
    first, *behind = text.split(None, 1)
    name, _, target = first[1:].partition("@")
    if not name.replace("_", "").isalnum():
        return None
    aimed = "anybody" if not target else "us" if target.lower() == me.username.lower() else ""
    return name.lower(), aimed, "".join(behind).strip()


def _without_name(text: str, entities: Any, me: Me) -> tuple[str, bool]:
    """The words without our name, and whether it stood there. Offsets count UTF-16 units."""
    wide = text.encode("utf-16-le", "surrogatepass")
    kept, last, named = b"", 0, False
    for entity in entities:
        start, end = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
        word = wide[start:end].decode("utf-16-le", "replace")
        ours = entity["type"] == "mention" and word.lower() == f"@{me.username}".lower()
        ours = ours or (entity["type"] == "text_mention" and entity.get("user", {}).get("id") == me.id)
        if ours:
            kept, last, named = kept + wide[last:start], end, True
    words = (kept + wide[last:]).decode("utf-16-le", "replace")
    return words.strip(" \t\n,:"), named
