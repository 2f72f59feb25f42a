"""What the desk hands an adapter to show: a document with buttons under it, free of any platform. Stdlib only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from core.model.club import Footnote, Passage
from core.model.document import Document


@dataclass(frozen=True, slots=True)
class Choice:
    """A button. A footnote's label begins with its number; no other label begins with a digit.

    `id` is what the platform's button carries: at most 40 bytes of ASCII, opaque. `close` takes the reply away; a `link`
    has an address instead, `copy` the words to be copied (only where the adapter says that it can: `Desk`). `step` shows
    other text in place of this.
    """

    label: str
    id: str
    kind: Literal["note", "act", "step", "close", "link", "copy"] = "act"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file to be sent along."""

    name: str
    data: bytes = field(repr=False)
    media: str


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a checklist: whether something works, and in words what, and how to mend it when it does not."""

    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class Ballot:
    """A poll in which everybody has one vote, for a platform that has polls of its own; elsewhere its buttons are the poll.

    `options`: the id and the title of each, in order. Whoever shows it so remembers which message it is, hands each vote to
    `Desk.vote`, and ends it when a reply says that it is over.
    """

    poll: str
    question: str
    options: tuple[tuple[str, str], ...]
    until: datetime | None = None
    closing: str = ""
    """When that is, in a sentence of the channel's language and zone, for a platform that does not tell; "" without a time."""

    def fits(self, longest: int) -> bool:
        """Whether a platform that takes so many characters of an option can show every title whole."""
        return all(len(title) <= longest for _, title in self.options)


@dataclass(frozen=True, slots=True)
class Form:
    """One text to be filled in, for a platform that has forms; elsewhere the reply's document tells what to type instead.

    What was written goes to `Desk.filled` with the id of the button that brought the form; the reply to that stands in
    place of the message under which the button was.
    """

    title: str
    """At most 24 characters: Slack's limit."""
    label: str
    """Above the field; at most 45 characters: Discord's limit."""
    text: str
    """What stands in the field at first."""
    most: int
    """Characters that may be written."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What was said to the question whether a file that somebody sent is a book for this chat (`Desk.seen`)."""

    event: str
    """The key under which the question stands on record: what comes of the file takes its place."""
    file: Mapping[str, Any]
    """What the adapter needs to fetch it."""
    wanted: bool
    """True: the adapter takes the file in. False: the question is taken away."""

    @property
    def key(self) -> str:
        """The key of taking it in: pressed twice, it is done once."""
        return f"{self.event}:yes"


@dataclass(frozen=True, slots=True)
class Reply:
    """Something to show. `private`: for the one who asked only, where the platform can."""

    document: Document
    choices: tuple[tuple[Choice, ...], ...] = ()
    """Rows of buttons."""
    private: bool = False
    passage: Passage | None = None
    """The passage this shows, for a platform that marks quotations in a way of its own."""
    footnote: Footnote | None = None
    attachments: tuple[Attachment, ...] = ()
    deleted: str | None = None
    """The id of an answer that is gone: its messages are to be deleted."""
    turn: str | None = None
    """What a reply to this message answers: the adapter hands it to `Post.sent` with the message's id."""
    picture: bytes | None = field(default=None, repr=False)
    """A picture to show with it: a cover, a page."""
    ballot: Ballot | None = None
    """The poll this reply opens: a platform with polls of its own shows that in place of the document and its buttons."""
    arrival: Arrival | None = None
    """A file that was asked about: taken in, or let be, instead of showing this."""
    over: str | None = None
    """The id of a poll that takes no more votes: where the platform shows it in its own way, it is ended there."""
    form: Form | None = None
    """A form to open in place of showing this, where the platform has forms and there is still time for one."""
    beside: bool = False
    """True for a word about a press whose message goes on being of use: it takes no message's place."""
    before: "Reply | None" = None
    """What everybody may see instead, with a button that brings this: where only a press can be answered to one alone."""
