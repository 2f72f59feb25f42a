"""What a person in the pretended Discord does and sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.fakes.discord import world
from tests.fakes.discord.checks import units
from tests.fakes.discord.gateway import GUILDS
from tests.fakes.discord.interactions import (
    AUTOCOMPLETE,
    COMMAND,
    COMPONENT,
    MODAL_SUBMIT,
    Invocation,
    options_of,
)
from tests.fakes.discord.wire import Sent
from tests.fakes.discord.world import Channel, Payload, Person, brief

if TYPE_CHECKING:
    from tests.fakes.discord.server import FakeDiscord

PATIENCE = 30.0


class Member:
    def __init__(self, discord: FakeDiscord, person: Person) -> None:
        self._discord = discord
        self.person = person

    @property
    def id(self) -> int:
        return self.person.id

    # What is written

    async def say(
        self,
        channel: Channel,
        text: str,
        *,
        files: Sequence[tuple[str, bytes]] = (),
        reply_to: Payload | None = None,
        ping: bool = True,
    ) -> Payload:
        """Post a message as it is; a reply pings its author unless the person has switched that off."""
        assert channel.bits(self.person) & world.VIEW_CHANNEL
        more: Payload = {}
        if reply_to is not None:
            more = {
                "type": world.REPLY,
                "message_reference": {"message_id": reply_to["id"], "channel_id": str(channel.id), "type": 0},
                "referenced_message": brief(reply_to),
            }
        allowed = None if ping else {"parse": ["users", "roles", "everyone"], "replied_user": False}
        if ping and reply_to is not None:
            allowed = {"parse": ["users", "roles", "everyone"], "replied_user": True}
        body: Payload = {"content": text, "allowed_mentions": allowed}
        sent = [Sent(name, data) for name, data in files]
        message = self._discord.rest.post(channel, self.person, body, sent, **more)
        await self._discord.rest.tell("MESSAGE_CREATE", channel, message)
        return message

    async def mention(self, channel: Channel, text: str, *, files: Sequence[tuple[str, bytes]] = ()) -> Payload:
        return await self.say(channel, f"<@{self._discord.world.bot.id}> {text}", files=files)

    async def reply(self, channel: Channel, message: Payload, text: str, *, ping: bool = True) -> Payload:
        return await self.say(channel, text, reply_to=message, ping=ping)

    async def write(self, text: str, *, files: Sequence[tuple[str, bytes]] = ()) -> Payload:
        """A direct message to the bot."""
        return await self.say(self.direct, text, files=files)

    @property
    def direct(self) -> Channel:
        return self._discord.world.direct_with(self.person)

    async def edit(self, channel: Channel, message: Payload, text: str) -> None:
        message["content"] = text
        message["edited_timestamp"] = world.moment(self._discord.clock())
        await self._discord.rest.tell("MESSAGE_UPDATE", channel, message)

    async def delete(self, channel: Channel, message: Payload) -> None:
        await self._discord.rest.remove(channel, message)

    async def open_thread(self, channel: Channel, message: Payload, name: str) -> Channel:
        thread = self._discord.world.thread(channel, name, int(message["id"]))
        assert channel.server is not None
        await self._discord.gateway.dispatch(
            "THREAD_CREATE", thread.wire() | {"newly_created": True}, server_id=channel.server.id, intent=GUILDS
        )
        return thread

    # What is pressed and typed after a slash

    async def slash(
        self,
        channel: Channel,
        command: str,
        options: Mapping[str, Any] | None = None,
        *,
        file: tuple[str, bytes] | None = None,
        file_option: str = "file",
    ) -> Invocation:
        """Use a registered slash command; it returns at once, see `settled`."""
        invocation = self._discord.interactions.begin(COMMAND, self.person, channel)
        values = dict(options or {})
        resolved: Payload = {}
        if file is not None:
            attachment = self._discord.files.keep(Sent(*file), str(channel.id))
            values[file_option] = attachment["id"]
            resolved = {"attachments": {attachment["id"]: attachment}}
        name, *inner = command.split()
        registered = self._registered(name, 1)
        data: Payload = {
            "id": registered["id"],
            "name": name,
            "type": 1,
            "options": options_of(registered, inner, values, None),
            "resolved": resolved,
        }
        return await self._tell(invocation, data)

    async def autocomplete(
        self, channel: Channel, command: str, option: str, typed: str, others: Mapping[str, Any] | None = None
    ) -> list[str]:
        """What is offered while `typed` stands in an option."""
        invocation = self._discord.interactions.begin(AUTOCOMPLETE, self.person, channel)
        name, *inner = command.split()
        registered = self._registered(name, 1)
        options = options_of(registered, inner, dict(others or {}) | {option: typed}, option)
        await self._tell(invocation, {"id": registered["id"], "name": name, "type": 1, "options": options})
        await self._discord.until(lambda: invocation.answer is not None, 3.0)
        return [choice["name"] for choice in invocation.choices]

    async def menu(self, channel: Channel, message: Payload, name: str) -> Invocation:
        """Choose an app's entry in the menu of a message: the bot gets that message whole."""
        invocation = self._discord.interactions.begin(COMMAND, self.person, channel)
        registered = self._registered(name, 3)
        data: Payload = {
            "id": registered["id"],
            "name": name,
            "type": 3,
            "target_id": message["id"],
            "resolved": {"messages": {message["id"]: brief(message)}},
        }
        return await self._tell(invocation, data)

    async def press(self, channel: Channel, message: Payload, button: str) -> Invocation:
        """Press a button by its label, the beginning of its label, or its custom id. Raises AssertionError for none."""
        items = buttons(message)
        found = next((item for item in items if button in (item.get("label"), item.get("custom_id"))), None)
        found = found or next((item for item in items if item.get("label", "").startswith(button)), None)
        assert found is not None, f"no button {button!r} among {[item.get('label') for item in items]}"
        assert not found.get("disabled"), f"{button!r} cannot be pressed"
        return await self.press_id(channel, message, found["custom_id"])

    async def press_id(self, channel: Channel, message: Payload, custom_id: str) -> Invocation:
        """Press whatever a changed client sends as a button's id."""
        seen_by = message.get("ephemeral_for")
        assert seen_by in (None, str(self.person.id)), "only its reader sees this message"
        invocation = self._discord.interactions.begin(COMPONENT, self.person, channel, message)
        return await self._tell(invocation, {"custom_id": custom_id, "component_type": 2, "id": 2})

    async def vote(self, channel: Channel, message: Payload, answer: str | None) -> None:
        """Choose an answer of a poll by its words; None takes the vote back."""
        assert channel.bits(self.person) & world.VIEW_CHANNEL
        await self._discord.rest.polls.vote(channel, message, self.person, answer)

    async def pick(self, channel: Channel, message: Payload, value: str) -> Invocation:
        """Choose an entry of the message's select menu by its value or label."""
        for row in message["components"]:
            for item in row["components"]:
                for option in item.get("options") or []:
                    if value in (option["value"], option["label"]):
                        invocation = self._discord.interactions.begin(COMPONENT, self.person, channel, message)
                        data = {"custom_id": item["custom_id"], "component_type": 3, "values": [option["value"]]}
                        return await self._tell(invocation, data)
        raise AssertionError(f"nothing to choose is called {value!r}")

    async def submit(self, invocation: Invocation, texts: Mapping[str, str]) -> Invocation:
        """Fill in the modal that an invocation brought, its text fields by label, and send it."""
        assert invocation.modal is not None
        rows: list[Payload] = []
        for row in invocation.modal["components"]:
            for item in row.get("components") or [row["component"]]:
                label = item.get("label") or row.get("label")
                value = texts.get(label, item.get("value") or "")
                assert units(value) <= (item.get("max_length") or 4_000), "the client lets nobody write more"
                filled = {"type": 4, "custom_id": item["custom_id"], "value": value}
                inside: Payload = {"components": [filled]} if "components" in row else {"component": filled}
                rows.append({"type": row["type"], **inside})
        sent = self._discord.interactions.begin(MODAL_SUBMIT, self.person, invocation.channel, invocation.message)
        return await self._tell(sent, {"custom_id": invocation.modal["custom_id"], "components": rows})

    def _registered(self, name: str, kind: int) -> Payload:
        for command in self._discord.rest.commands:
            if (command["name"], command["type"]) == (name, kind):
                return command
        raise AssertionError(f"no command {name!r} is registered")

    async def _tell(self, invocation: Invocation, data: Payload) -> Invocation:
        server = invocation.channel.server
        payload = self._discord.interactions.wire(invocation, data)
        told = await self._discord.gateway.dispatch(
            "INTERACTION_CREATE", payload, server_id=server.id if server else None, intent=0
        )
        assert told, "the bot is not connected"
        return invocation

    # What is seen

    def sees(self, channel: Channel) -> list[Payload]:
        """The messages in a channel that this person sees, oldest first."""
        return [
            message
            for _, message in sorted(channel.messages.items())
            if message.get("ephemeral_for") in (None, str(self.person.id))
        ]

    def answers(self, channel: Channel) -> list[Payload]:
        """What the bot has posted there, for this person's eyes."""
        bot = str(self._discord.world.bot.id)
        return [message for message in self.sees(channel) if message["author"]["id"] == bot]

    async def settled(self, invocation: Invocation, true: Callable[[], Any] | None = None) -> list[Payload]:
        """Wait until an invocation is answered with more than "thinking"; the messages it shows now."""

        def answered() -> bool:
            if invocation.answer is None:
                return False
            if true is not None:
                return bool(true())
            shown = self._of(invocation)  # "thinking" may have been taken back
            return invocation.answer != 5 or (
                bool(shown) and not any(message["flags"] & world.LOADING for message in shown)
            )

        await self._discord.until(answered, PATIENCE)
        return self._of(invocation)

    def _of(self, invocation: Invocation) -> list[Payload]:
        ids = list(invocation.posted)
        if invocation.original is not None and invocation.original not in ids:
            ids.insert(0, invocation.original)
        return [invocation.channel.messages[id] for id in ids if id in invocation.channel.messages]


def buttons(message: Payload) -> list[Payload]:
    return [item for row in message["components"] for item in row["components"] if item["type"] == 2]


def labels(message: Payload) -> list[str]:
    return [item.get("label", "") for item in buttons(message)]
