"""Telegram by long polling: each update is on record before the vendor hears that it arrived, then done chat by chat.

Presses are no events: they are acknowledged at once and may be pressed again.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from telegram import Bot
from telegram.error import Conflict, InvalidToken, NetworkError, TelegramError

from adapters.host import Host
from adapters.lanes import Lanes
from adapters.telegram import deliveries, view
from adapters.telegram.arrivals import Arrivals, unpack_file
from adapters.telegram.connection import PLATFORM, Connection, conversation, spot
from adapters.telegram.group import Groups
from adapters.telegram.incoming import File, Heard, Me, Press, read
from adapters.telegram.limiter import Limiter, Pace
from adapters.telegram.line import Flooded, Gone, Line, Moved, Refused, Spot, Unwritable, open_bot
from adapters.telegram.passages import Passages
from adapters.telegram.questions import Questions, packed, unpacked
from adapters.telegram.writing import STOP, Typing
from core.club import Club
from core.desk import CLOSE, Desk, descriptions
from core.errors import LoccitError, OperatorError, ReaderError
from core.model import Event, Notice, Question, Reader, Reply
from core.strings import LOCALES, say

log = logging.getLogger(__name__)

NAME = "Telegram"

_POLL = 25
"""Seconds a poll waits for news."""
_UPDATES = ["message", "edited_message", "callback_query", "my_chat_member"]
_AGAIN = 3.0
"""Seconds before a poll that failed is tried again."""
_ACKNOWLEDGED = 0.25
"""Seconds after which a press is acknowledged although its answer is not ready: people see a spinner until then."""
_POPUP = 200
"""Characters of a pop-up: telegram.constants of python-telegram-bot 22.8."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What one bot needs. None = Telegram's own server."""

    token: str
    base_url: str | None = None
    base_file_url: str | None = None
    cloud: bool | None = None
    """Whether it is the vendor's, which gives out files up to 20 MB; None: it is when no other is named."""


async def serve(club: Club, settings: Settings, host: Host, *, pace: Pace | None = None) -> None:
    """Serve until cancelled. Raises OperatorError `token_refused`."""
    bot = open_bot(settings.token, settings.base_url, settings.base_file_url)
    try:
        service = await _connected(bot, club, settings, host, pace or Pace())
        try:
            await service.run()
        finally:
            await service.close()
    finally:
        with suppress(TelegramError, RuntimeError):
            await bot.shutdown()


async def _connected(bot: Bot, club: Club, settings: Settings, host: Host, pace: Pace) -> "Service":
    told = False
    while True:
        try:
            await bot.initialize()
            me = await bot.get_me()
            break
        except InvalidToken as error:
            raise OperatorError("token_refused", platform=NAME, setting="TELEGRAM_BOT_TOKEN") from error
        except TelegramError:
            if not told:
                host.tell(Notice("platform_unreachable", {"platform": NAME}))
            told = True
            await host.sleep(_AGAIN)
    host.tell(Notice("run_up", {"platform": NAME, "name": f"@{me.username}"}))
    line = Line(bot, Limiter(host.clock, host.sleep, pace), host.sleep)
    desk = Desk(club, lambda name: f"/{name}", source=host.source, link_for=host.link_for)
    ours = Me(me.id, me.username or "")
    cloud = settings.base_url is None if settings.cloud is None else settings.cloud
    return Service(Connection(club, desk, line, host, ours, cloud), bool(me.can_read_all_group_messages))


class _Acknowledgement:
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


class Service:
    """One bot at work."""

    def __init__(self, connection: Connection, reads_all: bool) -> None:
        self._connection = connection
        self._lanes = Lanes()
        self._presses = Lanes()
        self._typing = Typing(connection)
        self._questions = Questions(connection)
        self._arrivals = Arrivals(connection)
        self._passages = Passages(connection)
        self._groups = Groups(connection, reads_all)
        self._behind: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Take up what was left, then hear what comes."""
        unfinished = await self._connection.club.post.unfinished(PLATFORM)
        for event in unfinished:
            self._queue(_unpacked(event.payload))
        self._behind = [
            asyncio.create_task(self._guarded(work, what))
            for what, work in (
                ("commands", self._register()),
                ("unshown", self._questions.bring_unshown(frozenset(event.key for event in unfinished))),
                ("kept", self._questions.answer_kept()),
            )
        ]
        await self._poll()

    async def close(self) -> None:
        for task in self._behind:
            task.cancel()
        self._typing.close()
        await asyncio.gather(self._lanes.close(), self._presses.close(), *self._behind, return_exceptions=True)

    async def _guarded(self, work: Any, what: str) -> None:
        try:
            await work
        except Exception:  # the outer edge of work behind the conversation
            log.exception("failed behind", extra={"work": what})

    async def _register(self) -> None:
        for locale in LOCALES:
            language = None if locale == "en" else locale
            await self._connection.line.register(descriptions(locale), language)

    # In

    async def _poll(self) -> None:
        host = self._connection.host
        offset: int | None = None
        trouble = ""
        while True:
            try:
                for update in await self._connection.line.poll(offset, _POLL, _UPDATES):
                    await self._take(update)
                    offset = update["update_id"] + 1
            except InvalidToken as error:
                raise OperatorError("token_refused", platform=NAME, setting="TELEGRAM_BOT_TOKEN") from error
            except (TelegramError, OperatorError) as error:
                said = _trouble(error)
                if said.key != trouble:
                    host.tell(said)
                trouble = said.key
                await host.sleep(error.seconds if isinstance(error, Flooded) else _AGAIN)
            else:
                if trouble:
                    host.tell(Notice("platform_back", {"platform": NAME}))
                trouble = ""

    async def _take(self, update: Mapping[str, Any]) -> None:
        """Put an update on record, or do what a press asks. Raises OperatorError when nothing can be kept."""
        try:
            found = read(update, self._connection.me)
        except (KeyError, TypeError, ValueError, AttributeError):  # a shape of update we do not know: none for us
            log.exception("update not understood", extra={"update": update.get("update_id")})
            return
        if isinstance(found, Press):
            acknowledgement = _Acknowledgement(self._connection.line, found.query)
            self._presses.add(f"{found.chat}:{found.user}", partial(self._press, found, acknowledgement))
        elif isinstance(found, Heard):
            await self._receive(found)

    async def _receive(self, heard: Heard) -> None:
        event = Event(heard.key, PLATFORM, str(heard.chat), asdict(heard))
        if await self._connection.club.post.receive(event):
            self._queue(heard)

    def _queue(self, heard: Heard) -> None:
        works = heard.kind in ("ask", "book") and not (heard.kind == "ask" and heard.edited)
        if works:
            self._typing.begin(heard.chat, heard.topic)
        if heard.kind == "command" and heard.name == "stop":
            self._presses.add(f"{heard.chat}:{heard.user}", partial(self._work, heard, False))
        else:
            self._lanes.add(str(heard.chat), partial(self._work, heard, works))

    # Done

    async def _work(self, heard: Heard, typing: bool) -> None:
        """One event; its outer edge: every failure is one sentence where it was asked."""
        try:
            try:
                await self._do(heard)
            except Moved as moved:
                await self._groups.moved(heard.chat, moved.chat)
                heard = replace(heard, chat=moved.chat)
                for part in await self._connection.club.post.delivered(heard.key):
                    await self._connection.club.post.withdrawn(heard.key, part)  # it stands in the chat that is gone
                await self._do(heard)
        except Unwritable as error:
            await self._groups.unwritable(heard.chat, error)
        except (Gone, Refused, Moved) as error:
            log.warning("could not answer", extra={"event_key": heard.key, "error": type(error).__name__})
        finally:
            if typing:
                self._typing.end(heard.chat, heard.topic)
        await self._connection.club.post.finish(heard.key)

    async def _do(self, heard: Heard) -> None:
        if heard.kind == "status":
            await self._groups.changed(heard)
            return
        if heard.kind == "moved":
            await self._groups.moved(heard.chat, heard.other)
            return
        reader = await self._connection.reader(heard, rights=heard.kind in ("command", "book"))
        try:
            await self._answer(heard, reader)
        except LoccitError as error:
            if not isinstance(error, ReaderError):
                log.error("failed", exc_info=True, extra={"key": error.key})
            await self._say(heard, say(error.key, reader.locale, **error.params), asks=error.key == "desk_ask_what")
        except (Unwritable, Gone, Refused, Moved):
            raise
        except Exception:  # this edge: whatever else happens is ours, and the chat goes on
            incident = self._connection.host.new_id()[:8]
            log.exception("unexpected", extra={"incident": incident})
            await self._say(heard, say("unexpected", reader.locale, incident=incident))

    async def _answer(self, heard: Heard, reader: Reader) -> None:
        where, desk = conversation(heard), self._connection.desk
        match heard.kind:
            case "ask":
                if heard.question:
                    question = unpacked(heard.question, heard, reader)
                else:
                    question = desk.question(where, reader, heard.words, event=heard.key, private=heard.private)
                    if heard.reply_to is not None:
                        turn = await self._connection.club.post.turn_of(where, str(heard.reply_to))
                        question = replace(question, reply_to=turn)
                await self._questions.ask(heard, question, reader)
            case "book":
                await self._arrivals.take(heard, reader)
            case "hello":
                await self._command(replace(heard, name="help"), reader)
            case "unreadable":
                await self._say(heard, say("telegram_unreadable", reader.locale))
            case _:
                await self._command(heard, reader)

    async def _command(self, heard: Heard, reader: Reader) -> None:
        if heard.name == "stop":
            key = "telegram_stopping" if self._questions.stop_all_of(heard) else "telegram_nothing_to_stop"
            await self._say(heard, say(key, reader.locale))
            return
        desk = self._connection.desk
        done = await desk.command(
            conversation(heard), reader, heard.name, heard.words, event=heard.key, private=heard.private
        )
        if isinstance(done, Question):
            if heard.reply_to is not None:
                turn = await self._connection.club.post.turn_of(conversation(heard), str(heard.reply_to))
                done = replace(done, reply_to=turn)
            self._typing.begin(heard.chat, heard.topic)
            try:
                await self._questions.ask(heard, done, reader)
            finally:
                self._typing.end(heard.chat, heard.topic)
        elif not heard.edited:
            await self._reply(heard, done)

    async def _reply(self, heard: Heard, reply: Reply) -> None:
        where, place = conversation(heard), spot(heard)
        alone = reply.private and await self._connection.may_whisper_unasked(heard.chat)
        if alone and await self._passages.whisper(heard, reply):
            return
        await deliveries.show(self._connection, where, place, heard.key, view.messages(reply))
        for file in reply.attachments:
            await self._connection.line.send_file(place, file.name, file.data, view.sentence(file.name))

    async def _say(self, heard: Heard, text: str, *, asks: bool = False) -> None:
        """One sentence. `asks`: the next message to us goes on with it, also under privacy mode."""
        shown = [view.Shown(view.sentence(text))]
        await deliveries.show(
            self._connection, conversation(heard), spot(heard), heard.key, shown, force_reply=asks and not heard.private
        )

    # Presses

    async def _press(self, press: Press, acknowledgement: _Acknowledgement) -> None:
        """One press; its outer edge: it is acknowledged, whatever comes of it."""
        said = ""
        try:
            said = await self._pressed(press)
        except LoccitError as error:
            if not isinstance(error, ReaderError):
                log.error("press failed", exc_info=True, extra={"key": error.key})
            reader = await self._connection.reader(press, rights=False)
            said = say(error.key, reader.locale, **error.params)
        except Unwritable as error:
            await self._groups.unwritable(press.chat, error)
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
        note = not steps and await self._connection.club.is_note(id)
        if note and await self._passages.toggle(press, id):
            return ""
        reader = await self._connection.reader(press, rights=not (note or "." in id))
        where, key = (
            conversation(press),
            f"{PLATFORM}:{press.chat}:{0 if press.whispered else press.message}:p{press.query}",
        )
        action = await self._own_action(press, reader, id)
        if action is not None:
            file = unpack_file(action.get("file"))
            await self._receive(_pressed_event(press, key, "book", file=file, partly=True))
            return ""
        done = await self._connection.desk.press(where, reader, id, event=key, private=press.private)
        if isinstance(done, Question):
            await self._receive(_pressed_event(press, key, "ask", question=packed(done)))
        elif done.deleted is not None:
            await self._delete(press, done.deleted)
        elif steps:
            await self._passages.replace(press, done)
        elif done.private or note:
            await self._passages.open(press, done, id)
        else:
            await self._connection.line.send(
                Spot(press.chat, press.topic, press.message or None), view.messages(done)[0]
            )
        return ""

    async def _own_action(self, press: Press, reader: Reader, id: str) -> Mapping[str, Any] | None:
        """What one of our own buttons does; None for the desk's."""
        if "." in id:
            return None
        with suppress(ReaderError):
            action = await self._connection.club.post.pressed(conversation(press), reader, id)
            return action if action.get("do") == "anyway" else None
        return None

    async def _delete(self, press: Press, turn: str) -> None:
        """Take away the messages of an answer that is deleted."""
        for written in await self._connection.club.post.messages(conversation(press), turn):
            await self._connection.line.delete(press.chat, deliveries.message_of(written))


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
        **more,
    )


def _unpacked(payload: Mapping[str, Any]) -> Heard:
    file = payload.get("file")
    return Heard(**{**payload, "file": File(**file) if file else None})


def _trouble(error: Exception) -> Notice:
    if isinstance(error, Conflict):
        return Notice("platform_conflict", {"platform": NAME})
    if isinstance(error, OperatorError):
        return Notice(error.key, error.params)
    if not isinstance(error, NetworkError):
        log.warning("poll failed", extra={"error": type(error).__name__})
    return Notice("platform_unreachable", {"platform": NAME})
