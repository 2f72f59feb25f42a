"""Reading together: recaps, people, discussions, dates, saved quotations, the next book. All of it up to the limit of now."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, datetime
from weakref import WeakValueDictionary
from zoneinfo import ZoneInfo

from core.meeting.arriving import Arriving
from core.meeting.digests import Digests
from core.meeting.discussions import Discussions
from core.meeting.means import Means
from core.meeting.people import People
from core.meeting.polls import Polls
from core.meeting.recaps import Recaps
from core.meeting.schedule import Schedule
from core.meeting.wall import Wall
from core.meeting.wraps import Wraps
from core.model import ChatModel, Conversation
from core.post import Post
from core.retrieval import Ranks
from core.spending import Purse
from core.store import Store


class Meeting:
    """The rooms, one a feature. `model` gives a channel's model by its setting; `fallback` stands for "none is set up"."""

    def __init__(
        self,
        store: Store,
        post: Post,
        ranks: Ranks,
        model: Callable[[str | None], ChatModel],
        fallback: ChatModel,
        window: Callable[[], Awaitable[int]] | None,
        purse: Purse,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        means = Means(store, post, ranks, model, fallback, window, purse, now, new_id)
        self.recaps = Recaps(means)
        self.people = People(means)
        self.discussions = Discussions(means)
        self.schedule = Schedule(means)
        self.digests = Digests(means)
        self.arriving = Arriving(means)
        self.polls = Polls(means)
        self.wall = Wall(means)
        self.wraps = Wraps(means, self.discussions)
        self._now = now
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def alone(self, conversation: Conversation) -> asyncio.Lock:
        """One after the other in a channel: for what is looked at and then changed. One process serves a channel."""
        return self._turns.setdefault((conversation.platform, conversation.channel), asyncio.Lock())

    def today(self, zone: ZoneInfo) -> date:
        """The day it is there."""
        return self._now().astimezone(zone).date()
