"""When the club wants to be how far: dates, plans, reminders in its own zone. Nothing here moves the club's limit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from core import hours
from core.errors import Missing, ReaderError
from core.meeting.calendar import Plan, read_date, read_plan, shares, unclear
from core.meeting.means import Means
from core.meeting.outline import outline, spelled
from core.model import BookCard, Conversation, Letter, Limit, Position, Reader
from core.rights import check_change
from core.store import AppointmentRow

MOST = 200
"""Dates a channel may have ahead of it."""
SHOWN = 10
"""Dates a list shows."""


@dataclass(frozen=True, slots=True)
class Date:
    """One of them. `local` is the wall clock in `zone`; `limit` names no title."""

    id: str
    card: BookCard
    limit: Limit
    local: datetime
    zone: str
    due: datetime
    chapters: int = 0
    """How many chapters are read for it, in a plan."""


class Schedule:
    """Makes, lists, moves and calls off. For whoever manages the chat or added the book."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def zone(self, conversation: Conversation) -> str:
        return hours.zone_of(await self._settings(conversation)).key

    async def set_zone(self, conversation: Conversation, reader: Reader, said: str) -> str:
        """The channel's zone from now on; dates made before stay at their moment. Raises ReaderError for no such zone."""
        if not reader.manages:
            raise ReaderError("managers_only")
        name = hours.find_zone(said)
        if name is None:
            raise ReaderError("schedule_no_zone", zone=" ".join(said.split())[:60])
        await self._means.store.shelf.change_settings(await self._means.channel(conversation), {hours.ZONE: name})
        return name

    async def quiet(self, conversation: Conversation) -> tuple[int, int] | None:
        """The hours in which nothing is said unasked."""
        return hours.quiet_of(await self._settings(conversation))

    async def set_quiet(self, conversation: Conversation, reader: Reader, quiet: tuple[int, int] | None) -> None:
        """The hours in which nothing is said unasked; None: there are none."""
        if not reader.manages:
            raise ReaderError("managers_only")
        if quiet is not None and (quiet[0] == quiet[1] or not all(0 <= hour <= 23 for hour in quiet)):
            raise ReaderError("schedule_quiet_how")
        changes = {hours.QUIET: list(quiet) if quiet else False}
        await self._means.store.shelf.change_settings(await self._means.channel(conversation), changes)

    async def make(
        self, conversation: Conversation, reader: Reader, said: str, choice: str | None = None
    ) -> tuple[Date, ...]:
        """One date ("finished 3 2026-12-05 19:00") or a plan ("two chapters a week from Monday"), with their reminders.

        What was agreed before, or is said again after a crash, is not made twice. Raises ReaderError for words that are neither, for a place the book does not have, and for a date that is past.
        """
        means = self._means
        card = await means.card(conversation, choice)
        check_change(reader, card.added_by)
        settings = await self._settings(conversation)
        zone = hours.zone_of(settings)
        today = means.now().astimezone(zone).date()
        plan = read_plan(said, today)
        if plan is not None:
            wanted = await self._planned(conversation, card, plan)
        else:
            found = read_date(said, today)
            if found is None:
                raise ReaderError("schedule_which_hour" if unclear(said) else "schedule_how_short")
            source = await means.source(conversation, card)
            contents = await means.store.books.contents(card.sha256, card.text_version)
            words = f"finished {found[0]}" if found[0].isdecimal() else found[0]
            position = source.read_limit(words).position
            chapters = outline(contents) if contents else ()
            if position is not None and position <= (chapters[0].start if chapters else Position(0, 0)):
                raise ReaderError("discuss_nothing_before", title=card.title)
            wanted = [(spelled(contents, position) if contents else "all", found[1], 0)]
        channel = await means.channel(conversation)
        ahead = await means.store.appointments.of(channel, means.now())
        known = {(row.conversation, row.book, row.limit_words, row.due): row for row in ahead}
        rows = []
        for words, local, _ in wanted:
            due = hours.moment(local, zone)
            if due <= means.now():
                raise ReaderError("schedule_past", when=f"{local:%Y-%m-%d %H:%M}", zone=zone.key)
            made = AppointmentRow(
                means.new_id(),
                conversation,
                card.sha256,
                words,
                local.isoformat(timespec="minutes"),
                zone.key,
                due,
                reader.id,
            )
            rows.append(known.get((conversation, made.book, made.limit_words, made.due), made))
        new = [row for row in rows if row not in ahead]
        if len(ahead) + len(new) > MOST:
            raise ReaderError("schedule_too_many", most=MOST)
        await means.store.appointments.add(channel, new)
        for row in rows:  # of those agreed before as well: a crash may have come before their letters
            await self._remind(row)
        return tuple(
            [await self._date(conversation, row, count) for row, (_, _, count) in zip(rows, wanted, strict=True)]
        )

    async def ahead(self, conversation: Conversation) -> tuple[Date, ...]:
        """The dates to come, the next one first."""
        channel = await self._means.channel(conversation)
        rows = await self._means.store.appointments.of(channel, self._means.now())
        found = []
        for row in rows:
            try:
                found.append(await self._date(conversation, row))
            except Missing:  # its book was taken away
                continue
        return tuple(found)

    async def call_off(self, conversation: Conversation, reader: Reader, number: int | None) -> int:
        """Take away one date by its number in the list, or all to come; how many."""
        dates = await self.ahead(conversation)
        if number is not None:
            if not 1 <= number <= len(dates):
                raise Missing("schedule_no_such", number=number)
            dates = dates[number - 1 : number]
        for one in dates:
            check_change(reader, one.card.added_by)
        channel = await self._means.channel(conversation)
        return await self._means.store.appointments.remove(channel, [one.id for one in dates])

    async def put_off(self, conversation: Conversation, reader: Reader, id: str, days: int) -> Date:
        """The same date so many days later, at the same hour of the wall clock, in the future."""
        means = self._means
        channel = await means.channel(conversation)
        row = await means.store.appointments.get(channel, id)
        if row is None:
            raise Missing("schedule_gone")
        found = await self._date(conversation, row)
        check_change(reader, found.card.added_by)
        zone = hours.zone_of({hours.ZONE: row.zone})
        local = datetime.fromisoformat(row.local)
        today = means.now().astimezone(zone).date()
        local = datetime.combine(max(local.date(), today) + timedelta(days=days), local.time())
        due = hours.moment(local, zone)
        spelled_local = local.isoformat(timespec="minutes")
        await means.store.appointments.move(id, spelled_local, row.zone, due)
        moved = await means.store.appointments.get(channel, id)
        assert moved is not None
        await self._remind(moved)
        return await self._date(conversation, moved)

    async def reminded(self, letter: Letter) -> tuple[Date, bool] | None:
        """What a reminder is about, and whether the hour has come; None when there is nothing to say any more.

        Nothing is said of a date that was moved or called off, of one whose book is gone, the day before once it is
        past, and when the club is there already.
        """
        means = self._means
        channel = await means.channel(letter.conversation)
        row = await means.store.appointments.get(channel, str(letter.params["appointment"]))
        if row is None or row.local != letter.params["local"]:
            return None
        now = means.now() >= row.due
        if letter.params["before"] and now:
            return None
        try:
            found = await self._date(letter.conversation, row)
        except Missing:
            return None
        if found.card.limit_words is not None:
            source = await means.source(letter.conversation, found.card)
            there = source.limit.position
            if there is None or (found.limit.position is not None and there >= found.limit.position):
                return None
        return found, not letter.params["before"]

    async def _remind(self, row: AppointmentRow) -> None:
        """The day before at the same hour, and at the hour itself."""
        zone = hours.zone_of({hours.ZONE: row.zone})
        eve = hours.moment(datetime.fromisoformat(row.local) - timedelta(days=1), zone)
        params = {"appointment": row.id, "local": row.local}
        if eve > self._means.now():
            letter = Letter(
                f"{row.id}:{row.local}:before", row.conversation, "reminder", eve, {**params, "before": True}
            )
            await self._means.post.owe(letter)
        letter = Letter(f"{row.id}:{row.local}", row.conversation, "reminder", row.due, {**params, "before": False})
        await self._means.post.owe(letter)

    async def _planned(self, conversation: Conversation, card: BookCard, plan: Plan) -> list[tuple[str, datetime, int]]:
        """The rest of the book in shares of about `plan.count` chapters, as even in length as whole chapters can be."""
        source = await self._means.source(conversation, card)
        contents = await self._means.store.books.contents(card.sha256, card.text_version)
        chapters = outline(contents) if contents else ()
        if source.bounded:
            chapters = tuple(chapter for chapter in chapters if chapter.end > source.end)
        if not chapters:
            raise ReaderError("schedule_no_chapters")
        ends = shares([chapter.characters for chapter in chapters], -(-len(chapters) // plan.count))
        found, begin = [], 0
        for number, end in enumerate(ends, 1):
            day: date = plan.first + timedelta(days=plan.days * number)
            words = f"finished {chapters[end - 1].number}"
            found.append((words, datetime.combine(day, plan.at), end - begin))
            begin = end
        return found

    async def _date(self, conversation: Conversation, row: AppointmentRow, chapters: int = 0) -> Date:
        """Raises Missing when the book is not here any more."""
        channel = await self._means.channel(conversation)
        card = await self._means.store.shelf.card(channel, row.book)
        if card is None:
            raise Missing("book_removed")
        source = await self._means.source(conversation, card)
        limit = source.kept_limit(row.limit_words)
        local = datetime.fromisoformat(row.local)
        return Date(row.id, card, limit, local, row.zone, row.due, chapters)

    async def _settings(self, conversation: Conversation) -> dict[str, object]:
        return await self._means.store.shelf.settings(await self._means.channel(conversation))


def next_dates(dates: Sequence[Date]) -> Sequence[Date]:
    """As many as a list shows."""
    return dates[:SHOWN]
