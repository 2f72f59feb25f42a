"""Buttons: what their ids carry, and the one persistent item that hears them all, also under messages from before a restart."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import discord

from adapters.discord.view import LABEL, Rows
from core.model import Choice

Interaction = discord.Interaction[Any]
Pressed = Callable[[Interaction, str, str], Awaitable[None]]
"""(the interaction, the kind of the button, what it carries)."""

KINDS = ("note", "act", "step", "close", "share", "page", "stop", "thread", "anyway")
PATTERN = re.compile(rf"(?P<kind>{'|'.join(KINDS)}):(?P<id>[A-Za-z0-9_.-]{{0,80}})", re.ASCII)

_STYLES = {"note": discord.ButtonStyle.primary, "stop": discord.ButtonStyle.danger}


class Button(discord.ui.DynamicItem[discord.ui.Button[Any]], template=PATTERN):
    """A button of ours. `hear` is set once, when the bot starts."""

    hear: Pressed

    def __init__(self, choice: Choice, kind: str, row: int | None = None) -> None:
        style = _STYLES.get(kind, discord.ButtonStyle.secondary)
        label = choice.label if len(choice.label) <= LABEL else f"{choice.label[: LABEL - 1]}…"
        super().__init__(discord.ui.Button(label=label, custom_id=f"{kind}:{choice.id}", style=style, row=row))

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: Any, match: re.Match[str]) -> "Button":
        return cls(Choice(item.label or "", match["id"]), match["kind"])

    async def callback(self, interaction: Interaction) -> Any:
        found = PATTERN.fullmatch(self.custom_id)
        if found is not None:
            await type(self).hear(interaction, found["kind"], found["id"])


def drawn(rows: Rows, about: str = "") -> discord.ui.View | None:
    """The buttons as the library sends them; None when there are none. `about`: the note a Close button belongs to."""
    if not rows:
        return None
    view = discord.ui.View(timeout=None)
    for number, row in enumerate(rows):
        for choice in row:
            if choice.kind == "link":
                view.add_item(discord.ui.Button(label=choice.label[:LABEL], url=choice.id, row=number))
                continue
            kind, id = _named(choice, about)
            view.add_item(Button(Choice(choice.label, id), kind, number))
    view.stop()  # the library keeps no memory of it: every press goes to the one item above
    return view


def _named(choice: Choice, about: str) -> tuple[str, str]:
    if choice.kind == "close":
        return "close", about
    kind, colon, id = choice.id.partition(":")
    if colon and kind in KINDS:  # one of this adapter's own
        return kind, id
    return choice.kind, choice.id


def is_ours(interaction: Interaction, custom_id: str) -> bool:
    """True when the pressed button stands under its message and is one that we make."""
    if PATTERN.fullmatch(custom_id) is None or interaction.message is None:
        return False
    rows = interaction.message.components
    return any(getattr(item, "custom_id", None) == custom_id for row in rows for item in getattr(row, "children", ()))
