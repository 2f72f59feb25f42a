"""Slash commands, presses, menus and the answers to them: three seconds to answer, a token of fifteen minutes."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fakes.discord import checks, world
from tests.fakes.discord.checks import Refusal, invalid
from tests.fakes.discord.rest import Handler, Rest
from tests.fakes.discord.wire import Sent, body_of, reply
from tests.fakes.discord.world import Channel, Payload, Person, World

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL_SUBMIT = 2, 3, 4, 5
PONG, MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE, CHOICES, MODAL = 1, 4, 5, 6, 7, 8, 9
ANSWER_WITHIN = 3.0
TOKEN_LIVES = 15 * 60.0


@dataclass
class Invocation:
    """One interaction of a person with the bot, and what came of it."""

    id: int
    token: str
    kind: int
    person: Person
    channel: Channel
    began: float
    """Seconds of the steady clock, as are the others."""
    message: Payload | None = None
    """The message whose button was pressed."""
    acknowledged: float | None = None
    answer: int | None = None
    """The type of the first response."""
    private: bool = False
    original: int | None = None
    """The id of the message that `@original` means."""
    posted: list[int] = field(default_factory=list)
    """The messages this interaction posted, `@original` first when it is one of them."""
    choices: list[Payload] = field(default_factory=list)
    modal: Payload | None = None
    token_ended: bool = False

    @property
    def took(self) -> float:
        """Seconds until the bot acknowledged."""
        assert self.acknowledged is not None
        return self.acknowledged - self.began


class Interactions:
    def __init__(self, world: World, rest: Rest, steady: Callable[[], float] = time.monotonic) -> None:
        self._world = world
        self._rest = rest
        self._steady = steady
        self.answer_within = ANSWER_WITHIN
        self.all: list[Invocation] = []
        self._by_id: dict[int, Invocation] = {}
        self._by_token: dict[str, Invocation] = {}

    def begin(self, kind: int, person: Person, channel: Channel, message: Payload | None = None) -> Invocation:
        invocation = Invocation(
            self._world.flakes.make(), secrets.token_urlsafe(120), kind, person, channel, self._steady(), message
        )
        self.all.append(invocation)
        self._by_id[invocation.id] = self._by_token[invocation.token] = invocation
        return invocation

    def wire(self, invocation: Invocation, data: Payload) -> Payload:
        channel, person = invocation.channel, invocation.person
        payload: Payload = {
            "id": str(invocation.id),
            "application_id": str(self._world.bot.id),
            "type": invocation.kind,
            "data": data,
            "channel_id": str(channel.id),
            "channel": channel.wire() | {"permissions": str(channel.bits(person))},
            "token": invocation.token,
            "version": 1,
            "locale": person.locale,
            "app_permissions": str(channel.bits(self._world.bot)),
            "entitlements": [],
            "authorizing_integration_owners": {"0": str(channel.server.id) if channel.server else "0"},
            "context": 0 if channel.server else 1,
            "attachment_size_limit": checks.FILE_BYTES,
        }
        if invocation.message is not None:
            payload["message"] = invocation.message
        if channel.server is None:
            return payload | {"user": person.wire()}
        member = channel.server.member(person) | {"permissions": str(channel.bits(person))}
        guild = {"id": str(channel.server.id), "features": [], "locale": channel.server.locale}
        return payload | {
            "guild_id": str(channel.server.id),
            "guild": guild,
            "guild_locale": channel.server.locale,
            "member": member,
        }

    def routes(self) -> list[tuple[str, str, Handler]]:
        hook = "/webhooks/{application}/{token}"
        return [
            ("POST", "/interactions/{interaction}/{token}/callback", self.callback),
            ("POST", hook, self.follow_up),
            ("GET", hook + "/messages/{message}", self.get),
            ("PATCH", hook + "/messages/{message}", self.edit),
            ("DELETE", hook + "/messages/{message}", self.delete),
        ]

    # The first response

    async def callback(self, request: web.Request) -> web.Response:
        invocation = self._by_id.get(int(request.match_info["interaction"]))
        late = invocation is not None and self._steady() - invocation.began > self.answer_within
        if (
            invocation is None
            or invocation.token != request.match_info["token"]
            or (late and invocation.answer is None)
        ):
            raise Refusal(404, 10062, "Unknown interaction")
        body, files = await body_of(request)
        if invocation.answer is not None:
            raise Refusal(400, 40060, "Interaction has already been acknowledged.")
        kind, data = body["type"], body.get("data") or {}
        made = await self._answer(invocation, kind, data, files)
        invocation.answer = kind
        invocation.acknowledged = self._steady()
        if request.query.get("with_response") not in ("1", "true"):
            return reply(None)
        interaction: Payload = {"id": str(invocation.id), "type": invocation.kind}
        if made is not None:
            interaction |= {
                "response_message_id": made["id"],
                "response_message_loading": kind == DEFERRED_MESSAGE,
                "response_message_ephemeral": invocation.private,
            }
        resource: Payload = {"type": kind} | ({"message": made} if made is not None else {})
        return reply({"interaction": interaction, "resource": resource})

    async def _answer(self, invocation: Invocation, kind: int, data: Payload, files: list[Sent]) -> Payload | None:
        if (kind == CHOICES) != (invocation.kind == AUTOCOMPLETE):
            raise invalid("type: an autocomplete is answered with choices and nothing else is")
        match kind:
            case 4:
                checks.check_message(data, len(files))
                return await self._post(invocation, data, files)
            case 5:
                invocation.private = bool(int(data.get("flags") or 0) & world.EPHEMERAL)
                return await self._post(invocation, data | {"content": "…"}, [], loading=True)
            case 6 | 7:
                if invocation.kind not in (COMPONENT, MODAL_SUBMIT) or invocation.message is None:
                    raise invalid("type: there is no message to update")
                invocation.original = int(invocation.message["id"])
                invocation.private = bool(invocation.message["flags"] & world.EPHEMERAL)
                if kind == UPDATE:
                    await self._change(invocation, invocation.original, data, files)
                    return self._kept(invocation, invocation.original)
            case 8:
                checks.check_choices(data["choices"])
                invocation.choices = data["choices"]
            case 9:
                if invocation.kind == MODAL_SUBMIT:
                    raise invalid("type: a modal cannot be answered with a modal")
                checks.check_modal(data)
                invocation.modal = data
            case _:
                raise invalid("type: unknown")
        return None

    async def _post(
        self, invocation: Invocation, data: Payload, files: list[Sent], *, loading: bool = False
    ) -> Payload:
        flags = int(data.get("flags") or 0)
        private = bool(flags & world.EPHEMERAL)
        body = data | {"flags": flags | (world.LOADING if loading else 0)}
        body.setdefault("allowed_mentions", {"parse": []})
        more: Payload = {"webhook_id": str(self._world.bot.id), "application_id": str(self._world.bot.id)}
        more["interaction_metadata"] = {
            "id": str(invocation.id),
            "type": invocation.kind,
            "user": invocation.person.wire(),
            "authorizing_integration_owners": {},
        }
        if private:
            more["ephemeral_for"] = str(invocation.person.id)
        message = self._rest.post(invocation.channel, self._world.bot, body, files, **more)
        if invocation.original is None:
            invocation.original = int(message["id"])
            invocation.private = private
        invocation.posted.append(int(message["id"]))
        if not private:
            await self._rest.tell("MESSAGE_CREATE", invocation.channel, message)
        return message

    # With the token, for fifteen minutes

    def _invocation(self, request: web.Request) -> Invocation:
        invocation = self._by_token.get(request.match_info["token"])
        if invocation is None:
            raise Refusal(404, 10015, "Unknown Webhook")
        if invocation.token_ended or self._steady() - invocation.began > TOKEN_LIVES:
            raise Refusal(401, 50027, "Invalid Webhook Token")
        if invocation.answer is None:
            raise Refusal(404, 10015, "Unknown Webhook")
        return invocation

    async def follow_up(self, request: web.Request) -> web.Response:
        invocation = self._invocation(request)
        body, files = await body_of(request)
        checks.check_message(body, len(files))
        original = invocation.channel.messages.get(invocation.original or 0)
        if invocation.answer == DEFERRED_MESSAGE and original is not None and original["flags"] & world.LOADING:
            # The first follow-up takes the place of the "thinking" message, private or not as that was.
            await self._change(invocation, invocation.original, body, files)
            return reply(self._kept(invocation, invocation.original))
        return reply(await self._post(invocation, body, files))

    async def get(self, request: web.Request) -> web.Response:
        invocation = self._invocation(request)
        return reply(self._kept(invocation, self._id(request, invocation)))

    async def edit(self, request: web.Request) -> web.Response:
        invocation = self._invocation(request)
        body, files = await body_of(request)
        id = self._id(request, invocation)
        await self._change(invocation, id, body, files)
        return reply(self._kept(invocation, id))

    async def delete(self, request: web.Request) -> web.Response:
        invocation = self._invocation(request)
        message = self._kept(invocation, self._id(request, invocation))
        if message["flags"] & world.EPHEMERAL:
            del invocation.channel.messages[int(message["id"])]
        else:
            await self._rest.remove(invocation.channel, message)
        return reply(None)

    def _id(self, request: web.Request, invocation: Invocation) -> int:
        name = request.match_info["message"]
        id = invocation.original if name == "@original" else int(name)
        if id is None or (id not in invocation.posted and id != invocation.original):
            raise Refusal(404, 10008, "Unknown Message")
        return id

    def _kept(self, invocation: Invocation, id: int | None) -> Payload:
        message = invocation.channel.messages.get(id or 0)
        if message is None:
            raise Refusal(404, 10008, "Unknown Message")
        return message

    async def _change(self, invocation: Invocation, id: int | None, body: Payload, files: list[Sent]) -> None:
        message = self._kept(invocation, id)
        loading = bool(message["flags"] & world.LOADING)
        if loading and body.get("poll"):
            if message["flags"] & world.EPHEMERAL:
                raise invalid("poll: nobody can vote in a message that only one person sees")
            message["content"] = ""
        self._rest.change(invocation.channel, message, body | {"was_loading": loading}, files)
        message["flags"] &= ~world.LOADING
        if not message["flags"] & world.EPHEMERAL:
            await self._rest.tell("MESSAGE_UPDATE", invocation.channel, message)

    def end_tokens(self) -> None:
        """Fifteen minutes pass: no token given so far is good any more."""
        for invocation in self.all:
            invocation.token_ended = True


def options_of(command: Payload, names: list[str], values: dict[str, Any], focused: str | None) -> list[Payload]:
    """The options of a slash command as a client sends them. Raises AssertionError for one that was not registered."""
    if names:
        inner = next((option for option in command.get("options") or [] if option["name"] == names[0]), None)
        assert inner is not None, f"there is no command {names[0]} in {command['name']}"
        return [{"name": names[0], "type": inner["type"], "options": options_of(inner, names[1:], values, focused)}]
    known = {option["name"]: option for option in command.get("options") or []}
    assert set(values) <= set(known), f"{command['name']} has no option {set(values) - set(known)}"
    missing = [name for name, option in known.items() if option.get("required") and name not in values]
    assert focused or not missing, f"{command['name']} needs {missing}"
    sent = []
    for name, value in values.items():
        option: Payload = {"name": name, "type": known[name]["type"], "value": value}
        if name == focused:
            assert known[name].get("autocomplete"), f"{name} offers nothing while it is typed"
            option["focused"] = True
        sent.append(option)
    return sent
