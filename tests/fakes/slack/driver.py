"""What people do, as verbs: mention, write directly, upload, press, submit, open the home; each becomes an envelope."""

import itertools
from dataclasses import dataclass
from typing import Any

from tests.fakes.slack.files import described
from tests.fakes.slack.limits import answer_error
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.sockets import Envelope
from tests.fakes.slack.world import APP, BOT, BOT_ID, TEAM, File, Message, View, buttons, label

JsonObject = dict[str, Any]
_EVENTS = itertools.count(1)


@dataclass
class Done:
    """What somebody wrote, and the envelopes that told the app about it."""

    message: Message
    envelopes: list[Envelope]

    @property
    def ts(self) -> str:
        return self.message.ts


class Driver:
    """People at their screens."""

    def __init__(self, fake: FakeSlack) -> None:
        self.fake = fake

    # Writing

    def say(
        self,
        channel: str,
        user: str,
        text: str,
        *,
        thread: str | None = None,
        files: tuple[File, ...] = (),
        bot: bool = False,
        silent: bool = False,
    ) -> Done:
        """A message in a channel. `message` is told where the app is a member, `app_mention` for a mention without files."""
        world = self.fake.world
        place = world.channel(channel)
        place.members.add(user)
        message = world.put(Message(channel, world.next_ts(), user, text, thread=thread))
        message.files = [file.id for file in files]
        if silent:
            return Done(message, [])
        event: JsonObject = {
            "type": "message",
            "user": user,
            "text": text,
            "ts": message.ts,
            "event_ts": message.ts,
            "channel": channel,
            "channel_type": place.kind,
            "team": TEAM,
            **({"thread_ts": thread} if thread else {}),
            **({"bot_id": BOT_ID + "X", "subtype": "bot_message"} if bot else {}),
        }
        if files:
            event |= {"subtype": "file_share", "files": [described(self.fake.host, file) for file in files]}
        told = []
        if BOT in place.members:
            told.append(self.event(event))
        if f"<@{BOT}>" in text and not files:
            mention = {key: value for key, value in event.items() if key not in ("channel_type", "subtype")}
            told.append(self.event({**mention, "type": "app_mention"}))
        for file in files:
            file.shared_in.add(channel)
            shared = {"type": "file_shared", "file_id": file.id, "channel_id": channel, "user_id": user}
            told.append(self.event({**shared, "file": {"id": file.id}, "event_ts": message.ts}))
        return Done(message, told)

    def mention(self, channel: str, user: str, text: str, *, thread: str | None = None) -> Done:
        return self.say(channel, user, f"<@{BOT}> {text}".strip(), thread=thread)

    def file(self, user: str, name: str, data: bytes) -> File:
        """Put a file into the workspace without sharing it yet."""
        file = File(self.fake.world.next_id("F"), name, data, user)
        self.fake.world.files[file.id] = file
        return file

    def upload(
        self, channel: str, user: str, name: str, data: bytes, text: str = f"<@{BOT}>", *, thread: str | None = None
    ) -> Done:
        """A file with a mention: told as `message` with `file_share`, never as `app_mention`."""
        return self.say(channel, user, text, thread=thread, files=(self.file(user, name, data),))

    def direct(self, user: str, text: str, *, files: tuple[File, ...] = (), thread: str | None = None) -> Done:
        """A message to the app itself."""
        return self.say(self.fake.world.im(user).id, user, text, files=files, thread=thread)

    def edit(self, message: Message, text: str) -> Envelope:
        before = {"user": message.user, "text": message.text, "ts": message.ts}
        message.text = text
        after: JsonObject = {**before, "text": text, "edited": {"user": message.user, "ts": self.fake.world.next_ts()}}
        if message.thread:
            after["thread_ts"] = message.thread
        return self._message_event(message, "message_changed", {"message": after, "previous_message": before})

    def delete(self, message: Message) -> Envelope:
        message.deleted = True
        before = {"user": message.user, "text": message.text, "ts": message.ts}
        return self._message_event(message, "message_deleted", {"deleted_ts": message.ts, "previous_message": before})

    def _message_event(self, message: Message, subtype: str, more: JsonObject) -> Envelope:
        ts = self.fake.world.next_ts()
        kind = self.fake.world.channel(message.channel).kind
        return self.event(
            {
                "type": "message",
                "subtype": subtype,
                "channel": message.channel,
                "channel_type": kind,
                "hidden": True,
                "ts": ts,
                "event_ts": ts,
                **more,
            }
        )

    def slash(self, channel: str, user: str, text: str) -> Envelope:
        place = self.fake.world.channel(channel)
        place.members.add(user)
        return self.fake.sockets.send(
            "slash_commands",
            {
                "token": "t",
                "team_id": TEAM,
                "channel_id": channel,
                "channel_name": "directmessage" if place.kind == "im" else channel.lower(),
                "user_id": user,
                "command": "/loccit",
                "text": text,
                "api_app_id": APP,
                "is_enterprise_install": "false",
                "response_url": self.fake.response_url(channel, user),
                "trigger_id": self.fake.trigger(user),
            },
        )

    # Pressing

    def press(self, message: Message, name: str, user: str) -> Envelope:
        """Press the button whose label begins with `name`."""
        found = [button for button in buttons(message) if label(button).startswith(name)]
        assert found, f"no button {name!r} among {[label(button) for button in buttons(message)]}"
        return self.press_value(message, user, found[0])

    def press_value(self, message: Message, user: str, element: JsonObject) -> Envelope:
        """Press any element, one that was never sent as well."""
        place = self.fake.world.channel(message.channel)
        place.members.add(user)
        container: JsonObject = {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": message.channel,
            "is_ephemeral": message.for_user is not None,
        }
        shown: JsonObject = {"ts": message.ts, "user": BOT, "type": "message", "text": message.text}
        if message.thread:
            container["thread_ts"] = shown["thread_ts"] = message.thread
        body: JsonObject = {
            **self._interaction("block_actions", user),
            "channel": {"id": message.channel, "name": message.channel.lower()},
            "container": container,
            "actions": [{**element, "action_ts": self.fake.world.next_ts(), "block_id": "b"}],
            "response_url": self.fake.response_url(message.channel, user, message),
        }
        if message.for_user is None:  # an ephemeral's content is not sent along
            body["message"] = shown
        return self.fake.sockets.send("interactive", body)

    def press_in_view(self, view: View, user: str, element: JsonObject) -> Envelope:
        body = {
            **self._interaction("block_actions", user),
            "container": {"type": "view", "view_id": view.id},
            "view": self._seen(view),
            "actions": [{**element, "action_ts": self.fake.world.next_ts(), "block_id": "b"}],
        }
        return self.fake.sockets.send("interactive", body)

    def submit(self, view: View, user: str, values: dict[str, JsonObject]) -> Envelope:
        """Send a form; `values` by block id: what the input's state holds. It stands open until that is acknowledged."""
        seen = self._seen(view)
        seen["state"] = {"values": {block: {block: value} for block, value in values.items()}}

        def heard(answer: JsonObject | None) -> None:
            if error := answer_error(view.body, answer):
                self.fake.problems.append(error)
            view.closed = answer is None or answer.get("response_action") == "clear"
            self.fake.changed(None)

        body = {**self._interaction("view_submission", user), "view": seen}
        return self.fake.sockets.send("interactive", body, heard=heard)

    def write(self, view: View, user: str, text: str) -> Envelope:
        """Write into a form's one text field, and send it; an empty field is told as nothing."""
        [block] = [block for block in view.body["blocks"] if block["type"] == "input"]
        assert len(text) <= block["element"]["max_length"], "the field takes no more"
        return self.submit(view, user, {block["block_id"]: {"type": "plain_text_input", "value": text or None}})

    def shortcut(self, message: Message, user: str, callback: str) -> Envelope:
        """A message shortcut, from the menu of a message."""
        world = self.fake.world
        shown: JsonObject = {"type": "message", "user": message.user, "ts": message.ts, "text": message.text}
        if message.files:
            shown["files"] = [described(self.fake.host, world.files[id]) for id in message.files]
        if message.thread:
            shown["thread_ts"] = message.thread
        body = {
            **self._interaction("message_action", user),
            "callback_id": callback,
            "channel": {"id": message.channel, "name": message.channel.lower()},
            "message": shown,
            "message_ts": message.ts,
            "response_url": self.fake.response_url(message.channel, user),
        }
        return self.fake.sockets.send("interactive", body)

    def suggest(self, message: Message, user: str, action: str, typed: str) -> Envelope:
        """Type into an external select; the acknowledgement carries the options."""
        body = {
            **self._interaction("block_suggestion", user),
            "action_id": action,
            "block_id": "b",
            "value": typed,
            "channel": {"id": message.channel},
            "container": {"type": "message", "message_ts": message.ts, "channel_id": message.channel},
        }
        return self.fake.sockets.send("interactive", body)

    def _seen(self, view: View) -> JsonObject:
        return {**view.body, "id": view.id, "hash": view.hash, "team_id": TEAM, "app_installed_team_id": TEAM}

    def _interaction(self, type: str, user: str) -> JsonObject:
        return {
            "type": type,
            "user": {"id": user, "username": user.lower(), "team_id": TEAM},
            "api_app_id": APP,
            "token": "t",
            "team": {"id": TEAM, "domain": "club"},
            "enterprise": None,
            "is_enterprise_install": False,
            "trigger_id": self.fake.trigger(user),
        }

    # Elsewhere

    def open_home(self, user: str) -> Envelope:
        ts = self.fake.world.next_ts()
        channel = self.fake.world.im(user).id
        return self.event({"type": "app_home_opened", "user": user, "channel": channel, "tab": "home", "event_ts": ts})

    def open_pane(self, user: str) -> Message:
        """The assistant pane: a thread of the direct conversation begins."""
        world = self.fake.world
        channel = world.im(user)
        root = world.put(Message(channel.id, world.next_ts(), BOT, "New Assistant Thread"))
        self.event(
            {
                "type": "assistant_thread_started",
                "assistant_thread": {
                    "user_id": user,
                    "context": {},
                    "channel_id": channel.id,
                    "thread_ts": root.ts,
                },
                "event_ts": root.ts,
            }
        )
        return root

    def stop(self, message: Message) -> None:
        """Press the stop sign that stands on a streaming message."""
        message.stopped_by_reader = True

    def event(self, event: JsonObject) -> Envelope:
        body = {
            "type": "event_callback",
            "token": "t",
            "team_id": TEAM,
            "api_app_id": APP,
            "event": event,
            "event_id": f"Ev{next(_EVENTS):08d}",
            "event_time": int(float(str(event.get("event_ts", "1")))),
            "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True, "is_enterprise_install": False}],
            "is_ext_shared_channel": False,
        }
        return self.fake.sockets.send("events_api", body)
