"""What Slack tells us, read: events worth keeping with their keys, and where something happens. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.slack.tokens import PLATFORM
from core.desk import may_be_book
from core.model import Conversation, Event

Json = Mapping[str, Any]

READ_THIS = "loccit_read"
"""The message shortcut "Read this book here"."""

_PLAIN = (None, "file_share", "thread_broadcast")
"""Subtypes of messages that people write."""


@dataclass(frozen=True, slots=True)
class Bot:
    """Who we are in this workspace."""

    user: str
    team: str


@dataclass(frozen=True, slots=True)
class Where:
    """A place to talk: a thread of a channel, and whom one talks with there."""

    channel: str
    thread: str | None
    user: str
    team: str

    @property
    def private(self) -> bool:
        """True where nobody else is: a direct conversation with the bot."""
        return self.channel.startswith("D")

    @property
    def conversation(self) -> Conversation:
        return Conversation(PLATFORM, self.channel, self.thread, server=self.team)

    @property
    def payload(self) -> dict[str, Any]:
        return {"channel": self.channel, "thread": self.thread, "user": self.user, "team": self.team}


def where(payload: Json) -> Where:
    """The place kept in an event's payload."""
    return Where(payload["channel"], payload["thread"], payload["user"], payload["team"])


def message(event: Json, bot: Bot, team: str) -> tuple[Event, bool] | None:
    """A message or mention as an event to keep, and whether it is for us in any case (else: only if we take part there).

    Both kinds of event about one message get the same key: team, channel and time name it, event ids do not.
    """
    user, channel, ts = event.get("user"), event.get("channel"), event.get("ts")
    if not (user and channel and ts) or event.get("bot_id") or user == bot.user:
        return None
    if event.get("subtype") not in _PLAIN:
        return None
    text = str(event.get("text") or "")
    files = [file["id"] for file in event.get("files") or () if file.get("id")]
    thread = event.get("thread_ts")
    place = Where(str(channel), str(thread or ts), str(user), team)
    mentioned = f"<@{bot.user}>" in text or event.get("type") == "app_mention"
    addressed = mentioned or place.private
    if not addressed and (seen := _books(event)):
        payload = {**place.payload, "kind": "seen", "seen": seen}
        return Event(f"{PLATFORM}:{team}:{channel}:{ts}", PLATFORM, f"{team}:{channel}", payload), True
    if not addressed and (not thread or files or _to_somebody(text)):
        return None  # people among themselves
    payload = {
        **place.payload,
        "kind": "upload" if files else "ask",
        "text": stripped(text, bot),
        "ts": ts,
        "follows": bool(thread) and thread != ts,
        **({} if addressed else {"unasked": True}),
        **({"files": files} if files else {}),
    }
    return Event(f"{PLATFORM}:{team}:{channel}:{ts}", PLATFORM, f"{team}:{channel}", payload), addressed


def changed(event: Json, bot: Bot, team: str) -> Event | None:
    """A question whose words were changed, under a key of its own; its answer takes the place of the first (`shown_as`)."""
    after, before = event.get("message") or {}, event.get("previous_message") or {}
    edited = (after.get("edited") or {}).get("ts")
    if not edited or after.get("text") == before.get("text"):
        return None  # a preview came
    found = message({**after, "channel": event.get("channel")}, bot, team)
    if found is None or found[0].payload["kind"] != "ask":
        return None
    asked = found[0]
    return replace(asked, key=f"{asked.key}:e{edited}", payload={**asked.payload, "shown_as": asked.key})


def _books(event: Json) -> list[dict[str, Any]]:
    """The files of a message that may be books, as Slack describes them."""
    return [
        {"id": str(file["id"]), "name": str(file["name"]), "size": int(file.get("size") or 0)}
        for file in event.get("files") or ()
        if file.get("id") and file.get("name") and may_be_book(str(file["name"]), str(file.get("mimetype") or ""))
    ]


def _to_somebody(text: str) -> bool:
    """True when a message begins by naming a person: it is meant for that one."""
    return text.lstrip().startswith("<@")


_MARKS = re.compile(r"<([@#!]?)([^>|]*)(?:\|([^>]*))?>")


def stripped(text: str, bot: Bot) -> str:
    """The words somebody typed: without our name, Slack's marks as what they show, entities as characters."""

    def shown(found: re.Match[str]) -> str:
        sign, target, label = found[1], found[2], found[3]
        if sign == "@" and target == bot.user:
            return ""
        if sign:
            return label or ""  # names of people are not passed on
        return label or target.removeprefix("mailto:")

    plain = _MARKS.sub(shown, text)
    plain = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return "\n".join(" ".join(line.split()) for line in plain.splitlines()).strip()


def command(body: Json) -> Event:
    """A slash command. Its response URL is a secret for thirty minutes and leaves with the event."""
    team, channel = str(body["team_id"]), str(body["channel_id"])
    name, _, words = str(body.get("text") or "").strip().partition(" ")
    payload = {
        **Where(channel, None, str(body["user_id"]), team).payload,
        "kind": "command",
        "name": name.lower().lstrip("/") or "help",
        "text": words.strip(),
        "url": body.get("response_url"),
    }
    return Event(f"{PLATFORM}:{team}:command:{body['trigger_id']}", PLATFORM, f"{team}:{channel}", payload)


def joined(event: Json, team: str) -> Event:
    """We were let into a channel. One lane for the whole workspace: it is greeted once."""
    channel = str(event["channel"])
    payload = {**Where(channel, None, str(event.get("inviter") or ""), team).payload, "kind": "joined"}
    return Event(f"{PLATFORM}:{team}:joined:{channel}:{event.get('event_ts')}", PLATFORM, f"{team}:joined", payload)


def shortcut(body: Json) -> Event:
    """ "Read this book here", from the menu of a message."""
    team, channel, ts = _team(body), str(body["channel"]["id"]), str(body["message_ts"])
    told = body.get("message") or {}
    payload = {
        **Where(channel, str(told.get("thread_ts") or ts), str(body["user"]["id"]), team).payload,
        "kind": "upload",
        "text": "",
        "ts": ts,
        "follows": False,
        "files": [file["id"] for file in told.get("files") or () if file.get("id")],
        "url": body.get("response_url"),
    }
    return Event(f"{PLATFORM}:{team}:shortcut:{body['trigger_id']}", PLATFORM, f"{team}:{channel}", payload)


def form(body: Json, place: Where, action: Json) -> Event:
    """A form that was sent: what the desk is to do."""
    payload = {**place.payload, "kind": "act", "action": dict(action)}
    key = f"{PLATFORM}:{place.team}:form:{body['view']['id']}"
    return Event(key, PLATFORM, f"{place.team}:{place.channel}", payload)


@dataclass(frozen=True, slots=True)
class Press:
    """A button that was pressed."""

    place: Where
    kind: str
    id: str
    ts: str
    """The message the button stands on."""
    ephemeral: bool
    url: str | None
    key: str
    trigger: str = ""
    """What a form may be opened with, once, within three seconds."""


def press(body: Json) -> Press | None:
    """A press of a button of ours in a message; None for anything else, forged values included."""
    actions, container = body.get("actions") or [{}], body.get("container") or {}
    channel = (body.get("channel") or {}).get("id")
    value, action = actions[0].get("value"), str(actions[0].get("action_id") or "")
    if not channel or not isinstance(value, str) or actions[0].get("type") != "button":
        return None
    ts, user = str(container.get("message_ts") or ""), str(body["user"]["id"])
    told = body.get("message") or {}
    thread = container.get("thread_ts") or told.get("thread_ts") or (None if container.get("is_ephemeral") else ts)
    kind = action.partition(":")[0]
    key = f"{PLATFORM}:{_team(body)}:press:{channel}:{user}:{actions[0].get('action_ts')}"
    place = Where(str(channel), str(thread) if thread else None, user, _team(body))
    hidden, trigger = bool(container.get("is_ephemeral")), str(body.get("trigger_id") or "")
    return Press(place, kind, value, ts, hidden, body.get("response_url"), key, trigger)


def _team(body: Json) -> str:
    team = body.get("team") or {}
    return str(team.get("id") or (body.get("user") or {}).get("team_id") or "")
