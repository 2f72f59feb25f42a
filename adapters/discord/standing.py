"""What stands before one reader: the messages of an interaction, changed in place, added to and taken away, over restarts."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.discord.buttons import Interaction, drawn
from adapters.discord.connection import Connection
from adapters.discord.line import SILENT, Gone, files
from adapters.discord.spots import PLATFORM, TOKEN_LIVES, Spot, spot_of
from adapters.discord.view import Shown

Row = Sequence[Any]
"""A message's id, the token by which it is reached, and when that was born."""


async def remember(connection: Connection, memo: str, rows: Sequence[Row]) -> None:
    """Keep, for as long as the tokens live, how to change what stands there."""
    until = datetime.fromtimestamp(min(float(row[2]) for row in rows) + TOKEN_LIVES, UTC)
    await connection.club.post.remember(PLATFORM, memo, [list(row) for row in rows], until)


def parts_of(message: int) -> str:
    """The memo of a reply in several messages, by the last one: there its buttons are."""
    return f"parts:{message}"


async def put(
    connection: Connection, interaction: Interaction, parts: Sequence[Shown], memo: str = "", about: str = ""
) -> None:
    """These messages in place of the one that was pressed, and of those that stand with it by `memo` or as its parts."""
    message, post = interaction.message, connection.club.post
    if message is None:
        return
    before = memo or parts_of(message.id)
    stands: list[Row] = [row for row in await post.recall(PLATFORM, before) or () if row[0] != message.id]
    spot = spot_of(interaction, private=bool(message.flags.ephemeral))
    kept: list[Row] = []
    for row, shown in zip(stands, parts[:-1], strict=False):
        # What stands above belongs to an earlier press and is reached by its token.
        await _change(connection, spot.channel, row, shown, about)
        kept.append(row)
    here, *below = parts[len(kept) :]
    await _update(interaction, here, about)
    kept.append((message.id, interaction.token, spot.born))
    kept += [(await connection.line.send(spot, shown, about=about), interaction.token, spot.born) for shown in below]
    await take_away(connection, stands[len(parts) - 1 :])
    if memo:
        await remember(connection, memo, kept)
    elif stands or below:
        await post.forget(PLATFORM, before)
        await remember(connection, parts_of(int(kept[-1][0])), kept)


async def take_away(connection: Connection, rows: Sequence[Row]) -> None:
    for row in rows:
        await connection.line.delete(_spot(0, row), int(row[0]))


async def _update(interaction: Interaction, shown: Shown, about: str) -> None:
    drawing = drawn(shown.rows, about)
    body: dict[str, Any] = {"content": shown.content, "view": drawing, "allowed_mentions": SILENT}
    body["attachments"] = files(shown.files)
    if interaction.response.is_done():
        await interaction.edit_original_response(**body)
    else:
        await interaction.response.edit_message(**body)


async def _change(connection: Connection, channel: int, row: Row, shown: Shown, about: str) -> None:
    try:
        await connection.line.edit(_spot(channel, row), int(row[0]), shown, about)
    except Gone:
        return  # its reader has put it away


def _spot(channel: int, row: Row) -> Spot:
    return Spot(channel, None, str(row[1]), float(row[2]), private=True)
