"""A Bot API server on the loopback for the unmodified python-telegram-bot, with people who talk to the bot.

    async with FakeTelegram() as telegram:
        ana = telegram.person("Ana")
        club = telegram.group("The club", ana)
        telegram.mention(ana, club, "who kept the log?")
        answer = await telegram.said(club)        # TELEGRAM_BASE_URL=telegram.server.base_url
        telegram.press(ana, club, "1")

Vendor's limits are enforced, requests journalled; unknown methods fail the test when the block ends.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fakes.telegram.flood import Flood
from tests.fakes.telegram.methods import Methods, Query
from tests.fakes.telegram.rules import JsonObject, units
from tests.fakes.telegram.server import TOKEN, Entry, Fault, Server
from tests.fakes.telegram.world import BOT, GENERAL, Chat, Person, World, quoted

__all__ = ["BOT", "GENERAL", "TOKEN", "Chat", "Entry", "FakeTelegram", "Fault", "Flood", "JsonObject", "Person"]

_CHANNEL_BOT = {"id": 136_817_688, "is_bot": True, "first_name": "Channel", "username": "Channel_Bot"}
"""Who votes, by the vendor's word, when a chat does."""

PATIENCE = 90.0
"""Seconds until what a test waits for counts as never coming."""


class FakeTelegram:
    """The server and everybody who uses it. `ephemeral`: "yes", "older" (posts publicly) or "refuses"."""

    def __init__(
        self,
        *,
        ephemeral: str = "yes",
        privacy: bool = False,
        local: bool = False,
        flood: Flood | None = None,
        query_life: float = 15.0,
        token: str = TOKEN,
    ) -> None:
        self.me = Person(BOT, "Loccit", username="loccit_bot", is_bot=True)
        self.world = World(people={BOT: self.me})
        self.methods = Methods(self.world, self.me, ephemeral, privacy, local, query_life)
        self.server = Server(self.world, self.methods, flood or Flood(), token)

    async def __aenter__(self) -> "FakeTelegram":
        await self.server.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.server.stop()
        if error is None:
            assert not self.server.problems, "; ".join(self.server.problems)

    # Who is there

    def person(self, name: str, language: str = "en", *, is_bot: bool = False) -> Person:
        person = Person(1000 + next(self.world.numbers), name, language, name.lower(), is_bot)
        self.world.people[person.id] = person
        return person

    def private(self, person: Person) -> Chat:
        """The chat of a person with the bot."""
        if person.id not in self.world.chats:
            statuses = {person.id: "member", BOT: "member"}
            self.world.chats[person.id] = Chat(person.id, "private", statuses=statuses)
        return self.world.chats[person.id]

    def group(
        self, title: str, *people: Person, type: str = "supergroup", forum: bool = False, bot: str = "member"
    ) -> Chat:
        """A group with the bot in it; the first of `people` made it."""
        id = -1_001_000_000_000 - next(self.world.numbers) if type == "supergroup" else -next(self.world.numbers)
        chat = Chat(id, type, title, forum, {BOT: bot})
        chat.statuses |= {person.id: "creator" if at == 0 else "member" for at, person in enumerate(people)}
        self.world.chats[id] = chat
        return chat

    def topic(self, chat: Chat) -> int:
        """Open a topic in a forum; its thread id."""
        thread = next(chat.numbers) + 100
        chat.topics[thread] = True
        return thread

    # What people do

    def say(
        self,
        person: Person,
        chat: Chat,
        text: str,
        *,
        reply_to: JsonObject | None = None,
        topic: int | None = None,
        at: int | None = None,
        **more: Any,
    ) -> JsonObject:
        """Write a message; the bot hears of it as privacy mode allows. `at`: where in the text the bot is named."""
        entities: list[JsonObject] = list(more.pop("entities", []))
        name = f"@{self.me.username}"
        if name in text:
            entities.append({"type": "mention", "offset": units(text[: text.index(name)]), "length": len(name)})
        if text.startswith("/"):
            entities.append({"type": "bot_command", "offset": 0, "length": units(text.split()[0])})
        body: JsonObject = {"text": text} | ({"entities": entities} if entities else {}) | more
        if reply_to is not None:
            body["reply_to_message"] = quoted(reply_to)
        message = self.world.post(chat, person, body, thread=topic)
        self._deliver(chat, message)
        return message

    def mention(self, person: Person, chat: Chat, text: str, **more: Any) -> JsonObject:
        return self.say(person, chat, f"@{self.me.username} {text}", **more)

    def upload(
        self,
        person: Person,
        chat: Chat,
        file: Path | tuple[str, bytes],
        *,
        caption: str = "",
        size: int | None = None,
        topic: int | None = None,
        reply_to: JsonObject | None = None,
    ) -> JsonObject:
        """Send a document; `size` is what the server claims when no such bytes are to be made."""
        name, data = (file.name, file.read_bytes()) if isinstance(file, Path) else file
        stored = self.world.keep_file(data, name)
        body: JsonObject = {
            "document": {
                "file_id": stored.id,
                "file_unique_id": stored.id,
                "file_name": name,
                "file_size": len(data) if size is None else size,
            }
        }
        if caption:
            body["caption"] = caption
            name = f"@{self.me.username}"
            if name in caption:
                place = units(caption[: caption.index(name)])
                body["caption_entities"] = [{"type": "mention", "offset": place, "length": len(name)}]
        if reply_to is not None:
            body["reply_to_message"] = quoted(reply_to)
        message = self.world.post(chat, person, body, thread=topic)
        self._deliver(chat, message)
        return message

    def edit(self, person: Person, chat: Chat, message: JsonObject, text: str) -> None:
        """Change what one wrote."""
        message["text"] = text
        message["edit_date"] = message["date"] + 1
        if self._hears(chat, message):
            self.server.give(edited_message=message)

    def press(
        self, person: Person, chat: Chat, label: str, message: JsonObject | None = None, *, stale: bool = False
    ) -> Query:
        """Press the newest button that a label begins with, of what this person sees; `stale`: its message is too old.

        Raises LookupError when there is none.
        """
        for shown in reversed([message] if message else self.seen(person, chat)):
            for row in shown.get("reply_markup", {}).get("inline_keyboard", []):
                for button in row:
                    if button["text"].startswith(label) and "callback_data" in button:
                        return self.press_data(person, chat, button["callback_data"], shown, stale=stale)
        raise LookupError(f"no button {label!r}; there are {self.buttons(person, chat)}")

    def press_data(
        self, person: Person, chat: Chat, data: str, message: JsonObject | None = None, *, stale: bool = False
    ) -> Query:
        """Send a callback with any data, as a modified client can."""
        query = Query(f"query-{next(self.world.numbers)}", person.id, self.server.clock())
        self.methods.queries[query.id] = query
        shown: JsonObject = message or {"message_id": 1, "date": 0, "chat": chat.json()}
        if stale:
            shown = {"message_id": shown["message_id"], "date": 0, "chat": shown["chat"]}
        self.server.give(
            callback_query={
                "id": query.id,
                "from": person.json(),
                "chat_instance": str(chat.id),
                "data": data,
                "message": shown,
            }
        )
        return query

    def vote(
        self, person: Person, message: JsonObject, option: str | None, *, as_chat: Chat | None = None
    ) -> int | None:
        """Vote in a poll, or take the vote back with None; the update that the bot hears of it by, when it wants any.

        Raises LookupError where a client offers no such vote.
        """
        poll = self.world.polls[message["poll"]["id"]]
        voter = person.id if as_chat is None else as_chat.id
        if poll.closed or (option is None and voter not in poll.votes):
            raise LookupError("the poll is closed, or there is no vote to take back")
        poll.votes.pop(voter, None)
        if option is not None:
            poll.votes[voter] = poll.options.index(option)
        message["poll"] = poll.json()
        if poll.anonymous or "poll_answer" not in self.server.wanted:
            return None
        chosen = [] if option is None else [poll.votes[voter]]
        who = {"user": person.json()} if as_chat is None else {"user": _CHANNEL_BOT, "voter_chat": as_chat.json()}
        persistent = [f"{poll.id}-{at}" for at in chosen]
        return self.server.give(
            poll_answer={"poll_id": poll.id, **who, "option_ids": chosen, "option_persistent_ids": persistent}
        )

    def _deliver(self, chat: Chat, message: JsonObject) -> None:
        if self._hears(chat, message):
            self.server.give(message=message)

    def _hears(self, chat: Chat, message: JsonObject) -> bool:
        """Whether privacy mode and membership let the bot have a message."""
        status = chat.statuses.get(BOT, "left")
        if status in ("left", "kicked"):
            return False
        if chat.type == "private" or not self.methods.privacy or status == "administrator":
            return True
        replied = message.get("reply_to_message")
        command = str(message.get("text", "")).startswith("/")
        return command or (replied is not None and replied["from"]["id"] == BOT)

    # The life of a group

    def migrate(self, chat: Chat) -> Chat:
        """Turn a group into a supergroup; the new chat."""
        new = Chat(-1_001_000_000_000 - next(self.world.numbers), "supergroup", chat.title, False, dict(chat.statuses))
        self.world.chats[new.id] = new
        creator = next(self.world.people[id] for id, status in chat.statuses.items() if status == "creator")
        left = self.world.post(chat, creator, {"migrate_to_chat_id": new.id})
        came = self.world.post(new, creator, {"migrate_from_chat_id": chat.id})
        chat.moved_to = new.id
        self.server.give(message=left)
        self.server.give(message=came)
        return new

    def change_status(self, chat: Chat, person: Person, status: str, *, by: Person | None = None, **may: Any) -> None:
        """Add, remove, promote or restrict somebody; the bot is told about itself."""
        old = self.methods.member(chat, person)
        chat.statuses[person.id] = status
        chat.may[person.id] = may
        if person.id == BOT:
            actor = by or next(iter(self.world.people.values()))
            self.server.give(
                my_chat_member={
                    "chat": chat.json(self.world.people.get(chat.id)),
                    "from": actor.json(),
                    "date": 1_800_000_000,
                    "old_chat_member": old,
                    "new_chat_member": self.methods.member(chat, person),
                }
            )

    # What people see

    def seen(self, person: Person, chat: Chat) -> list[JsonObject]:
        """Every message of a chat this person can see, oldest first, private ones last."""
        whispers = [message for receiver, message in chat.whispers.values() if receiver == person.id]
        return [*chat.messages.values(), *whispers]

    def ours(self, chat: Chat, person: Person | None = None) -> list[JsonObject]:
        """What the bot shows there; with `person`, also what it shows this one alone."""
        found = [message for message in chat.messages.values() if message["from"]["id"] == BOT]
        return found + ([message for receiver, message in chat.whispers.values() if person and receiver == person.id])

    def texts(self, chat: Chat, person: Person | None = None) -> list[str]:
        return [message.get("text") or message.get("caption", "") for message in self.ours(chat, person)]

    def buttons(self, person: Person, chat: Chat) -> list[str]:
        return [
            button["text"]
            for message in self.seen(person, chat)
            for row in message.get("reply_markup", {}).get("inline_keyboard", [])
            for button in row
        ]

    async def until(self, holds: Callable[[], Any], *, patience: float = PATIENCE) -> Any:
        """Wait until `holds` gives something true; that. Raises AssertionError with the last requests."""
        deadline = asyncio.get_running_loop().time() + patience
        while True:
            if found := holds():
                return found
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                last = [(entry.method, entry.params, entry.ok, entry.result) for entry in self.server.journal[-6:]]
                raise AssertionError(f"waited in vain; the last requests: {last}")
            async with self.server.changed:
                try:
                    await asyncio.wait_for(self.server.changed.wait(), min(left, 0.05))
                except TimeoutError:
                    continue

    async def said(self, chat: Chat, words: str = "", person: Person | None = None) -> JsonObject:
        """Wait until the bot shows a text that holds `words`; the newest such message."""
        found = await self.until(
            lambda: [
                message
                for message in self.ours(chat, person)
                if words in (message.get("text") or message.get("caption", ""))
            ]
        )
        newest: JsonObject = found[-1]
        return newest

    async def polled(self, chat: Chat) -> JsonObject:
        """Wait until the bot shows a poll of Telegram's; the newest such message."""
        found = await self.until(lambda: [message for message in self.ours(chat) if "poll" in message])
        newest: JsonObject = found[-1]
        return newest

    async def told(self, query: Query, person: Person, chat: Chat, words: str) -> None:
        """Wait until a press has told this: in its pop-up, or in a message to who pressed where that came too late."""
        await self.until(lambda: words in query.said or any(words in text for text in self.texts(chat, person)))

    async def sentence(self, query: Query, person: Person, chat: Chat) -> str:
        """What a press just made tells: its pop-up, or the message to who pressed where that came too late."""
        before = len(self.texts(chat, person))
        return str(await self.until(lambda: query.said or "\n".join(self.texts(chat, person)[before:])))

    async def answered(self, query: Query) -> str:
        """Wait for a press to be acknowledged; what its pop-up says."""
        await self.until(lambda: query.answered is not None)
        return query.said
