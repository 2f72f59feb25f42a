"""Answers to interactions: acknowledged in time, seen by one or by all, as a poll where that is wanted and taken."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import discord

from adapters.discord import ballots, polls, standing
from adapters.discord.buttons import Interaction, drawn
from adapters.discord.connection import Connection
from adapters.discord.line import SILENT, files
from adapters.discord.spots import Spot, spot_of, who_used
from adapters.discord.view import Shown

PROMPT = 0.5
"""Seconds in which an answer is expected to be there at once; after them it is acknowledged and answered later."""
_THINKING = "thinking"
"""Where it stands with an interaction whether its "thinking" is seen by one person only."""

_Result = TypeVar("_Result")


async def in_time(
    interaction: Interaction, work: Awaitable[_Result], *, private: bool, update: bool = False
) -> _Result:
    """The result of `work`; when it takes its time, the interaction is acknowledged meanwhile (its deadline is 3 s).

    `private` is a guess where only the result tells: see `take_back`.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=PROMPT)
        if not task.done():
            if update:
                await interaction.response.defer()
            else:
                await interaction.response.defer(ephemeral=private, thinking=True)
                interaction.extras[_THINKING] = private
        return await task
    finally:
        task.cancel()


async def take_back(interaction: Interaction, *, private: bool) -> bool:
    """Take a "thinking" away that others see than may see the answer, or fewer: it would become it, and stay as it is.

    True when it is gone: the answer is a message of its own.
    """
    if interaction.extras.pop(_THINKING, private) == private:
        return False
    await interaction.delete_original_response()
    return True


async def respond(
    connection: Connection, interaction: Interaction, parts: Sequence[Shown], *, private: bool, about: str = ""
) -> list[tuple[int, Spot]]:
    """Answer an interaction with these messages, deferred or not; their ids, each with the spot it can be reached by."""
    spot, where = spot_of(interaction, private=private), who_used(interaction).conversation
    await take_back(interaction, private=private)
    sent: list[int] = []
    send: Callable[[], Awaitable[discord.Message]]
    for part in parts:
        shown = part if interaction.app_permissions.send_polls else replace(part, ballot=None)
        if not interaction.response.is_done():
            send = partial(_respond, interaction, shown, private, about, connection.host.now())
        else:
            send = partial(connection.line.post, spot, shown, about=about)
        sent.append((await polls.shown(connection, where, spot.channel, shown, send)).id)
    if private and len(sent) > 1 and not about:
        rows = [(id, spot.token or "", spot.born) for id in sent]
        await standing.remember(connection, standing.parts_of(sent[-1]), rows)
    return [(id, spot) for id in sent]


async def _respond(
    interaction: Interaction, shown: Shown, private: bool, about: str, now: datetime
) -> discord.InteractionMessage:
    """The first answer to an interaction, as a poll where that is wanted and taken."""
    body: dict[str, Any] = {"content": shown.content, "allowed_mentions": SILENT, "suppress_embeds": True}
    if (drawing := drawn(shown.rows, about)) is not None:
        body["view"] = drawing
    if shown.files:
        body["files"] = files(shown.files)
    poll = None if private else ballots.drawn(shown.ballot, now)
    try:
        if poll is not None:
            return _made(await interaction.response.send_message(poll=poll, allowed_mentions=SILENT))
    except discord.HTTPException as error:
        if error.code not in ballots.REFUSED:
            raise
    return _made(await interaction.response.send_message(**body, ephemeral=private))


def _made(response: "discord.InteractionCallbackResponse[Any]") -> discord.InteractionMessage:
    message = response.resource
    assert isinstance(message, discord.InteractionMessage)  # what a message is answered with
    return message
