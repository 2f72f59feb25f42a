"""Polls shown in Discord's own way: which message is which, the votes in them, caught up with and ended before they are counted."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import aiohttp
import discord

from adapters.discord.ballots import HOURS
from adapters.discord.connection import Connection
from adapters.discord.line import Gone, Unwritable, passes
from adapters.discord.spots import PLATFORM, Spot, Who
from adapters.discord.view import Shown
from core.errors import ReaderError, UpstreamError
from core.model import Ballot, Conversation, Event, Reader

log = logging.getLogger(__name__)

_KEPT = timedelta(hours=HOURS, days=2)
"""How long it is known which message is which poll: longer than the vendor lets a poll be open."""
Memo = Mapping[str, Any]
Take = Callable[[Event], Awaitable[bool]]
"""Keeps an event and has it dealt with."""


async def shown(
    connection: Connection,
    where: Conversation,
    channel: int,
    shown: Shown,
    send: Callable[[], Awaitable[discord.Message]],
) -> discord.Message:
    """Send a message, and when it became a poll, remember which: a vote is told at once, and waits until it is known.

    That it will be sent is kept first: after a crash in between it is looked for.
    """
    if shown.ballot is None:
        return await send()
    ballot, at_first = shown.ballot, _memo(where, channel, shown.ballot)
    async with connection.alone(f"poll:{channel}"):
        await _keep(connection, at_first)
        try:
            message = await send()
        except (Gone, Unwritable, discord.HTTPException) as error:
            if not passes(error):  # there is no such message for sure
                await connection.club.post.forget(PLATFORM, f"ballot:{ballot.poll}")
            raise
        if message.poll is None:  # it is our own buttons
            await connection.club.post.forget(PLATFORM, f"ballot:{ballot.poll}")
        else:
            await _known(connection, at_first, message)
    return message


def _memo(where: Conversation, channel: int, ballot: Ballot) -> Memo:
    options, titles = zip(*ballot.options, strict=True)
    fields = {key: value for key, value in asdict(where).items() if value is not None}
    return {"poll": ballot.poll, "where": fields, "channel": channel, "options": options, "titles": titles}


async def _keep(connection: Connection, memo: Memo) -> None:
    until = connection.host.now() + _KEPT
    await connection.club.post.remember(PLATFORM, f"ballot:{memo['poll']}", dict(memo), until)


async def _known(connection: Connection, memo: Memo, message: discord.Message) -> Memo:
    """Keep which message it is, and which of its answers stands for which option."""
    answers = message.poll.answers if message.poll is not None else []
    by_answer = {str(answer.id): option for answer, option in zip(answers, memo["options"], strict=True)}
    memo = {**memo, "message": message.id, "answers": by_answer}
    await _keep(connection, memo)
    until = connection.host.now() + _KEPT
    await connection.club.post.remember(PLATFORM, f"poll:{message.id}", memo["poll"], until)
    return memo


async def _recall(connection: Connection, poll: str) -> Memo | None:
    """What is known of a poll's message; looked for where a crash came between sending and keeping. None: there is none."""
    memo: Memo | None = await connection.club.post.recall(PLATFORM, f"ballot:{poll}")
    if memo is None or "message" in memo:
        return memo
    found = await connection.line.find_poll(memo["channel"], memo["titles"])
    if found is None:
        await connection.club.post.forget(PLATFORM, f"ballot:{poll}")
        return None
    return await _known(connection, memo, found)


# Votes, as they are told


async def heard(connection: Connection, take: Take, told: discord.RawPollVoteActionEvent, *, back: bool) -> None:
    """Keep a vote that was given or taken back in a poll of ours."""
    post, channel = connection.club.post, told.channel_id
    async with connection.alone(f"poll:{channel}"):
        poll = await post.recall(PLATFORM, f"poll:{told.message_id}")
    memo = await post.recall(PLATFORM, f"ballot:{poll}") if poll is not None else None
    if memo is None or str(told.answer_id) not in memo["answers"]:
        return
    key = f"{PLATFORM}:{channel}:{told.message_id}:v{connection.host.new_id()}"
    payload = {"do": "vote", "poll": poll, "answer": str(told.answer_id), "back": back}
    await take(_event(key, memo, payload, Reader(str(told.user_id))))


async def counted(connection: Connection, payload: Mapping[str, Any], reader: Reader) -> None:
    """Hand a vote to the desk. One that is told when the poll has been ended is read with all others instead."""
    memo = await connection.club.post.recall(PLATFORM, f"ballot:{payload['poll']}")
    if memo is None:
        return
    async with connection.alone(f"poll:{memo['channel']}"):
        memo = await connection.club.post.recall(PLATFORM, f"ballot:{payload['poll']}")
        if memo is not None and not memo.get("ended"):
            await _vote(connection, memo, reader.id, payload["answer"], back=payload["back"])


async def _vote(connection: Connection, memo: Memo, user: str, answer: str, *, back: bool) -> None:
    """Raises ReaderError when the poll takes no more."""
    post, option = connection.club.post, memo["answers"].get(answer)
    if option is None:
        return
    await connection.desk.vote(_where(memo), Reader(user), memo["poll"], option, back=back)
    known = f"vote:{memo['message']}:{user}"
    if not back:
        await post.remember(PLATFORM, known, answer, connection.host.now() + _KEPT)
    elif await post.recall(PLATFORM, known) == answer:
        await post.forget(PLATFORM, known)


# Votes that were not told, and the end


async def missed(connection: Connection, take: Take, serves: Callable[[Conversation], bool]) -> None:
    """After a restart or a lost session: have every open poll's votes read, behind what was kept of them before."""
    for memo in (await connection.club.post.recall_all(PLATFORM, "ballot:")).values():
        if serves(_where(memo)):
            key = f"{PLATFORM}:{memo['channel']}:v{connection.host.new_id()}"
            await take(_event(key, memo, {"do": "votes", "poll": memo["poll"]}, Reader("")))


async def caught_up(connection: Connection, poll: str) -> None:
    """Read who has voted for what, unless the poll has been counted since: then it is done with."""
    memo = await connection.club.post.recall(PLATFORM, f"ballot:{poll}")
    if memo is None:
        return
    if await _closed(connection, memo):
        await over(connection, poll)
        return
    async with connection.alone(f"poll:{memo['channel']}"):
        memo = await _recall(connection, poll)
        if memo is not None:
            await _read(connection, memo)


async def _closed(connection: Connection, memo: Memo) -> bool:
    """Whether a poll takes no more votes on our side: counted, or forgotten."""
    latest = await connection.club.meeting.polls.latest(_where(memo))
    return latest is None or latest.row.id != memo["poll"] or latest.row.closed_at is not None


async def tidy(connection: Connection, where: Conversation) -> None:
    """End and forget what is not open on our side any more: a press may have had us forget the channel, and its poll with it."""
    for memo in (await connection.club.post.recall_all(PLATFORM, "ballot:")).values():
        if _where(memo).channel == where.channel and await _closed(connection, memo):
            await over(connection, memo["poll"])


async def _read(connection: Connection, memo: Memo) -> None:
    """Hand in what differs from what was handed in before: who has voted by our own buttons since keeps that."""
    prefix = f"vote:{memo['message']}:"
    before = {key.removeprefix(prefix): str(answer) for key, answer in (await _votes(connection, prefix)).items()}
    try:
        now = await connection.line.voters(memo["channel"], memo["message"])
    except (Gone, Unwritable) as error:
        log.warning("the votes of a poll cannot be read", extra={"reason": type(error).__name__})
        return
    for user, answer in now.items():
        if before.get(user) != answer:
            await _vote(connection, memo, user, answer, back=False)
    for user, answer in before.items():
        if user not in now:
            await _vote(connection, memo, user, answer, back=True)


async def _votes(connection: Connection, prefix: str) -> Mapping[str, Any]:
    return await connection.club.post.recall_all(PLATFORM, prefix)


async def stands(connection: Connection, poll: str) -> bool:
    """Whether a poll is in its channel for people to vote in. One that cannot be looked at right now is taken to be."""
    memo = await connection.club.post.recall(PLATFORM, f"ballot:{poll}")
    if memo is None or memo.get("ended"):
        return False
    try:
        async with connection.alone(f"poll:{memo['channel']}"):
            memo = await _recall(connection, poll)
        return memo is not None and await connection.line.takes_votes(memo["channel"], memo["message"])
    except (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError) as error:
        log.info("a poll could not be looked at", extra={"reason": type(error).__name__})
        return True


async def gather(connection: Connection, poll: str) -> None:
    """Before a poll is counted: end it, so that nobody sees a vote taken that does not count, and read all votes.

    Raises UpstreamError while Discord does not answer.
    """
    memo = await connection.club.post.recall(PLATFORM, f"ballot:{poll}")
    if memo is None:
        return
    try:
        async with connection.alone(f"poll:{memo['channel']}"):
            memo = await _recall(connection, poll)
            if memo is None:
                return
            if not memo.get("ended"):
                await connection.line.end_poll(memo["channel"], memo["message"])
                memo = {**memo, "ended": True}
                await _keep(connection, memo)
            await _read(connection, memo)
    except (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError) as error:
        if not passes(error):
            raise
        raise UpstreamError("next_votes_unread", platform="Discord") from error
    except ReaderError:  # it was counted before: nothing is lost that anybody was told
        log.info("a poll was counted already")


async def over(connection: Connection, poll: str | None) -> None:
    """A poll has been counted, and that was said: it is ended, and forgotten here."""
    if poll is None or (memo := await connection.club.post.recall(PLATFORM, f"ballot:{poll}")) is None:
        return
    message = memo.get("message")
    if message is not None:
        if not memo.get("ended"):
            try:
                await connection.line.end_poll(memo["channel"], message)
            except (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError):
                log.warning("a poll was not ended", exc_info=True)  # it counts no more, and ends by itself
        for key in await _votes(connection, f"vote:{message}:"):
            await connection.club.post.forget(PLATFORM, key)
        await connection.club.post.forget(PLATFORM, f"poll:{message}")
    await connection.club.post.forget(PLATFORM, f"ballot:{poll}")


def _where(memo: Memo) -> Conversation:
    return Conversation(**memo["where"])


def _event(key: str, memo: Memo, payload: Mapping[str, Any], reader: Reader) -> Event:
    where = _where(memo)
    who = Who(where, reader, direct=where.server is None)
    fields = {**payload, "spot": asdict(Spot(memo["channel"])), **who.written()}
    return Event(key, PLATFORM, f"{PLATFORM}:{where.channel}", fields)
