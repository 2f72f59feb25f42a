"""The way to Discord by discord.py: messages sent, changed and deleted, by channel or by an interaction's token; few ways to fail."""

import hashlib
import io
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import aiohttp
import discord

from adapters.discord import ballots
from adapters.discord.buttons import drawn
from adapters.discord.spots import Spot
from adapters.discord.view import Shown
from core.model import Attachment

log = logging.getLogger(__name__)

SILENT = discord.AllowedMentions.none()
"""Nobody is notified, whatever a text says; the one who is replied to neither."""

_ENDED = (10015, 50027, 10062)
"""Codes of a token that is not good any more."""
_OLD = 30046
"""Code: too many edits of messages older than an hour."""
_NO_POLL = (520001, 520006)
"""Codes: a poll is over; there is none in the message."""
_VOTERS = 100_000
_LOOKED = 300
"""Messages that are looked through for a poll whose message is not known."""
THREAD_THERE = 160004
"""Code: the message has a thread already."""


class Gone(Exception):
    """The message or its channel is not there any more, or cannot be changed any more."""


class Unwritable(Exception):
    """The bot may not write there. `code` is the vendor's."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Line:
    """One connection's voice. What the library raises becomes `Gone` or `Unwritable`; the rest passes through."""

    def __init__(self, client: discord.Client, now: Callable[[], datetime]) -> None:
        self._client = client
        self._now = now

    async def send(self, spot: Spot, shown: Shown, key: str = "", part: int = 0, about: str = "") -> int:
        """Post a message; its id. With a `key` a repetition within minutes makes no second message."""
        return (await self.post(spot, shown, key, part, about)).id

    async def post(self, spot: Spot, shown: Shown, key: str = "", part: int = 0, about: str = "") -> discord.Message:
        """The same, the message itself: what became a poll has one."""
        poll = None if spot.private else ballots.drawn(shown.ballot, self._now())
        try:
            return await self._post(spot, shown, key, part, about, poll)
        except Refused:
            return await self._post(spot, shown, key, part, about, None)

    async def _post(
        self, spot: Spot, shown: Shown, key: str, part: int, about: str, poll: discord.Poll | None
    ) -> discord.Message:
        if spot.speaks(self._now()):
            try:
                return await self._follow_up(spot, shown, about, poll)
            except discord.HTTPException as error:
                _unless_refused(error, poll)
                if error.code not in _ENDED:
                    raise _failed(error) from error
        if spot.private:
            raise Gone  # what was for one person is not shown to all
        channel = self._client.get_partial_messageable(spot.channel)
        how: dict[str, Any] = {}
        if spot.reply_to is not None:
            how["reference"] = discord.MessageReference(
                message_id=spot.reply_to, channel_id=spot.channel, fail_if_not_exists=False
            )
        if key:
            how["nonce"] = hashlib.blake2b(f"{key}/{part}".encode(), digest_size=12).hexdigest()
        try:
            sent: discord.Message = await channel.send(**self._new(shown, about, poll), **how)
        except discord.Forbidden as error:
            _unless_refused(error, poll)
            if shown.files and error.code == 50013:  # perhaps only files are not allowed: the words go without
                return await self._post(spot, Shown(shown.content, shown.rows), key, part, about, None)
            if spot.reply_to is not None and error.code == 50013:  # or earlier messages may not be read
                bare = Spot(spot.channel, None, spot.token, spot.born, spot.private)
                return await self._post(bare, shown, key, part, about, None)
            raise Unwritable(error.code) from error
        except discord.HTTPException as error:
            _unless_refused(error, poll)
            raise _failed(error) from error
        return sent

    async def _follow_up(self, spot: Spot, shown: Shown, about: str, poll: discord.Poll | None) -> discord.Message:
        body = self._new(shown, about, poll)
        return await self._hook(spot).send(**body, ephemeral=spot.private, wait=True)

    def _new(self, shown: Shown, about: str, poll: discord.Poll | None) -> dict[str, Any]:
        """A new message; a poll stands alone."""
        if poll is not None:
            return {"poll": poll, "allowed_mentions": SILENT}
        return {**self._body(shown, about), "suppress_embeds": True}

    async def edit(self, spot: Spot, message: int, shown: Shown, about: str = "") -> None:
        """Change a message; files it had go. Raises Gone when it is not there or too old."""
        body = self._body(shown, about)
        body["attachments"] = body.pop("files", [])
        body.setdefault("view", None)
        if spot.speaks(self._now()):
            try:
                await self._hook(spot).edit_message(message, **body)
                return
            except discord.HTTPException as error:
                if error.code not in (*_ENDED, 10008):
                    raise _failed(error) from error
        if spot.private:
            raise Gone
        try:
            await self._client.get_partial_messageable(spot.channel).get_partial_message(message).edit(**body)
        except discord.HTTPException as error:
            raise _failed(error) from error

    async def delete(self, spot: Spot, message: int) -> None:
        """Take a message away; one that is gone already is fine."""
        try:
            if spot.private:
                await self._hook(spot).delete_message(message)
            else:
                await self._client.get_partial_messageable(spot.channel).get_partial_message(message).delete()
        except discord.HTTPException as error:
            if error.status not in (401, 403, 404):
                raise

    # Polls and threads

    async def end_poll(self, channel: int, message: int) -> None:
        """End a poll of ours; one that is over, or gone, or out of reach is fine."""
        try:
            await self._client.get_partial_messageable(channel).get_partial_message(message).end_poll()
        except discord.HTTPException as error:
            if error.code not in _NO_POLL and error.status not in (403, 404):
                raise
            log.info("a poll was over already", extra={"code": error.code})

    async def takes_votes(self, channel: int, message: int) -> bool:
        """Whether a poll is there and open."""
        try:
            there = await self._client.get_partial_messageable(channel).fetch_message(message)
        except discord.NotFound:
            return False
        return there.poll is not None and not there.poll.is_finalised()

    async def voters(self, channel: int, message: int) -> dict[str, str]:
        """Who has voted in a poll: person -> answer. Raises Gone, Unwritable."""
        found: dict[str, str] = {}
        try:
            there = await self._client.get_partial_messageable(channel).fetch_message(message)
            for answer in there.poll.answers if there.poll is not None else ():
                # The count of an open poll may be too small by some; so many are read, a page at a time until one is empty.
                async for voter in answer.voters(limit=_VOTERS):
                    found[str(voter.id)] = str(answer.id)
        except discord.HTTPException as error:
            raise _failed(error) from error
        return found

    async def find_poll(self, channel: int, titles: Sequence[str]) -> discord.Message | None:
        """The latest message of ours that is a poll between these; None when there is none among the last hundreds."""
        me = self._client.user
        try:
            async for message in self._client.get_partial_messageable(channel).history(limit=_LOOKED):
                ours = me is not None and message.author.id == me.id and message.poll is not None
                if ours and message.poll is not None and [one.text for one in message.poll.answers] == list(titles):
                    return message
        except discord.HTTPException as error:
            if error.status not in (403, 404):
                raise
        return None

    async def thread(self, channel: int, message: int, name: str) -> None:
        """Open a thread on a message, unless there is one, or it may not be done, or cannot be done there."""
        place = self._client.get_channel(channel)
        if place is not None and not isinstance(place, discord.TextChannel):
            return
        kept = 1440 if place is None else place.default_auto_archive_duration
        try:
            # By id: the server may be one that another process hears of, whose channels this one does not know.
            await self._client.http.start_thread_with_message(channel, message, name=name, auto_archive_duration=kept)
        except discord.HTTPException as error:
            if passes(error):
                raise
            if error.code != THREAD_THERE:
                log.info("no thread was opened", extra={"code": error.code})

    async def typing(self, spot: Spot) -> None:
        """Show for ten seconds that something is on its way."""
        try:
            await self._client.http.send_typing(spot.channel)
        except discord.HTTPException:
            log.info("typing refused")  # it says nothing that the answer will not say

    def _hook(self, spot: Spot) -> discord.Webhook:
        data: Any = {"id": self._client.application_id, "type": 3, "token": spot.token}
        # The library makes an interaction's webhook in just this way; it has no public door for a token kept by others.
        return discord.Webhook.from_state(data, self._client._connection)

    @staticmethod
    def _body(shown: Shown, about: str) -> dict[str, Any]:
        body: dict[str, Any] = {"content": shown.content, "allowed_mentions": SILENT}
        view = drawn(shown.rows, about)
        if view is not None:
            body["view"] = view
        if shown.files:
            body["files"] = files(shown.files)
        return body


def files(attachments: Sequence[Attachment]) -> list[discord.File]:
    return [discord.File(io.BytesIO(file.data), file.name) for file in attachments]


class Refused(Exception):
    """A poll is not taken here: our own buttons take its place."""


def _unless_refused(error: discord.HTTPException, poll: discord.Poll | None) -> None:
    if poll is not None and error.code in ballots.REFUSED:
        log.info("a poll is not taken here", extra={"code": error.code})
        raise Refused from error


def _failed(error: discord.HTTPException) -> Exception:
    if isinstance(error, discord.NotFound) or error.code == _OLD:
        return Gone()
    if isinstance(error, discord.Forbidden):
        return Unwritable(error.code)
    return error


def passes(error: Exception) -> bool:
    """True for what may be well a little later: the network, the vendor's own trouble."""
    if isinstance(error, discord.HTTPException):
        return error.status >= 500 or error.status == 429
    return isinstance(error, aiohttp.ClientError | OSError | TimeoutError)
