"""A quotation with its exact source, as Markdown."""

from collections.abc import Callable

from core import exports, passages
from core.errors import BrokenPromise, Missing
from core.meeting.means import Means
from core.model import Conversation, Footnote, Passage, Reader
from core.retrieval import Source

Link = Callable[[Conversation, Passage, Reader | None], str]
"""The address of a passage in the reading view."""


async def sourced(
    means: Means, channel: int, conversation: Conversation, note: Footnote, locale: str | None, link: Link | None
) -> str:
    """The passage behind a note with where it stands; what is gone or past the limit says so in its place."""
    opened: exports.Opened
    try:
        source = await Source.cited(means.store, channel, note)
        passage = await passages.open_passage(source, note.span, note.tag, locale=locale)
        opened = exports.Opened(note.number, passage, link(conversation, passage, None) if link else None)
    except (Missing, BrokenPromise) as error:
        opened = exports.Opened(note.number, error)
    return exports.note_as_markdown(opened, locale)
