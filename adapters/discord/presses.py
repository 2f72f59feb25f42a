"""Buttons pressed: passages that only the presser sees, which close and grow in place; everything else the desk knows."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import discord

from adapters.discord import deliveries, forms, polls, standing, view
from adapters.discord.answers import Answers
from adapters.discord.buttons import Interaction
from adapters.discord.connection import Connection
from adapters.discord.line import SILENT, THREAD_THERE
from adapters.discord.responses import in_time, respond, take_back
from adapters.discord.spots import PLATFORM, Spot, Who, spot_of, who_used
from adapters.discord.view import Shown
from adapters.discord.work import Work
from core.errors import Missing
from core.model import Arrival, Choice, Event, Question, Reply
from core.strings import say


class Presses:
    def __init__(self, connection: Connection, answers: Answers, work: Work, nudge: Callable[[], None]) -> None:
        """`nudge` is called when something was pressed that may have left a letter."""
        self._connection = connection
        self._answers = answers
        self._work = work
        self._nudge = nudge

    async def hear(self, interaction: Interaction, kind: str, id: str) -> None:
        """Do what a button says; whatever goes wrong is one sentence for the one who pressed."""
        who = who_used(interaction)
        try:
            reader = await self._connection.reader(who)
            who = replace(who, reader=reader)
            await self._act(interaction, kind, id, who)
            self._nudge()
        except Exception as error:  # noqa: BLE001  # the outer edge of a press: a sentence, never a spinner
            await self._failed(interaction, error, who)

    async def filled(self, interaction: Interaction) -> None:
        """Do what was written into a form of ours."""
        who, found = who_used(interaction), forms.sent(interaction)
        try:
            if found is None:
                raise Missing("unknown_button")
            who = replace(who, reader=await self._connection.reader(who))
            id, written = found
            filling = self._connection.desk.filled(
                who.conversation, who.reader, id, written, event=_key(interaction), private=who.direct
            )
            reply = await in_time(interaction, filling, private=True, update=interaction.message is not None)
            if isinstance(reply, Question):
                raise Missing("unknown_button")
            await standing.put(self._connection, interaction, view.messages(reply))
        except Exception as error:  # noqa: BLE001  # the outer edge of a form: a sentence, never a spinner
            await self._failed(interaction, error, who)

    async def unknown(self, interaction: Interaction) -> None:
        """A button that is not ours or does not stand there."""
        who = who_used(interaction)
        try:
            who = replace(who, reader=await self._connection.reader(who))
            raise Missing("unknown_button")
        except Exception as error:  # noqa: BLE001  # the outer edge of a press: a sentence, never a spinner
            await self._failed(interaction, error, who)

    async def _failed(self, interaction: Interaction, error: Exception, who: Who) -> None:
        if isinstance(error, discord.HTTPException) and error.code in (10062, 40060):
            return  # too late, or another process was faster: pressing again works
        said = view.sentence(self._connection.sentence(error, who.reader.locale))
        try:
            await take_back(interaction, private=True)
            if not interaction.response.is_done():
                await interaction.response.send_message(said, ephemeral=True, allowed_mentions=SILENT)
            else:
                await interaction.followup.send(said, ephemeral=True, allowed_mentions=SILENT)
        except discord.HTTPException:
            return  # the token has ended: nobody can be told any more

    async def _act(self, interaction: Interaction, kind: str, id: str, who: Who) -> None:
        match kind:
            case "note":
                await self._note(interaction, id, who)
            case "act":
                await self._ask_desk(interaction, id, who)
            case "step":
                await self._step(interaction, id, who)
            case "close":
                await self._close(interaction, id, who)
            case "share":
                await self._share(interaction, id, who)
            case "page":
                await self._further(interaction, id, who)
            case "stop":
                await self._stop(interaction, id, who)
            case "thread":
                await self._thread(interaction, id, who)
            case "anyway":
                await self._anyway(interaction, id, who)

    def _pressing(self, interaction: Interaction, id: str, who: Who) -> "Awaitable[Reply | Question]":
        return self._connection.desk.press(
            who.conversation, who.reader, id, event=_key(interaction), private=who.direct
        )

    # Passages

    async def _note(self, interaction: Interaction, id: str, who: Who) -> None:
        """Open the passage for this reader, or close what the same press opened."""
        memo = _memo(interaction, id)
        # Somebody who presses twice in a row opens and closes; the second press waits for the first.
        async with self._connection.alone(memo):
            found = await in_time(interaction, self._open_or_reply(interaction, memo, id, who), private=True)
            if isinstance(found, Reply | Question):
                await self._open(interaction, found, id, f"{id}.0.0.1", who)
                return
            if interaction.response.is_done():
                await interaction.delete_original_response()
            else:
                await interaction.response.defer()
            await standing.take_away(self._connection, found)

    async def _open_or_reply(
        self, interaction: Interaction, memo: str, id: str, who: Who
    ) -> "Reply | Question | Sequence[Sequence[Any]]":
        """What this reader has open of a note and is to be closed; else what the desk shows."""
        open_now: Sequence[Sequence[Any]] | None = await self._connection.club.post.recall(PLATFORM, memo)
        if open_now is None:
            return await self._pressing(interaction, id, who)
        await self._connection.club.post.forget(PLATFORM, memo)
        return open_now

    async def _open(self, interaction: Interaction, reply: Reply | Question, note: str, shares: str, who: Who) -> None:
        if isinstance(reply, Question):
            raise Missing("unknown_button")
        parts = view.messages(self._with_share(reply, shares, who))
        sent = await respond(self._connection, interaction, parts, private=True, about=note)
        rows = [(id, spot.token or "", spot.born) for id, spot in sent]
        await standing.remember(self._connection, _memo(interaction, note), rows)

    def _with_share(self, reply: Reply, pressed: str, who: Who) -> Reply:
        """The passage with a button that shows it to everybody, where there is anybody else; `pressed` opened it."""
        if reply.passage is None or who.direct or not reply.choices:
            return reply
        share = Choice(say("discord_share", who.reader.locale), f"share:{pressed}")
        last = reply.choices[-1]
        return replace(reply, choices=(*reply.choices[:-1], (*last[:-1], share, last[-1])))

    async def _step(self, interaction: Interaction, id: str, who: Who) -> None:
        """Other text in place of what stands there."""
        reply = await in_time(interaction, self._pressing(interaction, id, who), private=True, update=True)
        if isinstance(reply, Question):
            raise Missing("unknown_button")
        self._connection.forget_language(who)
        note = id.split(".")[0] if "." in id else ""
        parts = view.messages(self._with_share(reply, id, who) if note else reply)
        await standing.put(self._connection, interaction, parts, _memo(interaction, note) if note else "", note)

    async def _close(self, interaction: Interaction, note: str, who: Who) -> None:
        memo = _memo(interaction, note)
        message = interaction.message
        stands = await self._connection.club.post.recall(PLATFORM, memo) if note else None
        await self._connection.club.post.forget(PLATFORM, memo)
        await interaction.response.defer()
        await interaction.delete_original_response()
        beside = [row for row in stands or () if message is None or row[0] != message.id]
        await standing.take_away(self._connection, beside)

    async def _share(self, interaction: Interaction, id: str, who: Who) -> None:
        """The passage for everybody; past the sharer's own place, others click before they read."""
        reply = await in_time(interaction, self._pressing(interaction, id, who), private=False)
        if isinstance(reply, Question) or reply.passage is None:
            raise Missing("unknown_button")
        parts = view.messages(replace(reply, choices=()), hidden=reply.passage.ahead is not None)
        await respond(self._connection, interaction, parts, private=False)

    async def _further(self, interaction: Interaction, id: str, who: Who) -> None:
        """The footnotes there was no room for."""
        action = await self._connection.club.post.pressed(who.conversation, who.reader, id)
        notes = [Choice(str(label), str(note), "note") for label, note in action.get("notes", ())]
        rows, further = view.noted(notes, view.ROWS)
        said = view.sentence(say("discord_more_notes", who.reader.locale))
        shown = await deliveries.whole(
            self._connection, who.conversation, Shown(said, rows, further), who.reader.locale
        )
        await respond(self._connection, interaction, [shown], private=True)

    # Everything else

    async def _ask_desk(self, interaction: Interaction, id: str, who: Who) -> None:
        reply = await in_time(interaction, self._pressing(interaction, id, who), private=True)
        if isinstance(reply, Question):
            await self._work.put(interaction, reply, who)
            return
        if reply.form is not None and not interaction.response.is_done():
            await interaction.response.send_modal(forms.drawn(reply.form, id))
            return
        if reply.arrival is not None:
            await self._arrived(interaction, reply.arrival, who)
            return
        if reply.deleted is not None:
            await self._delete(interaction, reply.deleted, who)
        if reply.passage is not None:
            await self._open(interaction, reply, id, id, who)
            return
        await respond(self._connection, interaction, view.messages(reply), private=reply.private)
        await polls.over(self._connection, reply.over)
        await polls.tidy(self._connection, who.conversation)

    async def _arrived(self, interaction: Interaction, arrival: Arrival, who: Who) -> None:
        """The file that was asked about, taken in where the question stands; or the question is taken away."""
        spot = Spot(int(interaction.channel_id or 0))
        if interaction.response.is_done():  # it took its time: what says so goes
            await interaction.delete_original_response()
        else:
            await interaction.response.defer()
        if not arrival.wanted:
            await deliveries.take_away(self._connection, spot, arrival.event)
            return
        payload = {"do": "add", "file": dict(arrival.file), "spot": asdict(spot), "shown_as": arrival.event}
        lane = self._work.lane(who.conversation)
        await self._work.take(Event(arrival.key, PLATFORM, lane, payload | who.written()))

    async def _delete(self, interaction: Interaction, turn: str, who: Who) -> None:
        spot = Spot(int(interaction.channel_id or 0))
        for message in await self._connection.club.post.messages(who.conversation, turn):
            await self._connection.line.delete(spot, int(message))

    async def _stop(self, interaction: Interaction, id: str, who: Who) -> None:
        action = await self._connection.club.post.pressed(who.conversation, who.reader, id)
        said = await self._answers.stop(who, str(action.get("event", "")))
        if said:
            text = view.sentence(say(said, who.reader.locale))
            await interaction.response.send_message(text, ephemeral=True, allowed_mentions=SILENT)
        else:
            await interaction.response.defer()

    async def _thread(self, interaction: Interaction, id: str, who: Who) -> None:
        """A thread under the answer, for follow-ups."""
        action = await self._connection.club.post.pressed(who.conversation, who.reader, id)
        message = interaction.message
        if message is None:
            return
        name = action.get("name")
        if name is None:
            name = (await self._connection.club.questions.asked(who.conversation, str(action["turn"]))).question
        try:
            thread = await message.create_thread(name=" ".join(str(name).split())[: view.NAME] or "…")
        except discord.Forbidden as error:
            raise Missing("discord_no_threads") from error
        except discord.HTTPException as error:
            if error.code != THREAD_THERE:
                raise
            said = say("discord_thread_there", who.reader.locale)
        else:
            said = say("discord_thread_made", who.reader.locale, thread=thread.name)
        await interaction.response.send_message(view.sentence(said), ephemeral=True, allowed_mentions=SILENT)

    async def _anyway(self, interaction: Interaction, id: str, who: Who) -> None:
        action = await self._connection.club.post.pressed(who.conversation, who.reader, id)
        file = dict(action.get("file") or {}) | {"partly": True}
        spot = spot_of(interaction)
        payload = {"do": "add", "file": file, "spot": asdict(spot), **who.written()}
        event = Event(_key(interaction), PLATFORM, self._work.lane(who.conversation), payload)
        await self._work.begin(interaction, event, private=False)


def _key(interaction: Interaction) -> str:
    return f"{PLATFORM}:{interaction.channel_id}:i{interaction.id}"


def _memo(interaction: Interaction, note: str) -> str:
    return f"open:{interaction.channel_id}:{interaction.user.id}:{note}"
