"""Questions to talk about: drafted for one organiser, each with a proven note, posted one by one; what was answered to them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.errors import Missing, ReaderError
from core.footnotes import settle
from core.limits import strictest
from core.meeting.drafting import LONGEST, QUESTIONS, offered, plain_words
from core.meeting.means import Means, manages
from core.meeting.outline import spelled
from core.meeting.proven import proven_line, words_of
from core.model import (
    Answer,
    Block,
    BookCard,
    Cite,
    Conversation,
    Document,
    Footnote,
    Letter,
    Limit,
    Notice,
    Paragraph,
    Position,
    Quote,
    Reader,
    Text,
    Turn,
    Usage,
)
from core.progress import Progress
from core.retrieval import Source
from core.rights import check_change
from core.store import DiscussionRow, RemarkRow, TopicRow
from core.strings import say
from core.tags import tag

RESERVE = 3
"""Further questions asked for at once, for whoever wants another one."""
REPLIES = "replies"
"""The channel's setting: True when answers to posted questions may be kept for the wrap-up."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A question of a draft; `note` is the first of its notes, numbered as the question."""

    id: str
    number: int
    document: Document
    kept: bool
    note: Footnote


@dataclass(frozen=True, slots=True)
class Draft:
    id: str
    card: BookCard
    limit: Limit
    topics: tuple[Topic, ...]
    notices: tuple[Notice, ...] = ()


class Discussions:
    """Drafts, posts and wraps up. Organising is for whoever manages the chat or added the book."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._progress = Progress(means.store, means.now)

    # The draft

    async def prepare(
        self, conversation: Conversation, reader: Reader, choice: str | None = None, words: str | None = None
    ) -> Draft:
        """A new draft of five questions up to `words` ("2", "chapter 2"), never past the club's limit of now.

        Raises ReaderError for somebody who may not, for words that name no place, and when nothing has been read yet.
        """
        means = self._means
        card = await means.card(conversation, choice)
        check_change(reader, card.added_by)
        source = await means.source(conversation, card)
        if words:
            read = source.end
            source = source.up_to(f"finished {words}" if words.isdecimal() else words)
            if source.end < read and not await source.runs_between(Position(0, 0), source.end):
                raise ReaderError("discuss_nothing_before", title=card.title)
        contents = await means.store.books.contents(card.sha256, card.text_version)
        limit_words = spelled(contents, source.limit.position) if contents else source.limit.words
        source = source.within(limit_words)  # what is asked now is looked at under these words when it is posted
        if not await source.runs_between(Position(0, 0), source.end):
            raise ReaderError("discuss_nothing_read", title=card.title)
        found, notices = await offered(means, conversation, reader, source, QUESTIONS + RESERVE)
        channel = await means.channel(conversation)
        row = DiscussionRow(
            means.new_id(), conversation, reader.id, card.sha256, card.text_version, limit_words, None, means.now()
        )
        topics = [
            TopicRow(means.new_id(), row.id, place if place <= QUESTIONS else None, document, runs, False)
            for place, (document, runs) in enumerate(found, 1)
        ]
        await means.store.discussions.begin(channel, row, topics)
        await self._keep_first_notes(conversation, row, topics)
        return replace(await self._draft(conversation, row), notices=notices)

    async def mine(self, conversation: Conversation, reader: Reader) -> Draft | None:
        """The draft this reader has not posted yet; None also when it may not be shown any more."""
        channel = await self._means.channel(conversation)
        row = await self._means.store.discussions.latest(channel, conversation.thread, posted=False, reader=reader.id)
        try:
            if row is not None:
                await self._organises(conversation, reader, row)
            return None if row is None else await self._draft(conversation, row)
        except ReaderError:  # its book was taken away, the club's place moved back behind it, the reader's rights ended
            return None

    async def keep(self, conversation: Conversation, reader: Reader, topic: str) -> Draft:
        """Mark a question as wanted, or take the mark away."""
        row, wanted = await self._my_topic(conversation, reader, topic)
        await self._means.store.discussions.keep(topic, not wanted.kept)
        return await self._draft(conversation, row)

    async def another(self, conversation: Conversation, reader: Reader, topic: str) -> Draft:
        """Another question in the place of one. Raises ReaderError when the text gives no other."""
        means = self._means
        row, old = await self._my_topic(conversation, reader, topic)
        notices: tuple[Notice, ...] = ()
        if not await means.store.discussions.exchange(old.id):
            topics = await means.store.discussions.topics(row.id)
            source = await self._source(conversation, row)
            known = [plain_words(one.document) for one in topics]
            found, notices = await offered(means, conversation, reader, source, 1 + RESERVE, known, enough=1)
            taken = {one.runs[0] for one in topics}
            reserve = [
                TopicRow(means.new_id(), row.id, None, document, runs, False)
                for document, runs in found
                if runs[0] not in taken or plain_words(document) not in known
            ]
            if not reserve:
                raise ReaderError("discuss_no_other")
            await means.store.discussions.add(await means.channel(conversation), row.id, reserve)
            await self._keep_first_notes(conversation, row, reserve)
            await means.store.discussions.exchange(old.id)
        return replace(await self._draft(conversation, row), notices=notices)

    async def drafted(self, conversation: Conversation, reader: Reader, number: int) -> str:
        """The id of a question of this reader's draft. Raises Missing when there is none."""
        channel = await self._means.channel(conversation)
        row = await self._means.store.discussions.latest(channel, conversation.thread, posted=False, reader=reader.id)
        for topic in await self._means.store.discussions.topics(row.id) if row else ():
            if topic.place == number:
                return topic.id
        raise Missing("discuss_no_such", number=number)

    async def wording(self, conversation: Conversation, reader: Reader, topic: str) -> str:
        """The words of a question of this reader's draft, without the passage it may quote."""
        _, old = await self._my_topic(conversation, reader, topic)
        return plain_words(tuple(block for block in old.document if not isinstance(block, Quote)))

    async def rewrite(self, conversation: Conversation, reader: Reader, topic: str, words: str) -> Draft:
        """The organiser's own words for a question; its notes and its passage stay. Nothing tag-shaped is let through."""
        row, old = await self._my_topic(conversation, reader, topic)
        said = " ".join(words_of(proven_line(settle(words, (), grounded=False))).split())
        if not any(map(str.isalnum, said)) or len(said) > LONGEST:
            raise ReaderError("discuss_edit_words", most=LONGEST)
        passage = tuple(block for block in old.document if isinstance(block, Quote))
        cites = [] if passage else [Cite(at) for at in range(1, len(old.runs) + 1)]
        asked = Paragraph((Text(f"{said} "), *cites)) if cites else Paragraph((Text(said),))
        await self._means.store.discussions.rewrite(old.id, (asked, *passage))
        return await self._draft(conversation, row)

    # Posting

    async def post(self, conversation: Conversation, reader: Reader, discussion: str) -> int:
        """Hand the kept questions (all, when none is marked) to the outbox, each a letter of its own; how many.

        Raises ReaderError when it was posted, or when the club's limit has moved back behind it.
        """
        means = self._means
        channel = await means.channel(conversation)
        row = await means.store.discussions.get(channel, discussion)
        if row is None or row.reader != reader.id:
            raise Missing("unknown_button")
        if row.posted_at is not None:
            raise ReaderError("discuss_posted")
        source = await self._organises(conversation, reader, row)
        topics = [one for one in await means.store.discussions.topics(row.id) if one.place]
        chosen = [one for one in topics if one.kept] or topics
        proven = [one for one in chosen if one.runs and all([await source.is_run(run) for run in one.runs])]
        letters = [Letter(f"{row.id}:00", row.conversation, "discussion", means.now(), {"discussion": row.id})]
        for number, topic in enumerate(proven, 1):
            await self._as_turn(channel, row, topic, number, source, reader.locale)
            params = {"topic": topic.id, "number": number, "of": len(proven)}
            letters.append(Letter(f"{row.id}:{number:02}", row.conversation, "discussion", means.now(), params))
        if not await means.store.discussions.post(channel, row.id, [one.id for one in proven], letters, means.now()):
            raise ReaderError("discuss_posted")
        return len(proven)

    async def head(self, conversation: Conversation, discussion: str) -> tuple[BookCard, Limit] | None:
        """What a posted discussion is about; None when that may not be said any more."""
        row = await self._means.store.discussions.get(await self._means.channel(conversation), discussion)
        if row is None:
            return None
        try:
            source = await self._source(conversation, row)
        except ReaderError:
            return None
        return source.card, source.limit

    async def told(self, conversation: Conversation, topic: str) -> Turn | None:
        """A posted question as it may be shown under the limit of now; None when it may not."""
        channel = await self._means.channel(conversation)
        turn = await self._means.store.turns.get(topic)
        if turn is None or not turn.answer.document:
            return None
        now = await self._progress.told(channel, turn)
        return now if now.answer.document == turn.answer.document else None

    async def is_topic(self, conversation: Conversation, turn: str) -> bool:
        """True when a message that shows this turn is a posted question."""
        channel = await self._means.channel(conversation)
        return await self._means.store.discussions.topic(channel, turn) is not None

    async def numbered(self, conversation: Conversation, number: int) -> str:
        """The id of a question of the latest discussion here. Raises Missing when there is none."""
        for topic in (await self.held(conversation))[1]:
            if topic.place == number:
                return topic.id
        raise Missing("discuss_no_such", number=number)

    async def remark(self, conversation: Conversation, reader: Reader, topic: str, words: str, event: str) -> bool:
        """What somebody answered to a posted question; False when the channel has not agreed to that being kept."""
        channel = await self._means.channel(conversation)
        settings = await self._means.store.shelf.settings(channel)
        if not settings.get(REPLIES) or not words.strip():
            return False
        await self._means.store.discussions.remark(
            channel, event, RemarkRow(topic, reader.id, words.strip(), self._means.now())
        )
        return True

    async def agree(self, conversation: Conversation, reader: Reader, wanted: bool) -> None:
        """Let answers be kept in this channel from now on, or no more. For whoever manages it."""
        manages(reader)
        channel = await self._means.channel(conversation)
        await self._means.store.shelf.change_settings(channel, {REPLIES: True if wanted else None})

    async def held(self, conversation: Conversation) -> tuple[DiscussionRow, tuple[TopicRow, ...]]:
        """The latest discussion that was posted here, with its questions. Raises Missing when there is none.

        In a thread that hangs on one of its questions it is that one.
        """
        channel = await self._means.channel(conversation)
        row = await self._means.store.discussions.latest(channel, conversation.thread, posted=True)
        if row is None and conversation.thread is not None:
            turn = await self._means.post.turn_of(conversation, conversation.thread)
            topic = None if turn is None else await self._means.store.discussions.topic(channel, turn)
            row = None if topic is None else await self._means.store.discussions.get(channel, topic.discussion)
        if row is None:
            raise Missing("wrap_nothing")
        topics = await self._means.store.discussions.topics(row.id)
        return row, tuple(replace(topic, place=number) for number, topic in enumerate(topics, 1))

    # Inside

    async def _source(self, conversation: Conversation, row: DiscussionRow) -> Source:
        """The book up to the discussion's limit. Raises ReaderError when the club's has moved back behind that."""
        channel = await self._means.channel(conversation)
        source = await Source.open(self._means.store, channel, row.book, text_version=row.text_version)
        limit = source.kept_limit(row.limit_words)
        if strictest((limit, source.limit)).position != limit.position:
            raise ReaderError("discuss_past_limit")
        return source.within(row.limit_words)

    async def _organises(self, conversation: Conversation, reader: Reader, row: DiscussionRow) -> Source:
        """The same, for somebody who may organise now: a draft outlives the rights of who prepared it."""
        source = await self._source(conversation, row)
        check_change(reader, source.card.added_by)
        return source

    async def _my_topic(self, conversation: Conversation, reader: Reader, topic: str) -> tuple[DiscussionRow, TopicRow]:
        channel = await self._means.channel(conversation)
        found = await self._means.store.discussions.topic(channel, topic)
        row = await self._means.store.discussions.get(channel, found.discussion) if found else None
        if found is None or row is None or row.reader != reader.id or not found.place:
            raise Missing("unknown_button")
        if row.posted_at is not None:
            raise ReaderError("discuss_posted")
        await self._organises(conversation, reader, row)
        return row, found

    async def _draft(self, conversation: Conversation, row: DiscussionRow) -> Draft:
        source = await self._source(conversation, row)
        topics = []
        for topic in await self._means.store.discussions.topics(row.id):
            if topic.place:
                note = _note(topic, 0, topic.place, row)
                shown = tuple(_numbered(topic.document, topic.place))
                topics.append(Topic(topic.id, topic.place, shown, topic.kept, note))
        return Draft(row.id, source.card, source.limit, tuple(topics))

    async def _keep_first_notes(
        self, conversation: Conversation, row: DiscussionRow, topics: Sequence[TopicRow]
    ) -> None:
        await self._means.keep_notes(conversation, [_note(topic, 0, 1, row) for topic in topics], row.id)

    async def _as_turn(
        self, channel: int, row: DiscussionRow, topic: TopicRow, number: int, source: Source, locale: str | None
    ) -> None:
        """Store a question as a turn: its notes answer, a reply to it is known, the limit of each day holds."""
        if await self._means.store.turns.get(topic.id) is not None:
            return  # a crash came between this and the end of posting
        notes = tuple(replace(_note(topic, at, at + 1, row), id=self._means.new_id()) for at in range(len(topic.runs)))
        turn = Turn(
            id=topic.id,
            conversation=row.conversation,
            question=say("discuss_question", locale, number=number),
            answer=Answer(topic.document, notes, "grounded"),
            books=((row.book, row.text_version),),
            evidence=(topic.runs,),
            usage=Usage(),
            model="",
            limit=source.limit,
            asked_at=self._means.now(),
        )
        await self._means.store.turns.save(turn, channel, None)


def _note(topic: TopicRow, at: int, number: int, row: DiscussionRow) -> Footnote:
    run = topic.runs[at]
    return Footnote(number, tag(run), row.book, row.text_version, run, f"{topic.id}-{at + 1}")


def _numbered(document: Document, number: int) -> Document:
    """The question in a draft: its first note alone, by the question's number."""
    blocks: list[Block] = []
    for block in document:
        if isinstance(block, Quote):
            blocks.append(Quote(_numbered(block.children, number)))
        elif isinstance(block, Paragraph):
            children = [
                Cite(number) if isinstance(child, Cite) else child
                for child in block.children
                if not isinstance(child, Cite) or child.number == 1
            ]
            blocks.append(Paragraph(tuple(children)))
    return tuple(blocks)
