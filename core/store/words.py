"""What people and models wrote, taken out of rows that stay: questions, answers, and the replies answers were made of."""

from datetime import timedelta

from sqlalchemy import ColumnElement, bindparam, delete, func, or_, select, type_coerce, update
from sqlalchemy import Text as SqlText
from sqlalchemy.ext.asyncio import AsyncConnection

from core.model import Forgotten
from core.store import schema

_question = schema.question.c
_turn = schema.turn.c
_call = schema.llm_call.c

_SUMMARIES = "summarise"
"""The purpose of the calls whose replies belong to a book, not to an answer."""
_LONGEST = timedelta(minutes=10)
"""An answer takes no longer; the replies it was made of were recorded between its beginning and then."""


async def blank_questions(connection: AsyncConnection, which: ColumnElement[bool]) -> int:
    """Take the words out of these questions, wherever they are kept; how many still had any."""
    ids = select(_question.id).where(which)
    words = select(_question.text).where(which, _question.text != "")
    channels = select(_question.channel).where(which)
    # What stood in for an answer while the provider was down repeats the question, and has no number of it.
    interim = (_turn.question.is_(None), _turn.channel.in_(channels), _turn.asked.in_(words))
    await connection.execute(update(schema.turn).where(*interim).values(asked=""))
    await connection.execute(update(schema.turn).where(_turn.question.in_(ids), _turn.asked != "").values(asked=""))
    blanked = update(schema.question).where(which, or_(_question.text != "", _question.book.is_not(None)))
    return max(0, (await connection.execute(blanked.values(text="", book=None, limit_words=None))).rowcount)


async def blank_answers(connection: AsyncConnection, which: ColumnElement[bool]) -> Forgotten:
    """Take the words out of these answers; their footnotes stay, and so do the counts of what was dropped."""
    full = type_coerce(_turn.document, SqlText) != "[]"
    rows = (await connection.execute(select(_turn.sequence, _turn.dropped).where(which, full))).all()
    if not rows:
        return Forgotten()
    numbers = [row.sequence for row in rows]
    replies = 0
    for first in range(0, len(numbers), 500):
        some = _turn.sequence.in_(numbers[first : first + 500])
        replies += await replies_of(connection, some)
        seen = func.coalesce(_turn.shown_at, _turn.asked_at)
        bare = update(schema.turn).where(some)
        await connection.execute(bare.values(asked="", document=[], notices=[], evidence=[], shown_at=seen))
    drops = [{"at": row.sequence, "bare": [("", why) for _, why in row.dropped]} for row in rows if row.dropped]
    if drops:
        one = update(schema.turn).where(_turn.sequence == bindparam("at"))
        await connection.execute(one.values(dropped=bindparam("bare")), drops)
    return Forgotten(answers=len(rows), replies=replies)


async def replies_of(connection: AsyncConnection, which: ColumnElement[bool]) -> int:
    """Delete the model's replies these answers were made of; how many. Nothing links them but the time.

    A reply to somebody else at the same moment may go with them; it was only kept for a crash in the midst of that answer.
    """
    gone = 0
    for (begun,) in (await connection.execute(select(_turn.asked_at).where(which, _turn.calls > 0))).all():
        mine = (_call.purpose != _SUMMARIES, _call.at >= begun, _call.at <= begun + _LONGEST)
        gone += max(0, (await connection.execute(delete(schema.llm_call).where(*mine))).rowcount)
    return gone
