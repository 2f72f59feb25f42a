"""What is said unasked: answers made but never shown, answers that had to wait, letters from the outbox."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from adapters.host import Host
from adapters.outbox import Nowhere, Outbox
from adapters.slack import view
from adapters.slack.answers import Answers
from adapters.slack.door import Rejected, Unreachable
from adapters.slack.incoming import Where
from adapters.slack.sending import Sender, passes
from adapters.slack.tokens import PLATFORM
from core.club import Club
from core.desk import Desk
from core.errors import LoccitError
from core.model import Answered, Conversation, Letter, Reader, Reply, Unanswered

log = logging.getLogger(__name__)

ROUND = 20.0
"""Seconds between two attempts to answer what waits for a provider that was down."""


class Tending:
    """Goes round for ever."""

    def __init__(
        self,
        club: Club,
        desk: Desk,
        answers: Answers,
        sender: Sender,
        host: Host,
        taking_part: Callable[[Where], Awaitable[None]],
    ) -> None:
        self._club = club
        self._desk = desk
        self._answers = answers
        self._sender = sender
        self._host = host
        self._taking_part = taking_part
        self.outbox = Outbox(club.post, desk, PLATFORM, self._show)

    async def run(self, unfinished: set[str]) -> None:
        """First what a crash left unseen; events in `unfinished` are taken up elsewhere and show theirs themselves."""
        async for done in self._club.questions.unshown(PLATFORM):
            if done.event not in unfinished:
                await self._edge(done)
        while True:
            if await self._club.questions.keeps(PLATFORM):
                async for event in self._club.questions.answer_kept(PLATFORM):
                    if isinstance(event, Answered | Unanswered):
                        await self._edge(event)
            await self._host.sleep(ROUND)

    async def _edge(self, event: Answered | Unanswered) -> None:
        place = _place(event)
        if place is None:
            return
        reader = await self._desk.reader(place.conversation, Reader("", self._host.locale))
        try:
            await self._answers.kept(event, place, reader)
        except (Rejected, Unreachable, LoccitError) as error:
            log.warning("a kept answer could not be shown", extra={"code": str(error)})

    async def _show(self, letter: Letter, reply: Reply) -> None:
        conversation = letter.conversation
        place = Where(conversation.channel, conversation.thread, "", conversation.server or "")
        reader = await self._desk.reader(conversation, Reader("", self._host.locale))
        messages = view.messages(reply.document, reply.choices, locale=reader.locale)
        try:
            names = await self._sender.bring(place, letter.id, messages, turn=reply.turn, locale=reader.locale)
        except Rejected as rejected:
            if passes(rejected):
                raise
            raise Nowhere from rejected
        await self._taking_part(replace(place, thread=place.thread or names[0]))


def _place(event: Answered | Unanswered) -> Where | None:
    """Where it was asked; for a question that has no answer its key says so."""
    if isinstance(event, Answered):
        talk: Conversation = event.turn.conversation
        return Where(talk.channel, talk.thread, "", talk.server or "")
    parts = event.event.split(":")
    if len(parts) < 4 or not parts[2][:1].isupper():  # a command, a press: no message of its own
        return None
    _, team, channel, ts, *_ = parts
    return Where(channel, ts, "", team)
