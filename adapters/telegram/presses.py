"""Presses: acknowledged at once, whatever comes of them; what they ask becomes an event like a typed question."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from adapters.telegram import deliveries, view
from adapters.telegram.arrivals import Arrivals, unpack_file
from adapters.telegram.ballots import Ballots
from adapters.telegram.connection import PLATFORM, Connection, conversation
from adapters.telegram.group import Groups
from adapters.telegram.incoming import Heard, Press
from adapters.telegram.line import Gone, Line, Moved, Refused, Unwritable
from adapters.telegram.passages import Passages
from adapters.telegram.payloads import Spot
from adapters.telegram.questions import Questions
from adapters.telegram.writing import STOP
from core.desk import CLOSE, packed
from core.errors import LoccitError, ReaderError
from core.model import Arrival, Question, Reader, Reply
from core.strings import say

log = logging.getLogger(__name__)

_ACKNOWLEDGED = 0.15
"""Seconds after which a press is acknowledged although its answer is not ready: people see a spinner until then."""
_POPUP = 200
"""Characters of a pop-up: telegram.constants of python-telegram-bot 22.8."""


class Acknowledgement:
    """Ends a button's spinner once: with a sentence when there is one in time, without when there is none yet."""

    def __init__(self, line: Line, query: str) -> None:
        self._line = line
        self._query = query
        self._timer = asyncio.get_running_loop().call_later(_ACKNOWLEDGED, self._late)
        self._task: asyncio.Task[None] | None = None

    def _late(self) -> None:
        self._task = asyncio.create_task(self._line.acknowledge(self._query))

    async def end(self, text: str = "") -> bool:
        """False when it was too late for the sentence."""
        self._timer.cancel()
        if self._task is not None:
            await self._task
            return not text
        fits = len(text) <= _POPUP
        await self._line.acknowledge(self._query, text if fits else "")
        return fits


class Presses:
    """Does what buttons say. `receive` puts an event on record; `nudge` tells that a letter may be due."""

    def __init__(
        self,
        connection: Connection,
        passages: Passages,
        questions: Questions,
        arrivals: Arrivals,
        groups: Groups,
        ballots: Ballots,
        receive: Callable[[Heard], Awaitable[None]],
        nudge: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._passages = passages
        self._questions = questions
        self._arrivals = arrivals
        self._groups = groups
        self._ballots = ballots
        self._receive = receive
        self._nudge = nudge

    async def press(self, press: Press, acknowledgement: Acknowledgement) -> None:
        """One press; its outer edge: it is acknowledged, whatever comes of it."""
        said = ""
        try:
            said = await self._pressed(press)
        except LoccitError as error:
            if not isinstance(error, ReaderError):
                log.error("press failed", exc_info=True, extra={"key": error.key})
            reader = await self._connection.reader(press, rights=False)
            said = say(error.key, reader.locale, **error.params)
        except Unwritable:
            await self._groups.unwritable(press.chat)
            said = say("telegram_unwritable_here", (await self._connection.reader(press, rights=False)).locale)
        except (Gone, Refused, Moved) as error:
            log.warning("press without effect", extra={"error": type(error).__name__})
        except Exception:  # this edge: the spinner ends, the chat goes on
            incident = self._connection.host.new_id()[:8]
            log.exception("unexpected", extra={"incident": incident})
            said = say("unexpected", press.locale, incident=incident)
        if not await acknowledgement.end(said) and said:
            with suppress(Unwritable, Gone, Refused, Moved):
                reply = Reply(view.paragraph(said), private=True)
                await self._passages.open(press, reply, f"said:{press.query}")
        self._nudge()

    async def _pressed(self, press: Press) -> str:
        """Do it; the sentence for a pop-up, or "" when something was shown."""
        if press.data == CLOSE:
            await self._passages.close(press)
            return ""
        if press.data.startswith(STOP):
            message = press.data.removeprefix(STOP)
            return await self._questions.stop(press, int(message) if message.isdecimal() else 0)
        id = press.data.removeprefix(view.STEP)
        steps = id != press.data
        note = not steps and await self._connection.club.passages.is_note(id)
        if note and await self._passages.toggle(press, id):
            return ""
        reader = await self._connection.reader(press, rights=not (note or "." in id))
        where, key = (
            conversation(press),
            f"{PLATFORM}:{press.chat}:{0 if press.whispered else press.message}:p{press.query}",
        )
        reader, action = await self._looked_up(press, reader, id)
        if action is not None:
            file = unpack_file(action.get("file"))
            await self._receive(
                _pressed_event(press, key, "book", file=file, words=str(action.get("words", "")), partly=True)
            )
            return ""
        done = await self._connection.desk.press(where, reader, id, event=key, private=press.private)
        await self._ballots.tidy(press.chat)  # it may have made us forget the chat, and its poll with it
        if isinstance(done, Question):
            await self._receive(_pressed_event(press, done.event, "ask", question=packed(done)))
        elif done.arrival is not None:
            await self._arrived(press, done.arrival)
        elif done.deleted is not None:
            await self._delete(press, done.deleted)
        elif steps:
            await self._passages.replace(press, done)
        elif done.private or note:
            await self._passages.open(press, done, id)
        else:
            under = None if press.whispered else press.message or None
            for part in view.messages(done):
                await self._connection.line.send(Spot(press.chat, press.topic, under), part)
                under = None
        return ""

    async def _looked_up(self, press: Press, reader: Reader, id: str) -> tuple[Reader, Mapping[str, Any] | None]:
        """Who presses, and what one of our own buttons does; None for the desk's.

        What an administrator was given who speaks as the group is any administrator's to press, as the group.
        """
        if "." in id:
            return reader, None
        group = [replace(reader, id=str(press.chat))] if reader.manages and not press.private else []
        for who in (reader, *group):
            with suppress(ReaderError):
                action = await self._connection.club.post.pressed(conversation(press), who, id)
                return who, action if action.get("do") == "anyway" else None
        return reader, None

    async def _arrived(self, press: Press, arrival: Arrival) -> None:
        """The file that was asked about, taken in where the question stands; or the question is taken away."""
        if not arrival.wanted:
            await self._arrivals.let_be(press.chat, arrival.event)
            return
        file = unpack_file(arrival.file)
        await self._receive(_pressed_event(press, arrival.key, "book", file=file, shown_as=arrival.event))

    async def _delete(self, press: Press, turn: str) -> None:
        """Take away the messages of an answer that is deleted; what is too old for that is emptied."""
        reader, line = await self._connection.reader(press, rights=False), self._connection.line
        for written in await self._connection.club.post.messages(conversation(press), turn):
            sent = deliveries.message_of(written)
            if not await line.delete(press.chat, sent):
                with suppress(Gone):
                    await line.edit(press.chat, sent, view.Shown(view.sentence(say("desk_deleted", reader.locale))))


def _pressed_event(press: Press, key: str, kind: Any, **more: Any) -> Heard:
    """What a button asked, as an event that survives a crash like a typed one."""
    return Heard(
        key=key,
        kind=kind,
        chat=press.chat,
        message=0 if press.whispered else press.message,
        user=press.user,
        private=press.private,
        topic=press.topic,
        locale=press.locale,
        by=press.by,
        **more,
    )
