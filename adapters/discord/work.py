"""What Discord told us, from its record to its end: in order within a channel, taken up again after a restart."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any

import discord

from adapters.discord import deliveries, polls, view
from adapters.discord.answers import Answers, unpacked
from adapters.discord.books import Books, File
from adapters.discord.buttons import Interaction
from adapters.discord.connection import Connection
from adapters.discord.drafts import Typing
from adapters.discord.line import Gone, Unwritable, passes
from adapters.discord.responses import PROMPT, take_back
from adapters.discord.spots import PLATFORM, Spot, Who, read_spot, spot_of
from adapters.discord.view import Shown
from adapters.lanes import Lanes
from core.desk import packed
from core.model import Conversation, Event, Question, Reader, Reply
from core.strings import say

log = logging.getLogger(__name__)

_UNSEEN = ("vote", "votes", "remark")
"""What nobody waits for an answer to: its failures are told to the log alone."""
_AGAIN = (1.0, 3.0, 10.0, 30.0)
"""Seconds before something that failed by the network or at the vendor is tried again; the last one from then on."""


class Work:
    """Deals with events. Each is on record before it begins and is ended when what it said stands there."""

    def __init__(self, connection: Connection, answers: Answers, books: Books, nudge: Callable[[], None]) -> None:
        """`nudge` is called when something was done that may have left a letter."""
        self._connection = connection
        self._answers = answers
        self._books = books
        self.nudge = nudge
        self._lanes = Lanes()
        self.typing = Typing(connection)

    @staticmethod
    def lane(where: Conversation) -> str:
        """Threads keep the order of their channel: they share its books."""
        return f"{PLATFORM}:{where.channel}"

    async def take(self, event: Event) -> bool:
        """Keep what was told and deal with it; False when it is known already."""
        if not await self._connection.club.post.receive(event):
            return False
        self._add(event)
        return True

    def _add(self, event: Event) -> None:
        spot = read_spot(event.payload["spot"])
        asks = event.payload["do"] in ("ask", "put") and not event.payload.get("unasked")
        if asks:
            self.typing.begin(spot)  # whoever asks sees at once that they were heard, also when others are first

        async def work() -> None:
            try:
                await self._do(event)
            finally:
                if asks:
                    self.typing.end(spot)

        self._lanes.add(event.lane, work)

    async def begin(self, interaction: Interaction, event: Event, *, private: bool) -> None:
        """Keep a command that takes its time, acknowledge it, and deal with it; nothing when it was told before.

        On record first, unless the database takes longer than the vendor waits: then the two go side by side.
        """
        post = self._connection.club.post
        recording = asyncio.ensure_future(post.receive(event))
        await asyncio.wait({recording}, timeout=PROMPT)
        if recording.done() and not recording.result():
            return
        message = await self._thinking(interaction, private)
        if not await recording:
            return
        if message is not None:
            await post.sent(Who.read(event.payload).conversation, event.key, 0, str(message))
        self._add(event)

    async def _thinking(self, interaction: Interaction, private: bool) -> int | None:
        """The id of the message that the answer will replace; None when there is none any more: then it is a new one."""
        try:
            if interaction.response.is_done():
                gone = await take_back(interaction, private=private)
                return None if gone else (await interaction.original_response()).id
            made = await interaction.response.defer(ephemeral=private, thinking=True)
        except discord.HTTPException as error:
            log.warning("acknowledged too late", extra={"code": error.code})
            return None
        return None if made is None else made.message_id

    async def put(self, interaction: Interaction, question: Question, who: Who) -> None:
        """Answer a question that a button or a command asks; what does not come from the book is for its asker alone."""
        private = (question.private or question.without_book) and not who.direct
        payload = {
            "do": "put",
            "question": {**packed(question), "private": question.private or private},
            "spot": asdict(spot_of(interaction, private=private)),
            **who.written(),
        }
        event = Event(question.event, PLATFORM, self.lane(who.conversation), payload)
        await self.begin(interaction, event, private=private)

    async def resume(self, serves: Callable[[Conversation], bool]) -> frozenset[str]:
        """Take up what a stop or a crash left undone in the conversations we serve; the keys of all that is undone."""
        events = await self._connection.club.post.unfinished(PLATFORM)
        for event in events:
            if serves(Who.read(event.payload).conversation):
                self._add(event)
        return frozenset(event.key for event in events)

    async def close(self) -> None:
        self.typing.close()
        await self._lanes.close()

    async def settled(self) -> None:
        await self._lanes.settled()

    async def _do(self, event: Event) -> None:
        """Until it is done; trouble on the way is waited out, and nothing else of this channel overtakes it."""
        attempt = 0
        while True:
            try:
                await self._once(event)
                break
            except (Gone, Unwritable) as error:
                log.warning("nowhere to answer", extra={"event_key": event.key, "reason": type(error).__name__})
                await self._tell_privately(event, error)
                break
            except Exception as error:  # noqa: BLE001  # the outer edge of one event
                if not passes(error):
                    await self._give_up(event, error)
                    break
                pause = _AGAIN[min(attempt, len(_AGAIN) - 1)]
                log.warning("trying again", extra={"event_key": event.key, "seconds": pause})
                await self._connection.host.sleep(pause)
                attempt += 1
        await self._connection.club.post.finish(event.key)
        self.nudge()

    async def _give_up(self, event: Event, error: Exception) -> None:
        """The vendor takes something we made for none of its limits: ours to mend, and still there is a sentence."""
        if event.payload["do"] in _UNSEEN:
            log.warning("nothing came of it", exc_info=error, extra={"event_key": event.key})
            return
        who, spot = Who.read(event.payload), read_spot(event.payload["spot"])
        said = Shown(view.sentence(self._connection.sentence(error, who.reader.locale)))
        try:
            await deliveries.show(
                self._connection, who.conversation, spot, str(event.payload.get("shown_as", event.key)), [said]
            )
        except Exception:  # the outer edge of one event: nothing can be said there
            log.exception("nothing could be said", extra={"event_key": event.key})

    async def _once(self, event: Event) -> None:
        payload = event.payload
        who, spot = Who.read(payload), read_spot(payload["spot"])
        reader = await self._connection.reader(who)
        key = str(payload.get("shown_as", event.key))
        try:
            await self._act(payload, event.key, key, who, reader, spot)
        except (Gone, Unwritable, discord.HTTPException):
            raise
        except Exception as error:  # the outer edge of one event: whatever it is, there is a sentence
            if passes(error) or payload["do"] in _UNSEEN:
                raise
            said = Shown(view.sentence(self._connection.sentence(error, reader.locale)))
            await deliveries.show(self._connection, who.conversation, spot, key, [said])

    def _act(self, payload: Any, event: str, key: str, who: Who, reader: Reader, spot: Spot) -> "Awaitable[None]":
        match payload["do"]:
            case "ask" | "remark":
                return self._ask(payload, event, key, who, reader, spot)
            case "vote":
                return polls.counted(self._connection, payload, reader)
            case "votes":
                return polls.caught_up(self._connection, str(payload["poll"]))
            case "put":
                question = unpacked(payload["question"], event, who, reader)
                return self._answers.ask(question, who, spot, key)
            case "seen":
                return self._books.ask(File.read(payload["file"]), who, reader, spot, key)
            case "add":
                return self._books.take(File.read(payload["file"]), who, reader, spot, key)
            case "say":
                return self._say(payload, key, who, reader, spot)
            case _:
                return self._interrupted(key, who, reader, spot)

    async def _ask(self, payload: Any, event: str, key: str, who: Who, reader: Reader, spot: Spot) -> None:
        desk, post = self._connection.desk, self._connection.club.post
        question = desk.question(who.conversation, reader, payload["text"], event=event, private=who.direct)
        if who.conversation.thread is not None and await self._remarked(payload, question, key, who, spot):
            return
        if payload["do"] == "remark":
            return
        earlier = None
        if payload.get("reply_to"):
            earlier = await post.turn_of(who.conversation, str(payload["reply_to"]))
            if earlier is None and payload.get("if_answer"):
                return  # people may reply to anything else we say among themselves
        elif who.conversation.thread is not None:
            latest = await desk.followed(who.conversation, openly=not who.direct)
            # The first follow-up in a thread is about the answer that the thread hangs on.
            start = await post.turn_of(replace(who.conversation, thread=None), who.conversation.thread)
            earlier = latest.id if latest is not None else start
        await self._answers.ask(replace(question, reply_to=earlier), who, spot, key)

    async def _remarked(self, payload: Any, question: Question, key: str, who: Who, spot: Spot) -> bool:
        """Keep what is said in the thread of a question for all as an answer to it, unless it follows up on an answer of ours.

        Whoever addressed the bot is told whether it is kept; people who talk to each other are left alone.
        """
        post, where, replied = self._connection.club.post, who.conversation, payload.get("reply_to")
        if replied and await post.turn_of(where, str(replied)) is not None:
            return False
        start = await post.turn_of(replace(where, thread=None), where.thread or "")
        question = replace(question, reply_to=start)
        told = await self._connection.desk.remarked(question)
        if told is not None and not payload.get("unasked"):
            await deliveries.show(self._connection, where, spot, key, view.messages(told))
        return told is not None

    async def _say(self, payload: Any, key: str, who: Who, reader: Reader, spot: Spot) -> None:
        """A command's reply for something written without a command: help for an empty mention, a hint."""
        if payload["what"] == "help":
            reply = await self._connection.desk.command(who.conversation, reader, "help", event=key)
            parts = view.messages(reply) if isinstance(reply, Reply) else ()
        else:
            parts = (Shown(view.sentence(say(payload["what"], reader.locale))),)
        await deliveries.show(self._connection, who.conversation, spot, key, parts)

    async def _interrupted(self, key: str, who: Who, reader: Reader, spot: Spot) -> None:
        """A command that a restart cut off: it may or may not have been done, so it is not done again."""
        if await self._connection.club.post.delivered(key):
            said = Shown(view.sentence(say("discord_restarted", reader.locale)))
            await deliveries.show(self._connection, who.conversation, spot, key, [said])

    async def _tell_privately(self, event: Event, error: Exception) -> None:
        """Where the bot may not write, the one who asked is told so in a direct message, if they take those."""
        who = Who.read(event.payload)
        if not isinstance(error, Unwritable) or who.direct:
            return
        try:
            user = await self._connection.client.fetch_user(int(who.reader.id))
            channel = await user.create_dm()
            said = view.sentence(say("discord_unwritable", who.reader.locale))
            await self._connection.line.send(Spot(channel.id), Shown(said), event.key)
        except (discord.HTTPException, Gone, Unwritable):
            log.info("nobody could be told", extra={"event_key": event.key})
