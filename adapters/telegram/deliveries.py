"""Messages that outlive a crash: each part of what answers an event is on record before and after it is sent."""

import logging
from collections.abc import Sequence

from adapters.telegram.connection import Connection
from adapters.telegram.line import Gone
from adapters.telegram.payloads import Sent, Spot
from adapters.telegram.view import Shown
from core.model import Conversation

log = logging.getLogger(__name__)


async def show(
    connection: Connection,
    where: Conversation,
    spot: Spot,
    key: str,
    parts: Sequence[Shown],
    turn: str | None = None,
    *,
    force_reply: bool = False,
) -> list[Sent]:
    """Show `parts` as what answers `key`, in place of what stands there for it; the messages.

    A part that already shows this turn is left alone: after a crash this goes on where it ended. A part that was being
    sent when the process died is sent again; the log says that it may stand there twice.
    """
    post, line = connection.club.post, connection.line
    delivered = await post.delivered(key)
    messages = []
    for part, shown in enumerate(parts):
        found = delivered.get(part)
        sent = _read(found.message) if found is not None else None
        if found is not None and sent is None:
            log.warning("perhaps said twice", extra={"event_key": key, "part": part})
        if sent is not None and turn is not None and found is not None and found.turn == turn:
            messages.append(sent)
            continue
        if sent is not None:
            sent = await _replaced(connection, spot, sent, shown)
        if sent is None:
            await post.sending(where, key, part)
            place = spot if part == 0 else Spot(spot.chat, spot.topic)
            sent = await line.send(place, shown, force_reply=force_reply)
        await post.sent(where, key, part, _written(sent), turn)
        messages.append(sent)
    for part, found in delivered.items():
        if part >= len(parts):
            if (old := _read(found.message)) is not None:
                await line.delete(spot.chat, old)
            await post.withdrawn(key, part)
    return messages


async def _replaced(connection: Connection, spot: Spot, sent: Sent, shown: Shown) -> Sent | None:
    """The message with new content; None when there has to be a new one."""
    if sent.picture and shown.picture is None:
        await connection.line.delete(spot.chat, sent)  # a picture cannot become a text
        return None
    try:
        return await connection.line.edit(spot.chat, sent, shown)
    except Gone:
        return None


def _written(sent: Sent) -> str:
    return f"{sent.id}p" if sent.picture else str(sent.id)


def _read(message: str | None) -> Sent | None:
    if message is None:
        return None
    return Sent(int(message.removesuffix("p")), picture=message.endswith("p"))


def message_of(written: str) -> Sent:
    """A message on record."""
    return _read(written) or Sent(0)
