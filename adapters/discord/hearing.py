"""What people write: which messages are for the bot, and what is made of them."""

import re
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import Any

import discord

from adapters.discord import deliveries
from adapters.discord.answers import Answers
from adapters.discord.books import File
from adapters.discord.connection import Connection
from adapters.discord.spots import PLATFORM, Spot, Who, who_wrote
from adapters.discord.work import Work
from core.desk import may_be_book
from core.model import Event

_BOOKS = frozenset((".epub", ".pdf", ".mobi", ".azw", ".azw3", ".fb2", ".docx", ".html", ".htm", ".md", ".txt", ".zip"))
_PEOPLE = re.compile(r"<@[!&]?\d+>")
_WRITTEN = (discord.MessageType.default, discord.MessageType.reply)


class Hearing:
    def __init__(self, connection: Connection, work: Work, answers: Answers) -> None:
        self._connection = connection
        self._work = work
        self._answers = answers

    async def heard(self, message: discord.Message) -> bool:
        """Take a message up when it is for us; True when it is for us and new."""
        if message.author.bot or message.webhook_id is not None or message.type not in _WRITTEN:
            return False
        if message.guild is None:  # to be found again when we catch up: the vendor names no direct conversations
            await self._connection.club.post.remember(PLATFORM, f"direct:{message.channel.id}", True)
        who = who_wrote(message, await self._connection.locale_of(message.author.id))
        if not who.direct and self._me not in {user.id for user in message.mentions}:
            seen = await self._seen(message, who)
            return await self._unaddressed(message, who) or seen
        return await self._addressed(message, who)

    async def heard_again(self, message: discord.Message) -> None:
        """A message was changed: the answer to it is made once more, in place, each time its words change."""
        if message.author.bot or message.edited_at is None or message.type not in _WRITTEN:
            return
        key, text = _key(message), self._words(message)
        who = who_wrote(message, await self._connection.locale_of(message.author.id))
        if not text or not (who.direct or self._me in {user.id for user in message.mentions}):
            return
        post = self._connection.club.post
        if not await post.delivered(key) and key not in {event.key for event in await post.unfinished(PLATFORM)}:
            return  # no question that we answer, or are about to
        # A preview that comes later tells the message once more, with the time of the same change.
        changed = f"{key}:e{int(1000 * message.edited_at.timestamp())}"
        await self._take(message, who, {"do": "ask", "text": text, "shown_as": key}, key=changed)

    async def gone(self, channel: int, message: int) -> None:
        """A question was deleted: its answer goes, too."""
        key = f"{PLATFORM}:{channel}:{message}"
        self._answers.drop(key)
        await deliveries.take_away(self._connection, Spot(channel), key)

    @property
    def _me(self) -> int:
        user = self._connection.client.user
        return 0 if user is None else user.id

    def _words(self, message: discord.Message) -> str:
        """What was written, without whom it was written to."""
        return _PEOPLE.sub("", message.content).strip()

    async def _addressed(self, message: discord.Message, who: Who) -> bool:
        text = self._words(message)
        files = self._files(message, text)
        if files:
            new = [
                await self._take(
                    message,
                    who,
                    # What stands beside it is the password, should it need one.
                    {"do": "add", "file": asdict(replace(file, password=text or None))},
                    key=f"{_key(message)}:{file.id}",
                )
                for file in files
            ]
            return any(new)
        if not text:
            return await self._take(message, who, {"do": "say", "what": "help"})
        return await self._take(message, who, {"do": "ask", "text": text})

    def _files(self, message: discord.Message, text: str) -> list[File]:
        """The books that came with a message, or with the one it replies to without a word."""
        found = [File.of(file, message.channel.id, message.id) for file in message.attachments]
        referenced = message.reference.resolved if message.reference is not None else None
        if not found and not text and isinstance(referenced, discord.Message):
            found = [File.of(file, message.channel.id, referenced.id) for file in referenced.attachments]
        if text and message.guild is not None:
            # With words beside it a picture is a picture: only what looks like a book is one.
            found = [file for file in found if _looks_like_a_book(file.name)]
        return found

    async def _seen(self, message: discord.Message, who: Who) -> bool:
        """Books that came with words to others, where those may be read: it is asked whether they are for the club."""
        files = [
            File.of(file, message.channel.id, message.id)
            for file in message.attachments
            if may_be_book(file.filename, file.content_type or "")
        ]
        new = [
            await self._take(message, who, {"do": "seen", "file": asdict(file)}, key=f"{_key(message)}:{file.id}")
            for file in files
        ]
        return any(new)

    async def _unaddressed(self, message: discord.Message, who: Who) -> bool:
        """A reply without its ping, a follow-up in the thread of an answer: a question where its words may be read."""
        replied = message.reference.message_id if message.reference is not None else None
        post, where = self._connection.club.post, who.conversation
        ours = replied is not None and await post.turn_of(where, str(replied)) is not None
        follows = talks = False
        if not ours and where.thread is not None:
            start = await post.turn_of(replace(where, thread=None), where.thread)
            talks = start is not None and await self._connection.club.meeting.discussions.is_topic(where, start)
            follows = start is not None and replied is None and not message.mentions
        text = self._words(message)
        if not ours and not follows and not talks:
            # Perhaps it is about an answer that is still being written: once that stands there, we know.
            replying = {"do": "ask", "text": text, "unasked": True, "if_answer": True}
            return bool(text) and self._replies_to_us(message) and await self._take(message, who, replying)
        if text:
            # In the thread of a question for all, people answer that and each other: what asks another is not for us.
            do = "ask" if ours or follows else "remark"
            return await self._take(message, who, {"do": do, "text": text, "unasked": talks})
        if message.attachments or message.stickers:
            return False
        if talks and not (await self._connection.club.settings(where)).get("replies"):
            return False  # nobody wants it read
        hint = f"hint:{who.conversation.thread or who.conversation.channel}"
        if await post.recall(PLATFORM, hint) is not None:
            return False
        await post.remember(PLATFORM, hint, True)
        return await self._take(message, who, {"do": "say", "what": "discord_mention_hint"})

    def _replies_to_us(self, message: discord.Message) -> bool:
        replied = message.reference.resolved if message.reference is not None else None
        return isinstance(replied, discord.Message) and replied.author.id == self._me

    async def _take(self, message: discord.Message, who: Who, payload: dict[str, Any], *, key: str = "") -> bool:
        spot = Spot(message.channel.id, None if who.direct else message.id)
        replied = message.reference.message_id if message.reference is not None else None
        payload |= {"spot": asdict(spot), "reply_to": replied, **who.written()}
        return await self._work.take(Event(key or _key(message), PLATFORM, self._work.lane(who.conversation), payload))


def _key(message: discord.Message) -> str:
    return f"{PLATFORM}:{message.channel.id}:{message.id}"


def _looks_like_a_book(name: str) -> bool:
    return PurePath(name).suffix.lower() in _BOOKS
