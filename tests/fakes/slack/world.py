"""What exists in the workspace: people, channels, messages, files, views; and how a message reads on a screen."""

import itertools
import time
from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]

TEAM, BOT, APP, BOT_ID = "T0LOCCIT", "U0LOCCIT", "A0LOCCIT", "B0LOCCIT"


@dataclass
class User:
    id: str
    locale: str = "en-US"
    admin: bool = False
    bot: bool = False


@dataclass
class Channel:
    id: str
    kind: str = "channel"
    """channel, group or im."""
    creator: str = "U0FOUNDER"
    members: set[str] = field(default_factory=set)
    archived: bool = False


@dataclass
class Message:
    """A message as it stands now. `user` is BOT for the app's own."""

    channel: str
    ts: str
    user: str
    text: str = ""
    blocks: list[JsonObject] = field(default_factory=list)
    thread: str | None = None
    for_user: str | None = None
    """Only this person sees it: an ephemeral message."""
    files: list[str] = field(default_factory=list)
    streaming: bool = False
    streamed: str = ""
    stream_until: float = 0.0
    stopped_by_reader: bool = False
    deleted: bool = False
    metadata: JsonObject | None = None
    mrkdwn: bool = True
    parse: str | None = None
    edits: int = 0
    history: list[str] = field(default_factory=list)
    """How it read after each change: what somebody who watches has seen."""

    @property
    def root(self) -> str:
        return self.thread or self.ts


@dataclass
class File:
    id: str
    name: str
    data: bytes
    user: str
    shared_in: set[str] = field(default_factory=set)
    title: str = ""


@dataclass
class View:
    id: str
    hash: str
    user: str
    body: JsonObject
    kind: str
    """modal or home."""
    closed: bool = False


@dataclass
class World:
    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    messages: dict[tuple[str, str], Message] = field(default_factory=dict)
    ephemerals: list[Message] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    """User groups: id -> members."""
    status: dict[tuple[str, str], str] = field(default_factory=dict)
    """(channel, thread) -> the status line that stands under it."""
    prompts: list[JsonObject] = field(default_factory=list)
    reactions: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)
        self._last = 0

    def next_id(self, letter: str) -> str:
        return f"{letter}{next(self._numbers):08d}"

    def next_ts(self) -> str:
        """Slack's name of a message: seconds and microseconds, never twice."""
        self._last = max(self._last + 1, int(time.time() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def user(self, id: str, **facts: Any) -> User:
        return self.users.setdefault(id, User(id, **facts))

    def channel(self, id: str, **facts: Any) -> Channel:
        if id not in self.channels:
            self.channels[id] = Channel(id, **facts)
        return self.channels[id]

    def im(self, user: str) -> Channel:
        channel = self.channel(f"D{user[1:]}", kind="im", creator=user)
        channel.members |= {user, BOT}
        return channel

    def put(self, message: Message) -> Message:
        if message.for_user is not None:
            self.ephemerals.append(message)
        else:
            self.messages[message.channel, message.ts] = message
            if message.user == BOT:  # the vendor takes the status away when the app replies
                self.status.pop((message.channel, message.root), None)
        message.history.append(shown(message))
        return message

    def of_bot(self, channel: str | None = None) -> list[Message]:
        """The app's own messages that still stand, oldest first."""
        found = [
            message
            for message in [*self.messages.values(), *self.ephemerals]
            if message.user == BOT and not message.deleted and channel in (None, message.channel)
        ]
        return sorted(found, key=lambda message: message.ts)

    def thread(self, channel: str, root: str) -> list[Message]:
        return [message for message in self.of_bot(channel) if message.root == root]


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def shown(message: Message) -> str:
    """The words on the screen: the blocks where there are any, else the text; then the buttons, one line each."""
    parts = [unescaped(message.streamed)] if message.streamed else []
    parts += [block_text(block) for block in message.blocks]
    if not parts:
        parts = [unescaped(message.text)]
    return "\n\n".join(part for part in parts if part)


def block_text(block: JsonObject) -> str:
    match block.get("type"):
        case "rich_text":
            return rich_text(block)
        case "section" | "header":
            lines = [text_object(block["text"])] if "text" in block else []
            lines += [text_object(field) for field in block.get("fields", ())]
            return "\n".join(lines)
        case "context":
            return " ".join(text_object(element) for element in block["elements"] if "text" in element)
        case "markdown":
            return unescaped(str(block["text"]))
        case "table":
            return "\n".join(" | ".join(_cell(cell) for cell in row) for row in block["rows"])
        case "image":
            return f"[picture: {block['alt_text']}]"
        case "input":
            return text_object(block["label"])
        case _:
            return ""


def text_object(text: JsonObject) -> str:
    return unescaped(text["text"]) if text["type"] == "mrkdwn" else str(text["text"])


def _cell(cell: JsonObject) -> str:
    return rich_text(cell) if cell["type"] == "rich_text" else str(cell["text"])


def rich_text(block: JsonObject) -> str:
    """The words of a rich text block, list items with their marks; a bar beside a quotation is no character."""
    lines = []
    for element in block["elements"]:
        match element["type"]:
            case "rich_text_list":
                first = int(element.get("offset", 0)) + 1
                for number, item in enumerate(element["elements"], first):
                    mark = f"{number}. " if element["style"] == "ordered" else "- "
                    lines.append("  " * int(element.get("indent", 0)) + mark + _spans(item))
            case _:
                lines.append(_spans(element))
    return "\n".join(lines)


def _spans(section: JsonObject) -> str:
    return "".join(str(span.get("text", span.get("url", ""))) for span in section["elements"])


def buttons(message: Message) -> list[JsonObject]:
    """Every button and menu of a message, in order."""
    return [
        element
        for block in message.blocks
        if block["type"] == "actions" or "accessory" in block
        for element in (block["elements"] if block["type"] == "actions" else [block["accessory"]])
    ]


def label(button: JsonObject) -> str:
    text: JsonObject = button.get("text") or button.get("placeholder") or {}
    return str(text.get("text", ""))
