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
from adapters.telegram.alarms import Alarms
from adapters.telegram.arrivals import Arrivals
from adapters.telegram.ballots import Ballots
from adapters.telegram.connection import PLATFORM, Connection, conversation, spot
from adapters.telegram.group import Groups
from adapters.telegram.incoming import Heard, Me, Press, kept, read
from adapters.telegram.letters import Letters
from adapters.telegram.limiter import Limiter, Pace
from adapters.telegram.line import Gone, Line, Moved, Refused, Unwritable
from adapters.telegram.passages import Passages
from adapters.telegram.presses import Acknowledgement, Presses
from adapters.telegram.questions import Questions, unpacked
from adapters.telegram.wire import Flooded, open_bot
from adapters.telegram.writing import Typing
from core.club import Club
from core.desk import Desk, descriptions
from core.errors import LoccitError, OperatorError, ReaderError
from core.model import Event, Notice, Question, Reader, Reply
from core.strings import LOCALES, say

log = logging.getLogger(__name__)

NAME = "Telegram"

_POLL = 25
"""Seconds a poll waits for news."""
_UPDATES = ["message", "edited_message", "callback_query", "my_chat_member", "poll_answer"]
_AGAIN = 3.0
"""Seconds before a poll that failed is tried again."""


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
    service: Service
    desk = Desk(
        club,
        lambda name: f"/{name}",
        source=host.source,
        link_for=host.link_for,
        copies=view.COPIED,
        checks=lambda where, locale: service.groups.checks(where, locale),
        gather=lambda poll: service.ballots.gather(poll),
        stands=lambda poll: service.ballots.stands(poll),
    )
    ours = Me(me.id, me.username or "")
    cloud = settings.base_url is None if settings.cloud is None else settings.cloud
    service = Service(Connection(club, desk, line, host, ours, cloud), bool(me.can_read_all_group_messages))
    return service


class Service:
    """One bot at work."""

    def __init__(self, connection: Connection, reads_all: bool) -> None:
        self._connection = connection
        self._lanes = Lanes()
        self._pressing = Lanes()
        self._typing = Typing(connection)
        self._alarms = Alarms(connection)
        self.groups = Groups(connection, reads_all)
        self._questions = Questions(connection, self._alarms, self.groups)
        self._arrivals = Arrivals(connection)
        self._passages = Passages(connection)
        self.ballots = Ballots(connection, self.groups)
        self._letters = Letters(connection, self.groups, self.ballots)
        self._presses = Presses(
            connection,
            self._passages,
            self._questions,
            self._arrivals,
            self.groups,
            self.ballots,
            self._receive,
            self._letters.outbox.nudge,
        )
        self._behind: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Take up what was left, then hear what comes."""
        unfinished = await self._connection.club.post.unfinished(PLATFORM)
        left = [kept(event.payload) for event in unfinished]
        await self.groups.recall()
        await self.ballots.recall()
        for heard in sorted(left, key=lambda heard: heard.kind != "moved"):
            self._queue(heard)
        sleep = self._connection.host.sleep
        self._behind = [
            asyncio.create_task(self._guarded(work, what))
            for what, work in (
                ("commands", self._register()),
                ("kept", self._questions.kept.drain(sleep, frozenset(event.key for event in unfinished))),
                ("letters", self._letters.outbox.drain(sleep)),
                ("polls", self.ballots.tidy()),
            )
        ]
        await self._poll()

    async def close(self) -> None:
        for task in self._behind:
            task.cancel()
        self._typing.close()
        lanes = (self._lanes, self._pressing, self.ballots)
        await asyncio.gather(*(one.close() for one in lanes), *self._behind, return_exceptions=True)

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
                # What waits for us is taken without waiting for more: until then no poll is counted.
                seconds = _POLL if self.ballots.caught_up else 0
                updates = await self._connection.line.poll(offset, seconds, _UPDATES)
                for update in updates:
                    await self._take(update)
                    offset = update["update_id"] + 1
                self.ballots.caught_up |= not updates
            except InvalidToken as error:
                raise OperatorError("token_refused", platform=NAME, setting="TELEGRAM_BOT_TOKEN") from error
            except (TelegramError, OperatorError) as error:
                self.ballots.caught_up = False
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
            acknowledgement = Acknowledgement(self._connection.line, found.query)
            self._pressing.add(f"{found.chat}:{found.user}", partial(self._presses.press, found, acknowledgement))
        elif isinstance(found, Heard):
            await self._receive(found)

    async def _receive(self, heard: Heard) -> None:
        if heard.kind == "vote":
            heard = replace(heard, chat=self.ballots.chat(heard.name))
        event = Event(heard.key, PLATFORM, str(heard.chat), asdict(heard))
        if await self._connection.club.post.receive(event):
            await self._alarms.meet(heard)
            if heard.kind == "moved":  # before anything that was said in the new chat
                await self.groups.moved(heard.chat, heard.other)
                self._lanes.follow(str(heard.other), str(heard.chat))
                await self._connection.club.post.finish(heard.key)
            else:
                self._queue(heard)

    def _queue(self, heard: Heard) -> None:
        if heard.kind == "vote":
            self.ballots.take(heard)
            return
        works = heard.kind in ("ask", "book") and not (heard.kind == "ask" and heard.edited)
        if works:
            self._typing.begin(heard.chat, heard.topic)
        if heard.kind == "command" and heard.name == "stop":
            self._pressing.add(f"{heard.chat}:{heard.user}", partial(self._work, heard, False))
        else:
            self._lanes.add(str(self.groups.now(heard.chat)), partial(self._work, heard, works))

    # Done

    async def _work(self, heard: Heard, typing: bool) -> None:
        """One event; its outer edge: every failure is one sentence where it was asked."""
        chat = heard.chat
        heard = replace(heard, chat=self.groups.now(chat))
        try:
            try:
                await self._do(heard)
            except Moved as moved:
                await self.groups.moved(heard.chat, moved.chat)
                self._lanes.follow(str(moved.chat), str(heard.chat))
                heard = replace(heard, chat=moved.chat)
                for part in await self._connection.club.post.delivered(heard.under):
                    await self._connection.club.post.withdrawn(heard.under, part)  # it stands in the chat that is gone
                await self._do(heard)
        except Unwritable:
            await self.groups.unwritable(heard.chat)
        except (Gone, Refused, Moved) as error:
            log.warning("could not answer", extra={"event_key": heard.key, "error": type(error).__name__})
        finally:
            if typing:
                self._typing.end(chat, heard.topic)
        await self._connection.club.post.finish(heard.key)
        self._letters.outbox.nudge()

    async def _do(self, heard: Heard) -> None:
        if heard.kind == "status":
            await self.groups.changed(heard)
            return
        if heard.kind == "moved":
            await self.groups.moved(heard.chat, heard.other)
            return
        reader = await self._connection.reader(heard, rights=heard.kind in ("command", "book", "seen"))
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
            case "seen":
                await self._arrivals.ask(heard, reader)
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
        if heard.edited and heard.name != "ask":
            return  # what was changed later would do something that nobody sees
        if any(found.message for found in (await self._connection.club.post.delivered(heard.key)).values()):
            return  # done and said before a crash: a command such as `undo` is not done twice
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
            return
        if done.over is not None:
            await self.ballots.end(done.over)
        await self._reply(heard, done, reader)

    async def _reply(self, heard: Heard, reply: Reply, reader: Reader) -> None:
        where, place = conversation(heard), spot(heard)
        if reply.private and heard.chat < 0:
            asked = not heard.anonymous and await self._connection.may_whisper_unasked(heard.chat)
            if asked and await self._passages.whisper(heard, reply):
                return
            if reply.before is not None and await self._passages.may_whisper(heard.chat):
                reply = reply.before
        if reply.ballot is not None and await self.ballots.show(where, place, heard.key, reply.ballot):
            return
        await deliveries.show(self._connection, where, place, heard.key, view.messages(reply), reply.turn)
        try:
            for file in reply.attachments:
                await self._connection.line.send_file(place, file.name, file.data, view.sentence(file.name))
        except (Unwritable, Refused):  # words it took: a group may take no files
            await self._connection.line.send(place, view.Shown(view.sentence(say("telegram_no_files", reader.locale))))

    async def _say(self, heard: Heard, text: str, *, asks: bool = False) -> None:
        """One sentence. `asks`: the next message to us goes on with it, also under privacy mode."""
        shown = [view.Shown(view.sentence(text))]
        await deliveries.show(
            self._connection,
            conversation(heard),
            spot(heard),
            heard.under,
            shown,
            force_reply=asks and not heard.private,
        )


def _trouble(error: Exception) -> Notice:
    if isinstance(error, Conflict):
        return Notice("platform_conflict", {"platform": NAME})
    if isinstance(error, OperatorError):
        return Notice(error.key, error.params)
    if not isinstance(error, NetworkError):
        log.warning("poll failed", extra={"error": type(error).__name__})
    return Notice("platform_unreachable", {"platform": NAME})
