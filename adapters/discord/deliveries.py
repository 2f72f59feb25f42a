"""Messages that outlive a crash: each part of what answers an event is on record before and after it is sent."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import discord

from adapters.discord import polls
from adapters.discord.connection import Connection
from adapters.discord.line import Gone, Unwritable, passes
from adapters.discord.spots import Spot
from adapters.discord.view import Shown, with_further
from adapters.outbox import Nowhere
from core.model import Choice, Conversation
from core.strings import say


@contextmanager
def bringing() -> Iterator[None]:
    """For what is said unasked: Nowhere in place of a refusal that will stay one, so that it is not tried for ever."""
    try:
        yield
    except (Gone, Unwritable) as error:
        raise Nowhere from error
    except discord.HTTPException as error:
        if passes(error) or error.status == 401:  # a token that is no good is mended by whoever runs the bot
            raise
        raise Nowhere from error


async def show(
    connection: Connection,
    where: Conversation,
    spot: Spot,
    key: str,
    parts: Sequence[Shown],
    turn: str | None = None,
    *,
    locale: str | None = None,
    about: str = "",
) -> list[int]:
    """Show `parts` as what answers `key`, in place of what stands there for it; the messages' ids.

    A part that already shows this turn is left alone: after a crash this goes on where it ended. A part that was being
    sent when the process died is sent again under the same nonce, by which the vendor knows it.
    """
    post = connection.club.post
    delivered = await post.delivered(key)
    messages = []
    for part, wanted in enumerate(parts):
        found = delivered.get(part)
        message = int(found.message) if found is not None and found.message is not None else None
        if message is not None and turn is not None and found is not None and found.turn == turn:
            messages.append(message)
            continue
        shown = await whole(connection, where, wanted, locale)
        if message is not None:
            try:
                await connection.line.edit(spot, message, shown, about)
            except Gone:
                message = None
        if message is None:
            await post.sending(where, key, part)
            place = spot if part == 0 else replace(spot, reply_to=None)
            send = partial(connection.line.post, place, shown, key, part, about)
            there = await polls.shown(connection, where, spot.channel, shown, send)
            message = there.id
            if found is not None and there.poll is None and there.content != shown.content:
                # Taken before a crash: by the nonce the vendor gave back that message, with the words it was sent with.
                await connection.line.edit(spot, message, shown, about)
        await post.sent(where, key, part, str(message), turn)
        messages.append(message)
    for part, found in delivered.items():
        if part >= len(parts):
            if found.message is not None:
                await connection.line.delete(spot, int(found.message))
            await post.withdrawn(key, part)
    return messages


async def take_away(connection: Connection, spot: Spot, key: str) -> None:
    """Delete what stands there as the answer to `key`."""
    for part, found in (await connection.club.post.delivered(key)).items():
        if found.message is not None:
            await connection.line.delete(spot, int(found.message))
        await connection.club.post.withdrawn(key, part)


async def whole(connection: Connection, where: Conversation, shown: Shown, locale: str | None) -> Shown:
    """The message with a button to the notes it has no room for, kept so that it works after a restart."""
    if not shown.further:
        return shown
    notes = [[choice.label, choice.id] for choice in shown.further]
    [id] = await connection.club.post.buttons(where, [{"do": "notes", "notes": notes}])
    return with_further(shown, Choice(say("discord_more_notes", locale), f"page:{id}"))
