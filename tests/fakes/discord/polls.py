"""Polls in messages: made within the vendor's limits, voted in by members, ended by the bot or by time; who voted for what."""

from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from tests.fakes.discord import world
from tests.fakes.discord.checks import Refusal, invalid, units
from tests.fakes.discord.gateway import DIRECT_POLLS, GUILD_POLLS, Gateway
from tests.fakes.discord.world import Channel, Payload, Person, World, moment

QUESTION, ANSWER, ANSWERS, HOURS = 300, 55, 10, 768
VOTERS_MOST, VOTERS = 100, 25
_FIRST, _APART = 3, 2
"""Answers are numbered like this: the vendor advises against counting on 1, 2, 3."""


def check_poll(poll: Mapping[str, Any]) -> None:
    """Raise what the vendor would say to a message with this poll."""
    if not 1 <= units((poll.get("question") or {}).get("text") or "") <= QUESTION:
        raise invalid(f"poll.question.text: Must be between 1 and {QUESTION} in length.")
    answers = poll.get("answers") or []
    if not 1 <= len(answers) <= ANSWERS:
        raise invalid(f"poll.answers: Must be between 1 and {ANSWERS} in length.")
    if not all(1 <= units(answer["poll_media"].get("text") or "") <= ANSWER for answer in answers):
        raise invalid(f"poll.answers.poll_media.text: Must be between 1 and {ANSWER} in length.")
    hours = poll.get("duration", 24)
    if hours != int(hours) or not 1 <= hours <= HOURS:
        raise invalid(f"poll.duration: int value should be between 1 and {HOURS}.")


class Polls:
    def __init__(
        self, world: World, gateway: Gateway, clock: Callable[[], float], tell: Callable[[str, Channel, Payload], Any]
    ) -> None:
        self._world = world
        self._gateway = gateway
        self._clock = clock
        self._tell = tell
        self._votes: dict[str, dict[int, int]] = {}
        """Message -> person -> answer."""

    def made(self, poll: Payload) -> Payload:
        """A new poll as a message has it."""
        answers = [
            {"answer_id": _FIRST + _APART * at, "poll_media": answer["poll_media"]}
            for at, answer in enumerate(poll["answers"])
        ]
        return {
            "question": poll["question"],
            "answers": answers,
            "expiry": moment(self._clock() + float(poll.get("duration", 24)) * 3600),
            "allow_multiselect": bool(poll.get("allow_multiselect")),
            "layout_type": 1,
            "results": {"is_finalized": False, "answer_counts": []},
        }

    def ended(self, message: Payload) -> bool:
        return bool(message["poll"]["expiry"] <= moment(self._clock()))

    async def vote(self, channel: Channel, message: Payload, person: Person, answer: str | None) -> None:
        """Choose an answer by its words, None takes the choice back. Raises AssertionError where a client offers no vote."""
        assert not self.ended(message), "the poll is over"
        assert int(message["id"]) in channel.messages, "the poll is gone"
        ids = {one["poll_media"]["text"]: int(one["answer_id"]) for one in message["poll"]["answers"]}
        votes = self._votes.setdefault(message["id"], {})
        before, chosen = votes.get(person.id), None if answer is None else ids[answer]
        if before is not None and before != chosen:
            del votes[person.id]
            await self._say("MESSAGE_POLL_VOTE_REMOVE", channel, message, person, before)
        if chosen is not None and before != chosen:
            votes[person.id] = chosen
            await self._say("MESSAGE_POLL_VOTE_ADD", channel, message, person, chosen)
        self._count(message)

    def _count(self, message: Payload) -> None:
        given = list(self._votes.get(message["id"], {}).values())
        message["poll"]["results"]["answer_counts"] = [
            {"id": id, "count": given.count(id), "me_voted": False} for id in sorted(set(given))
        ]

    async def _say(self, event: str, channel: Channel, message: Payload, person: Person, answer: int) -> None:
        server = channel.server
        data: Payload = {
            "user_id": str(person.id),
            "channel_id": str(channel.id),
            "message_id": message["id"],
            "answer_id": answer,
        }
        if server is not None:
            data["guild_id"] = str(server.id)
        intent = DIRECT_POLLS if server is None else GUILD_POLLS
        await self._gateway.dispatch(event, data, server_id=None if server is None else server.id, intent=intent)

    def voters(self, request: web.Request, message: Payload) -> Payload:
        """Who chose an answer, by their ids, a page of them."""
        most, after = int(request.query.get("limit", VOTERS)), int(request.query.get("after", 0))
        if not 1 <= most <= VOTERS_MOST:
            raise invalid("limit: NUMBER_TYPE_MAX")
        answer = int(request.match_info["answer"])
        if answer not in {int(one["answer_id"]) for one in self._poll(message)["answers"]}:
            raise Refusal(400, 50035, "Invalid Form Body: answer_id")
        votes = self._votes.get(message["id"], {})
        found = [id for id in sorted(votes) if votes[id] == answer and id > after][:most]
        return {"users": [self._world.people[id].wire() for id in found]}

    async def expire(self, channel: Channel, message: Payload) -> None:
        """End a poll of the bot's own at once; the vendor then posts a message of its own that says so."""
        poll = self._poll(message)
        if message["author"]["id"] != str(self._world.bot.id):
            raise Refusal(403, 50001, "Missing Access")
        if self.ended(message):
            raise Refusal(400, 520001, "Poll expired")
        poll["expiry"] = moment(self._clock())
        await self.close(channel, message)

    async def close(self, channel: Channel, message: Payload) -> None:
        """What the vendor does at the end of a poll: the count is final, and said."""
        poll = message["poll"]
        poll["results"]["is_finalized"] = True
        await self._tell("MESSAGE_UPDATE", channel, message)
        counts = {one["id"]: one["count"] for one in poll["results"]["answer_counts"]}
        fields = [
            {"name": "poll_question_text", "value": poll["question"]["text"], "inline": False},
            {"name": "total_votes", "value": str(sum(counts.values())), "inline": False},
        ]
        said = self._world.message(
            channel,
            self._world.bot,
            "",
            type=world.POLL_RESULT,
            message_reference={"message_id": message["id"], "channel_id": str(channel.id), "type": 0},
            embeds=[{"type": "poll_result", "fields": fields}],
        )
        await self._tell("MESSAGE_CREATE", channel, said)

    @staticmethod
    def _poll(message: Payload) -> Payload:
        if "poll" not in message:
            raise Refusal(400, 520006, "Cannot expire a non-poll message")
        poll: Payload = message["poll"]
        return poll
