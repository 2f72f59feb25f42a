"""The App Home, and the first words of the assistant pane: a reader's books, places, and how to start."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.books import SHELVED
from adapters.slack.door import Door, Rejected
from adapters.slack.incoming import Where
from adapters.slack.richtext import blocks
from adapters.slack.tokens import PLATFORM
from core.club import Club
from core.desk import Desk
from core.errors import LoccitError
from core.model import WHOLE_BOOK, BookCard, Emphasis, Item, Limit, ListBlock, Paragraph, Reader, Text
from core.strings import say, say_limit

Json = dict[str, Any]

_CHANNELS = 15
"""Channels a home page shows; a view takes 100 blocks."""
_PAGES = 5
_PROMPT = 60


@dataclass(frozen=True, slots=True)
class Shelf:
    """A place and its books, each with the club's limit and the reader's own place."""

    place: Where
    books: tuple[tuple[BookCard, Limit, Limit], ...]


class Home:
    """Fills the pages that belong to one reader."""

    def __init__(self, club: Club, desk: Desk, door: Door) -> None:
        self._club = club
        self._desk = desk
        self._door = door

    async def publish(self, direct: Where, reader: Reader) -> None:
        """The App Home of the reader whose direct conversation this is."""
        shelves = [await self._shelf(place, reader) for place in await self._places(direct)]
        page = view([shelf for shelf in shelves if shelf.books], reader.locale)
        await self._door.call("views.publish", user_id=direct.user, view=page)

    async def prompt(self, direct: Where, reader: Reader) -> None:
        """Suggestions for a new thread of the assistant pane, from the reader's own book."""
        shelf = await self._shelf(direct, reader)
        await self._door.call(
            "assistant.threads.setSuggestedPrompts",
            channel_id=direct.channel,
            thread_ts=direct.thread,
            prompts=prompts([card for card, _, _ in shelf.books], reader.locale),
        )

    async def _places(self, direct: Where) -> list[Where]:
        """The direct conversation, and every channel with books that this person is in now: Slack says who is."""
        shelved = await self._club.post.recall_all(PLATFORM, SHELVED)
        places, cursor = [direct], ""
        for _ in range(_PAGES):
            try:
                answer = await self._door.call(
                    "users.conversations",
                    user=direct.user,
                    types="public_channel,private_channel",
                    exclude_archived="true",
                    limit=200,
                    cursor=cursor or None,
                )
            except Rejected:
                break
            there = [str(channel["id"]) for channel in answer.get("channels") or ()]
            places += [Where(id, None, direct.user, direct.team) for id in there if SHELVED + id in shelved]
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return places[:_CHANNELS]

    async def _shelf(self, place: Where, reader: Reader) -> Shelf:
        books = []
        try:
            for card in await self._club.shelf(place.conversation):
                _, limit = await self._club.progress(place.conversation, reader, card.sha256)
                _, own = await self._club.place(place.conversation, reader, card.sha256)
                books.append((card, limit, own))
        except LoccitError:  # a book taken away meanwhile
            pass
        return Shelf(place, tuple(books))


def view(shelves: Sequence[Shelf], locale: str | None) -> Json:
    """The page."""
    content: list[Json] = [{"type": "header", "text": _plain(say("slack_home", locale))}]
    for shelf in shelves:
        content.append(_head(shelf.place, locale))
        items = tuple(Item((Paragraph((Text(_line(*book, locale)),)),)) for book in shelf.books)
        content += blocks((ListBlock(items),))
    if not shelves:
        content += blocks((Paragraph((Text(say("slack_home_empty", locale)),)),))
    content.append({"type": "divider"})
    content += blocks((Paragraph((Emphasis((Text(say("slack_home_start", locale)),), strong=True),)),))
    steps = [say(f"slack_home_{step}", locale) for step in ("add", "ask", "press", "limit")]
    content += blocks((ListBlock(tuple(Item((Paragraph((Text(step),)),)) for step in steps), ordered=True),))
    return {"type": "home", "blocks": content[:100]}


def _head(place: Where, locale: str | None) -> Json:
    if place.private:
        span: Json = {"type": "text", "text": say("slack_home_direct", locale), "style": {"bold": True}}
    else:
        span = {"type": "channel", "channel_id": place.channel, "style": {"bold": True}}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [span]}]}


def _line(card: BookCard, limit: Limit, own: Limit, locale: str | None) -> str:
    parts = [card.title]
    if limit != WHOLE_BOOK:
        parts.append(say("slack_home_club", locale, reach=say_limit(limit, locale)))
    if own != WHOLE_BOOK:
        parts.append(say("slack_home_own", locale, reach=say_limit(own, locale)))
    return " · ".join(parts)


def prompts(books: Sequence[BookCard], locale: str | None) -> list[dict[str, str]]:
    """At most four things to begin with."""
    if not books:
        return [_prompt("slack_prompt_add", locale)]
    title = next((card.title for card in books if card.current), books[0].title)
    title = title if len(title) <= _PROMPT else title[: _PROMPT - 1] + "…"
    return [
        _prompt(key, locale, title=title) for key in ("slack_prompt_about", "slack_prompt_who", "slack_prompt_themes")
    ]


def _prompt(key: str, locale: str | None, **params: str) -> dict[str, str]:
    text = say(key, locale, **params)
    return {"title": text, "message": text}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": False}
