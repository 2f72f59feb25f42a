"""The store: books, rights, events and turns in one database, originals as files beside it. `Store` composes the rooms.

One code path for SQLite (the default, inside the data folder) and PostgreSQL (by a URL). Every method is one intent
and one transaction; a method that returned has been written durably. Methods may be called from many coroutines.
Every method may raise OperatorError (`disk_full`, `data_unwritable`, `database_unavailable`, `database_damaged`).
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.store.appointments import AppointmentRow, Appointments
from core.store.backups import Backup, restore_backup, save_before_change, write_backup
from core.store.blobs import Originals
from core.store.books import Books
from core.store.buttons import Buttons
from core.store.deliveries import Deliveries
from core.store.discussions import DiscussionRow, Discussions, RemarkRow, TopicRow
from core.store.engines import Engines
from core.store.events import Events
from core.store.forgetting import Forgetting
from core.store.health import Health, read_health, read_room
from core.store.inbox import Inbox, QuestionRow, UploadRow
from core.store.jobs import Jobs, Pending
from core.store.ledger import KeptCall, Ledger
from core.store.letters import Letters
from core.store.memos import Memos
from core.store.models import Models
from core.store.polls import NominationRow, PollRow, Polls
from core.store.progress import Progress
from core.store.queue import Queue
from core.store.quotations import PopularRow, QuotationRow, Quotations
from core.store.segments import EXTRACTIVE, Summary
from core.store.shelf import Shelf
from core.store.spending import Charge, Pot, Spending
from core.store.statistics import CallDay, TurnFacts, read_statistics
from core.store.turns import Pressed, Turns
from core.store.upgrade import bring_up_to_date

__all__ = [
    "EXTRACTIVE",
    "AppointmentRow",
    "Appointments",
    "Backup",
    "Books",
    "CallDay",
    "Charge",
    "DiscussionRow",
    "Discussions",
    "Forgetting",
    "Health",
    "Inbox",
    "Jobs",
    "KeptCall",
    "Ledger",
    "NominationRow",
    "Originals",
    "Pending",
    "PollRow",
    "Polls",
    "PopularRow",
    "Pot",
    "Pressed",
    "Progress",
    "QuestionRow",
    "QuotationRow",
    "Quotations",
    "RemarkRow",
    "Shelf",
    "Spending",
    "Store",
    "Summary",
    "TopicRow",
    "TurnFacts",
    "Turns",
    "UploadRow",
    "read_health",
    "read_room",
    "read_statistics",
    "restore_backup",
    "write_backup",
]


@dataclass(frozen=True, slots=True)
class Store:
    """Everything that must survive a restart."""

    originals: Originals
    books: Books
    shelf: Shelf
    inbox: Inbox
    turns: Turns
    ledger: Ledger
    jobs: Jobs
    progress: Progress
    models: Models
    spending: Spending
    forgetting: Forgetting
    events: Events
    deliveries: Deliveries
    letters: Letters
    buttons: Buttons
    memos: Memos
    discussions: Discussions
    appointments: Appointments
    quotations: Quotations
    polls: Polls
    queue: Queue | None
    """Hands books out to many processes; None on SQLite, where one process does it all."""
    _engines: Engines

    @classmethod
    async def open(cls, url: str, folder: Path) -> "Store":
        """Open the store, creating the folder and the tables when they are missing and migrating an older schema.

        `url`: empty for `loccit.db` inside `folder`, `sqlite:///…` for another file, `postgresql://…` for a server.
        `folder` holds the originals whatever the URL says.

        Raises OperatorError: `database_url_unknown`, `data_unwritable`, `data_on_network`, `disk_full`,
        `database_unavailable`, `database_damaged`, `schema_newer`.
        """
        originals = await Originals.open(folder / "originals")
        engines = await Engines.open(url, folder)
        try:
            await bring_up_to_date(engines, partial(save_before_change, engines, url, folder))
        except BaseException:
            await engines.close()
            raise
        return cls(
            originals,
            Books(engines),
            Shelf(engines),
            Inbox(engines, originals),
            Turns(engines),
            Ledger(engines),
            Jobs(engines),
            Progress(engines),
            Models(engines),
            Spending(engines),
            Forgetting(engines, originals),
            Events(engines),
            Deliveries(engines),
            Letters(engines),
            Buttons(engines),
            Memos(engines),
            Discussions(engines),
            Appointments(engines),
            Quotations(engines),
            Polls(engines),
            Queue(engines) if engines.postgres else None,
            engines,
        )

    async def close(self) -> None:
        """Wait for the write under way, then close every connection. Closing twice is harmless."""
        try:
            if self.queue is not None:
                await self.queue.close()
        finally:
            await self._engines.close()

    @property
    def engine(self) -> str:
        """What the data lies in, for the log and `doctor`: "SQLite 3.51.3" or "PostgreSQL 15.18"."""
        return self._engines.version
