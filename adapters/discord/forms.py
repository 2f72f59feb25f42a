"""Forms: a text to be filled in, opened by a button. What comes back names that button, so a restart in between is no harm."""

from typing import Any

import discord

from adapters.discord.buttons import Interaction
from adapters.discord.text import units
from core.model import Form

_NAME = "form:"
_FIELD = "written"


def drawn(form: Form, id: str) -> discord.ui.Modal:
    """The form as the library sends it; `id` is that of the button which brings it."""
    text = form.text
    while units(text) > form.most:
        text = text[:-1]
    field: discord.ui.TextInput[Any] = discord.ui.TextInput(
        style=discord.TextStyle.paragraph, custom_id=_FIELD, default=text, max_length=form.most
    )
    modal = discord.ui.Modal(title=form.title, custom_id=f"{_NAME}{id}")
    modal.add_item(discord.ui.Label(text=form.label, component=field))
    modal.stop()  # the library keeps no memory of it, which a restart would end
    return modal


def sent(interaction: Interaction) -> tuple[str, str] | None:
    """The id of the button that brought a form of ours, and what was written; None for another's."""
    data: Any = interaction.data or {}
    name = str(data.get("custom_id", ""))
    for row in data.get("components", ()):
        for item in row.get("components") or [row.get("component") or {}]:
            if item.get("custom_id") == _FIELD and name.startswith(_NAME):
                return name.removeprefix(_NAME), str(item.get("value", ""))
    return None
