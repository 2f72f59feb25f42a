"""Who is at the desk, where, and how commands are spelled there."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.club import Club
from core.model import Check, Choice, Conversation, Passage, Reader

COMMANDS = (
    "ask",
    "books",
    "use",
    "add",
    "remove",
    "undo",
    "toc",
    "quote",
    "progress",
    "place",
    "recap",
    "who",
    "discuss",
    "wrap",
    "schedule",
    "quotes",
    "next",
    "setup",
    "index",
    "export",
    "model",
    "settings",
    "privacy",
    "forget",
    "help",
    "about",
)
"""Every command, in the order a list of them has."""

Action = Mapping[str, Any]
"""What a button does: `do` names it, the rest is what it needs. JSON values."""


LinkFor = Callable[[Conversation, Passage, Reader | None], str]
"""The address of a passage in the reading view, for the reader who asked (None: whoever is in the channel)."""

Gather = Callable[[str], Awaitable[None]]
"""Ends a poll that the platform shows in its own way, by its id, and hands in to `Desk.vote` what it has not handed in yet.

Called before a poll is counted; nothing for one that the platform does not show. What it raises keeps the poll open.
"""

Stands = Callable[[str], Awaitable[bool]]
"""Whether a poll, by its id, stands in the chat in the platform's own way and takes votes there, as far as one can know."""

Checks = Callable[[Conversation, str | None], Awaitable[Sequence[Check]]]
"""Looks at what the platform lets the bot do in a chat, and says so in a language."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One reader's turn at the desk."""

    club: Club
    conversation: Conversation
    reader: Reader
    private: bool
    """True when nobody else is in this chat."""
    spell: Callable[[str], str]
    """How a command is typed on this platform: `/ask`, `/loccit ask`."""
    source: str = ""
    """Where the code lies, for whoever uses it; "" when nobody has said."""
    link_for: LinkFor | None = None
    """Where the reading view shows a passage; None when there is none."""
    gather: Gather | None = None
    """None where polls are our own buttons."""
    stands: Stands | None = None
    """None where polls are our own buttons."""
    checks: Checks | None = None
    """None where there is nothing to look at."""
    copies: int = 0
    """Characters that a button of this platform can copy; 0 where it has no such button."""

    @property
    def locale(self) -> str | None:
        return self.reader.locale

    async def choices(
        self, labelled: Sequence[tuple[str, Action]], *, own: bool = False, step: bool = False
    ) -> tuple[Choice, ...]:
        """Buttons for these actions; with `own` nobody but this reader may press them."""
        actions = [action for _, action in labelled]
        ids = await self.club.post.buttons(self.conversation, actions, self.reader if own else None)
        return tuple(Choice(label, id, "step" if step else "act") for (label, _), id in zip(labelled, ids, strict=True))
