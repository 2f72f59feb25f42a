"""The next book at the desk: proposals, a poll with a button for each, the count when it is closed."""

import re
from dataclasses import replace
from datetime import datetime

from core import hours
from core.desk.keys import Action, Visit
from core.desk.notes import in_rows
from core.desk.writing import heading, numbered, paragraphs, sentence
from core.errors import Missing, ReaderError
from core.meeting.calendar import read_date, unclear
from core.meeting.polls import Poll
from core.model import Ballot, Choice, Document, Letter, Reply
from core.strings import is_word, say

_NUMBER = re.compile(r"\d{1,6}")
"""Of a proposal; longer ones are part of a title."""


async def following(visit: Visit, words: str, event: str) -> Reply:
    """What is proposed or voted on; a title proposes it; `vote`, `close`, `remove 2` do what they say."""
    first, _, rest = words.partition(" ")
    polls = visit.club.meeting.polls
    if is_word(first, "next_word_vote"):
        return await _opened(visit, rest.strip(), event)
    if is_word(first, "next_word_close") and not rest:
        if visit.gather is not None:
            await visit.gather(await polls.closable(visit.conversation, visit.reader))
        return await _closed(visit, await polls.close(visit.conversation, visit.reader), undo=True)
    if is_word(first, "quotes_word_remove") and _NUMBER.fullmatch(rest.strip()):
        await polls.withdraw(visit.conversation, visit.reader, int(rest))
        return await _proposed(visit)
    if is_word(first, "quotes_word_remove") and not rest.strip():
        raise ReaderError("next_how", next=visit.spell("next"))
    if words:
        async with visit.club.meeting.alone(visit.conversation):
            await polls.nominate(visit.conversation, visit.reader, words)
        return await _proposed(visit)
    latest = await polls.latest(visit.conversation)
    if latest is not None and not latest.closed:
        if visit.stands is not None and await visit.stands(latest.row.id):
            return Reply(await _question(visit, latest, "next_above"))  # buttons beside it would be a second ballot
        return await _asked(visit, latest)
    if not await polls.waiting(visit.conversation) and latest is not None:
        return await _closed(visit, latest)
    return await _proposed(visit)


async def _opened(visit: Visit, words: str, event: str) -> Reply:
    first, _, rest = words.partition(" ")
    ranked = is_word(first, "next_word_ranked")
    until: datetime | None = None
    said = rest.strip() if ranked else words
    if said:
        # The one reader of dates wants a place before them.
        zone = await visit.club.meeting.schedule.zone(visit.conversation)
        today = visit.club.meeting.today(hours.zone_of({hours.ZONE: zone}))
        found = read_date(f"- {said}", today)
        if found is None and unclear(f"- {said}"):
            raise ReaderError("schedule_which_hour")
        if found is None or found[0] != "-":
            raise ReaderError("next_how", next=visit.spell("next"))
        until = found[1]
    polls = visit.club.meeting.polls
    async with visit.club.meeting.alone(visit.conversation):
        poll = await polls.open(visit.conversation, visit.reader, event=event, ranked=ranked, until=until)
    asked = await _asked(visit, poll)
    if ranked or poll.closed:  # no platform's own polls have ranks
        return asked
    options = tuple((one.id, one.title) for one in poll.candidates)
    question, closing = say("next_which", visit.locale), await _closing(visit, poll)
    return replace(asked, ballot=Ballot(poll.row.id, question, options, poll.row.closes_at, closing))


async def _closing(visit: Visit, poll: Poll) -> str:
    """When it closes, in the zone of the channel; "" for one that is closed by hand."""
    if poll.row.closes_at is None:
        return ""
    zone = hours.zone_of({hours.ZONE: await visit.club.meeting.schedule.zone(visit.conversation)})
    return say("next_until", visit.locale, until=f"{poll.row.closes_at.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key})")


async def _proposed(visit: Visit) -> Reply:
    waiting = await visit.club.meeting.polls.waiting(visit.conversation)
    if not waiting:
        return Reply(sentence("next_nothing", visit.locale, next=visit.spell("next")))
    document: Document = (heading(say("next_proposed", visit.locale)), numbered([one.title for one in waiting]))
    latest = await visit.club.meeting.polls.latest(visit.conversation)
    key = "next_after" if latest is not None and not latest.closed else "next_go_on"
    return Reply(document + sentence(key, visit.locale, next=visit.spell("next")))


async def _question(visit: Visit, poll: Poll, how: str) -> Document:
    """What is voted on, how, until when, and how many have."""
    titles = [one.title for one in poll.candidates]
    document: Document = (heading(say("next_which", visit.locale)), numbered(titles))
    document += sentence(how, visit.locale)
    document += paragraphs(await _closing(visit, poll))
    return document + sentence("next_voters", visit.locale, count=poll.voters)


async def _asked(visit: Visit, poll: Poll) -> Reply:
    document = await _question(visit, poll, "next_ranked_how" if poll.row.ranked else "next_plain_how")
    labelled: list[tuple[str, Action]] = [
        (say("next_vote", visit.locale, number=at), {"do": "poll", "poll": poll.row.id, "choice": one.id})
        for at, one in enumerate(poll.candidates, 1)
    ]
    labelled.append((say("next_over", visit.locale), {"do": "poll", "poll": poll.row.id, "choice": None}))
    return Reply(document, in_rows(await visit.choices(labelled)))


async def act(visit: Visit, action: Action) -> Reply:
    """A vote, or a closing taken back."""
    polls = visit.club.meeting.polls
    if action.get("how") == "reopen":
        return await _asked(visit, await polls.reopen(visit.conversation, visit.reader, str(action["poll"])))
    choice = action["choice"]
    mine = await polls.vote(visit.conversation, visit.reader, str(action["poll"]), choice)
    if not mine:
        return Reply(sentence("next_taken_back", visit.locale), private=True, beside=True)
    order = " › ".join(mine)
    return Reply(sentence("next_voted", visit.locale, order=order), private=True, beside=True)


async def _closed(visit: Visit, poll: Poll, *, undo: bool = False) -> Reply:
    """The count. A tie is said as one."""
    titles = {one.id: one.title for one in poll.candidates}
    document: Document = (heading(say("next_result", visit.locale)),)
    for number, votes in enumerate(poll.count.rounds, 1):
        ordered = sorted(votes.items(), key=lambda one: -one[1])
        line = ", ".join(f"{titles[id]} {given}" for id, given in ordered)
        lead = say("next_round", visit.locale, number=number) if len(poll.count.rounds) > 1 else ""
        document += paragraphs(f"{lead} {line}".strip())
    won = [titles[id] for id in poll.count.winners]
    if not won:
        document += sentence("next_nobody", visit.locale)
    elif len(won) == 1:
        document += sentence("next_winner", visit.locale, title=won[0])
    else:
        document += sentence("next_tie", visit.locale, titles=" · ".join(won))
    rows: tuple[tuple[Choice, ...], ...] = ()
    if undo:
        back: tuple[str, Action] = (
            say("desk_undo", visit.locale),
            {"do": "poll", "how": "reopen", "poll": poll.row.id},
        )
        rows = (await visit.choices([back]),)
    return Reply(document, rows, over=poll.row.id)


async def letter(visit: Visit, letter: Letter) -> Reply | None:
    """The count, when the time of a poll is over; None when it was closed by hand or goes on."""
    try:
        poll = await visit.club.meeting.polls.latest(visit.conversation)
        if poll is None or poll.row.id != letter.params["poll"] or poll.row.closed_at not in (None, poll.row.closes_at):
            return None
        if visit.gather is not None:
            await visit.gather(poll.row.id)
        return await _closed(visit, await visit.club.meeting.polls.ended(visit.conversation, poll.row.id))
    except Missing:
        return None
