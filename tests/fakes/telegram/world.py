"""Who and what exists on the fake server: people, chats with their messages, files, drafts, private messages in groups."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.fakes.telegram.polls import Poll
from tests.fakes.telegram.rules import JsonObject, Refusal, bad

BOT = 7_000_000_001
GENERAL = 1
"""The thread id of a forum's first topic, which no message carries."""


@dataclass(frozen=True)
class Person:
    id: int
    first_name: str
    language: str = "en"
    username: str | None = None
    is_bot: bool = False

    def json(self) -> JsonObject:
        shown: JsonObject = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        if self.username:
            shown["username"] = self.username
        return shown if self.is_bot else shown | {"language_code": self.language}


@dataclass
class Chat:
    """A chat. `statuses` hold who is in it, by user id: creator, administrator, member, restricted, left, kicked."""

    id: int
    type: str
    title: str = ""
    forum: bool = False
    statuses: dict[int, str] = field(default_factory=dict)
    may: dict[int, JsonObject] = field(default_factory=dict)
    """Extra rights of administrators and restrictions of restricted members."""
    permissions: JsonObject = field(default_factory=dict)
    """What is withheld from everybody who is no administrator, such as `can_send_polls`: False."""
    topics: dict[int, bool] = field(default_factory=dict)
    """Thread id -> open."""
    messages: dict[int, JsonObject] = field(default_factory=dict)
    whispers: dict[int, tuple[int, JsonObject]] = field(default_factory=dict)
    """Ephemeral messages by their id: the receiver and the message."""
    moved_to: int | None = None
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def json(self, person: Person | None = None) -> JsonObject:
        if self.type == "private" and person is not None:
            return {"id": self.id, "type": "private", "first_name": person.first_name}
        return {"id": self.id, "type": self.type, "title": self.title} | ({"is_forum": True} if self.forum else {})


@dataclass(frozen=True)
class StoredFile:
    id: str
    data: bytes
    name: str
    path: str


@dataclass
class World:
    """Everything stored. Methods raise Refusal the way the server does."""

    people: dict[int, Person] = field(default_factory=dict)
    chats: dict[int, Chat] = field(default_factory=dict)
    files: dict[str, StoredFile] = field(default_factory=dict)
    drafts: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    """(chat, draft id) -> the texts it showed, oldest first."""
    polls: dict[str, Poll] = field(default_factory=dict)
    """By the id of each; the message that shows one has its JSON, kept up to date."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def chat(self, id: Any) -> Chat:
        chat = self.chats.get(int(id))
        if chat is None:
            raise bad("chat not found")
        if chat.moved_to is not None:
            raise Refusal(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                migrate_to_chat_id=chat.moved_to,
            )
        return chat

    def writable(self, params: JsonObject) -> Chat:
        """The chat the bot may write in, at the place it names. Raises Refusal."""
        chat = self.chat(params["chat_id"])
        status = chat.statuses.get(BOT, "left")
        if chat.type != "private" and status in ("left", "kicked"):
            raise Refusal(403, f"Forbidden: bot was kicked from the {chat.type} chat")
        if chat.type == "private" and status == "kicked":
            raise Refusal(403, "Forbidden: bot was blocked by the user")
        if status == "restricted" and not chat.may.get(BOT, {}).get("can_send_messages", True):
            raise bad("not enough rights to send text messages to the chat")
        thread = params.get("message_thread_id")
        if thread is not None and not (chat.forum and thread in chat.topics):
            raise bad("message thread not found")
        if thread is not None and not chat.topics[thread]:
            raise bad("TOPIC_CLOSED")
        return chat

    def message(self, chat: Chat, id: int, what: str = "edit") -> JsonObject:
        message = chat.messages.get(int(id))
        if message is None:
            raise bad(f"message to {what} not found")
        return message

    def post(self, chat: Chat, author: Person, body: JsonObject, *, thread: int | None = None) -> JsonObject:
        """Put a message into a chat; its JSON as stored."""
        message: JsonObject = {
            "message_id": next(chat.numbers),
            "date": int(time.time()),
            "chat": chat.json(self.people.get(chat.id)),
            "from": author.json(),
            **body,
        }
        if thread is not None and chat.forum:
            message |= {"message_thread_id": thread, "is_topic_message": True}
        chat.messages[message["message_id"]] = message
        return message

    def whisper(self, chat: Chat, author: Person, receiver: int, body: JsonObject) -> JsonObject:
        """An ephemeral message, for one member's eyes."""
        id = next(self.numbers)
        message: JsonObject = {
            "message_id": 0,
            "ephemeral_message_id": id,
            "date": int(time.time()),
            "chat": chat.json(),
            "from": author.json(),
            **body,
        }
        chat.whispers[id] = (receiver, message)
        return message

    def keep_file(self, data: bytes, name: str) -> StoredFile:
        number = next(self.numbers)
        file = StoredFile(f"file-{number}", data, name, f"documents/file_{number}")
        self.files[file.id] = file
        return file


def quoted(message: JsonObject) -> JsonObject:
    """A message as it stands inside a reply: without what it replies to itself."""
    return {key: value for key, value in message.items() if key != "reply_to_message"}
