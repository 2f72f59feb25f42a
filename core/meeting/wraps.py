"""A discussion as a Markdown file: questions, what was answered where that may be kept, quotations with exact sources."""

from dataclasses import dataclass

from core import document
from core.errors import Missing, ReaderError
from core.meeting.discussions import REPLIES, Discussions
from core.meeting.means import Means
from core.meeting.sourced import Link, sourced
from core.model import Conversation, Paragraph, Reader, Text
from core.rights import check_change
from core.store import RemarkRow
from core.strings import say, say_limit


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The file, and how much it holds. `consent`: whether this channel lets answers be kept."""

    text: str
    questions: int
    replies: int
    quotes: int
    consent: bool


class Wraps:
    """Wraps discussions up."""

    def __init__(self, means: Means, discussions: Discussions) -> None:
        self._means = means
        self._discussions = discussions

    async def wrap(
        self, conversation: Conversation, reader: Reader, locale: str | None, link: Link | None = None
    ) -> Wrapped:
        """The latest discussion that was posted here. For whoever may organise.

        Raises Missing when there is none, ReaderError when the club's limit has moved back behind it.
        """
        means = self._means
        channel = await means.channel(conversation)
        row, topics = await self._discussions.held(conversation)
        card = await means.store.shelf.card(channel, row.book)
        if card is None:
            raise Missing("book_removed")
        check_change(reader, card.added_by)
        about = await self._discussions.head(conversation, row.id)
        if about is None:
            raise ReaderError("discuss_past_limit")
        consent = bool((await means.store.shelf.settings(channel)).get(REPLIES))
        remarks = await means.store.discussions.remarks([topic.id for topic in topics]) if consent else ()
        reach = say_limit(about[1], locale)
        parts = [
            f"# {_literal(say('wrap_title', locale, title=card.title, reach=reach))}",
            f"*{(row.posted_at or row.at):%Y-%m-%d %H:%M} UTC*",
        ]
        quotes = questions = replies = 0
        names: dict[str, str] = {}
        for topic in topics:
            turn = await self._discussions.told(conversation, topic.id)
            if turn is None:
                continue
            questions += 1
            parts.append(f"## {questions}")
            parts.append(document.markdown(turn.answer.document))
            for note in turn.answer.footnotes:
                parts.append(await sourced(self._means, channel, conversation, note, locale, link))
                quotes += 1
            answers = [remark for remark in remarks if remark.topic == topic.id]
            parts += [_answered(remark, names, locale) for remark in answers]
            replies += len(answers)
        text = "\n\n".join(parts) + "\n"
        return Wrapped(text, questions, replies, quotes, consent)


def _answered(remark: RemarkRow, names: dict[str, str], locale: str | None) -> str:
    """One answer. Nobody is named: readers are told apart by letters."""
    if not remark.reader:
        name = "–"
    else:
        name = names.setdefault(remark.reader, _letters(len(names)))
    words = "\n".join(f"> {_literal(line)}" for line in remark.words.splitlines())
    return f"**{say('wrap_reader', locale, name=name)}** · {remark.at:%Y-%m-%d %H:%M} UTC\n\n{words}"


def _letters(number: int) -> str:
    """A, B … Z, AA, AB …"""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _literal(text: str) -> str:
    return document.markdown((Paragraph((Text(text),)),))
