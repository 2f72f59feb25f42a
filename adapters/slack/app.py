"""One workspace served: what arrives is committed before Slack hears that it arrived, then done in its channel's lane."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse

from adapters.host import Host
from adapters.slack import forms, incoming, view, writing
from adapters.slack.alarms import Alarms
from adapters.slack.answers import Answers
from adapters.slack.books import Books
from adapters.slack.connection import Listening, Sockets
from adapters.slack.doctor import checks, missing_scopes
from adapters.slack.door import Door, Rejected, Settings, Unreachable, sdk_log
from adapters.slack.errands import Errands
from adapters.slack.home import Home
from adapters.slack.incoming import Bot, Where
from adapters.slack.letters import Letters
from adapters.slack.people import People
from adapters.slack.presses import Presses
from adapters.slack.queue import LONGEST_PAUSE, Queue
from adapters.slack.replies import Replies
from adapters.slack.sending import Sender, sentence
from adapters.slack.streaming import Streams
from adapters.slack.tokens import PLATFORM, Token
from core.club import Club
from core.desk import Desk
from core.errors import BrokenPromise, LoccitError, OperatorError
from core.model import Event, Notice
from core.strings import say

__all__ = ["Settings", "serve"]

log = logging.getLogger(__name__)

COMMAND = "/loccit"


async def serve(club: Club, *, settings: Settings, host: Host) -> None:
    """Serve the workspace until cancelled. Raises OperatorError when waiting cannot help (a refused token)."""
    workspace = Workspace(club, settings, host)
    try:
        await workspace.run()
    finally:
        await workspace.close()


class Workspace:
    """Everything that serves one workspace."""

    def __init__(self, club: Club, settings: Settings, host: Host) -> None:
        self._club = club
        self._host = host
        self._settings = settings
        self._door = Door(settings, Token(settings.token, settings.rotation, club.post, host.now))
        self._tasks: set[asyncio.Task[None]] = set()
        self._connection: Sockets | Listening | None = None
        desk = Desk(
            club,
            lambda name: f"{COMMAND} {name}",
            source=host.source,
            link_for=host.link_for,
            checks=lambda where, locale: checks(self._door, where, locale),
        )
        sender = Sender(self._door, club.post)
        replies = Replies(self._door, sender)
        self._desk = desk
        self._sender = sender
        self._people = People(self._door, host.clock)
        alarms = Alarms(club, host, self._people, sender)
        self._answers = Answers(club, desk, self._door, sender, Streams(host.clock), alarms, host.locale)
        books = Books(club, desk, self._door, sender, host.folder, host.clock)
        self._errands = Errands(club, desk, self._people, self._answers, books, sender, replies, host.now, host.new_id)
        self._letters = Letters(club.post, desk, sender, host, self._errands.take_part)
        self._queue = Queue(club, desk, self._door, self._people, self._errands, host, self._letters.outbox.nudge)
        self._presses = Presses(club, desk, self._door, sender, self._answers, replies, self._queue.keep)
        self._home = Home(club, desk, self._door)
        self._bot = Bot("", "")

    async def run(self) -> None:
        await self._door.open()
        me = await self._introduced()
        self._bot = Bot(str(me["user_id"]), str(me["team_id"]))
        if missing := missing_scopes(str(me["_scopes"])):
            self._host.tell(Notice("doctor_slack_scopes", {"scopes": ", ".join(missing)}))
        app = self._bolt(me)
        self._connection = (
            Listening(app, self._settings.port)
            if self._settings.port
            else Sockets(app, self._door, self._host.clock, self._host.sleep)
        )
        unfinished = await self._club.post.unfinished(PLATFORM)
        self._queue.resume(unfinished)
        await self._patiently(self._connection.open)
        self._host.tell(Notice("run_up", {"platform": "Slack", "name": str(me.get("user") or "")}))
        self._start(self._connection.watch())
        self._start(self._answers.kept.drain(self._host.sleep, frozenset(event.key for event in unfinished)))
        self._start(self._letters.outbox.drain(self._host.sleep))
        await self._queue.fatal

    async def close(self) -> None:
        """Within a few seconds: what is under way was committed and is taken up at the next start."""
        if self._connection is not None:
            await self._connection.close()
        for task in list(self._tasks):
            task.cancel()
        await self._queue.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._door.close()

    async def _introduced(self) -> dict[str, Any]:
        found: list[dict[str, Any]] = []

        async def ask() -> None:
            found.append(await self._door.whoami())

        await self._patiently(ask)
        return found[0]

    async def _patiently(self, attempt: Any) -> None:
        """Try until Slack answers; said once to whoever runs the bot."""
        pause, told = 1.0, False
        while True:
            try:
                await attempt()
            except (Unreachable, Rejected, TimeoutError) as error:
                if not told:
                    self._host.tell(Notice("platform_unreachable", {"platform": "Slack"}))
                    told = True
                log.warning("not connected", extra={"code": str(error)})
                await self._host.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                if told:
                    self._host.tell(Notice("platform_back", {"platform": "Slack"}))
                return

    # In

    def _bolt(self, me: Mapping[str, Any]) -> AsyncApp:
        known = AuthorizeResult(
            enterprise_id=None,
            team_id=self._bot.team,
            bot_user_id=self._bot.user,
            bot_id=str(me.get("bot_id") or ""),
            bot_token=self._settings.token,
        )

        async def authorize() -> AuthorizeResult:
            return known  # our own calls carry the token that is good now; Bolt makes none

        app = AsyncApp(
            logger=sdk_log,
            client=self._door.bare_client(),
            authorize=authorize,
            signing_secret=self._settings.signing_secret,
        )
        app.middleware(self._take_in)
        return app

    async def _take_in(self, body: dict[str, Any]) -> BoltResponse:
        """Commit what arrived, then acknowledge; when it cannot be committed there is no acknowledgement, so it comes again."""
        try:
            answer = await self._sort(body)
        except Exception:  # the platform's edge: not kept is not acknowledged
            log.exception("an event could not be kept")
            return BoltResponse(status=500, body="")
        return BoltResponse(status=200, body=answer or "")

    async def _sort(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """Keep what arrived; what the acknowledgement has to carry."""
        kind = body.get("type")
        if kind == "event_callback":
            await self._told(body["event"], str(body.get("team_id") or self._bot.team))
        elif body.get("command"):
            await self._commanded(body)
        elif kind == "block_actions":
            if (press := incoming.press(body)) is not None:
                self._start(self._press(press))
        elif kind == "message_action" and body.get("callback_id") == incoming.READ_THIS:
            await self._queue.keep(incoming.shortcut(body))
        elif kind == "view_submission" and (written := writing.sent(body)) is not None:
            return await self._written(written)
        elif kind == "view_submission" and (sent := forms.sent(body)) is not None:
            await self._queue.keep(incoming.form(body, sent.place, sent.action))
        return None

    async def _told(self, event: dict[str, Any], team: str) -> None:
        match event.get("type"):
            case "message" if event.get("subtype") == "message_changed":
                anew = incoming.changed(event, self._bot, team)
                if anew is not None and await self._errands.answers(str(anew.payload["shown_as"])):
                    await self._queue.keep(anew)
            case "message" | "app_mention":
                read = incoming.message(event, self._bot, team)
                if read is not None:
                    kept, addressed = read
                    if addressed or await self._errands.takes_part(incoming.where(kept.payload)):
                        await self._queue.keep(kept)
            case "app_home_opened" if event.get("tab") in (None, "home"):
                place = Where(str(event["channel"]), None, str(event["user"]), team)
                self._start(self._welcome(place))
            case "member_joined_channel" if event.get("user") == self._bot.user:
                await self._queue.keep(incoming.joined(event, team))
            case "assistant_thread_started":
                thread = event["assistant_thread"]
                place = Where(str(thread["channel_id"]), str(thread["thread_ts"]), str(thread["user_id"]), team)
                self._start(self._welcome(place))

    async def _commanded(self, body: dict[str, Any]) -> None:
        event = incoming.command(body)
        if event.payload["name"] in forms.NAMES and not event.payload["text"]:
            self._start(self._form(body["trigger_id"], event))
        else:
            await self._queue.keep(event)

    # Work

    async def _press(self, press: incoming.Press) -> None:
        place = press.place
        reader = await self._desk.reader(place.conversation, await self._people.reader(place))
        try:
            await self._presses.press(press, reader)
            self._letters.outbox.nudge()
            return
        except (Unreachable, Rejected):
            raise
        except LoccitError as error:
            said = self._sentence(error, reader.locale)
        except Exception:  # this press's edge: whoever pressed is told
            incident = self._host.new_id()[:8]
            log.exception("unexpected", extra={"incident": incident})
            said = say("unexpected", reader.locale, incident=incident)
        await self._sender.whisper(place, view.words(said), reader.locale, url=press.url)

    async def _written(self, sent: writing.Sent) -> dict[str, Any] | None:
        """Done before it is acknowledged: until then the form stands open with what was written, also over a crash."""
        place = sent.press.place
        reader = await self._desk.reader(place.conversation, await self._people.reader(place))
        try:
            reply = await self._presses.filled(sent, reader)
        except LoccitError as error:
            return writing.refused(self._sentence(error, reader.locale))
        if reply is not None:
            self._start(self._presses.show(sent.press, reader, reply))
        return None

    def _sentence(self, error: LoccitError, locale: str | None) -> str:
        """What is said about it; what is not for the reader to mend is logged."""
        incident = self._host.new_id()[:8]
        if isinstance(error, OperatorError | BrokenPromise):
            log.error("failed", exc_info=error, extra={"key": error.key, "incident": incident})
        return sentence(error, locale, incident)

    async def _welcome(self, place: Where) -> None:
        reader = await self._desk.reader(place.conversation, await self._people.reader(place))
        await (self._home.prompt(place, reader) if place.thread else self._home.publish(place, reader))

    async def _form(self, trigger: str, event: Event) -> None:
        """Open the form empty, then fill it; where none can be opened the command answers in text."""
        place, name = incoming.where(event.payload), event.payload["name"]
        try:
            opened = await self._door.call(
                "views.open", hasty=True, trigger_id=trigger, view=forms.skeleton(name, place)
            )
        except (Rejected, Unreachable) as error:
            log.info("no form", extra={"code": str(error)})
            await self._queue.keep(event)
            return
        reader = await self._desk.reader(place.conversation, await self._people.reader(place))
        page = forms.filled(name, place, await self._club.shelf(place.conversation), reader.locale)
        await self._door.call("views.update", view_id=opened["view"]["id"], view=page)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._edge(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _edge(self, work: Coroutine[Any, Any, None]) -> None:
        """The outer edge of what runs beside the lanes."""
        try:
            await work
        except Rejected as rejected:
            if not self._queue.refused(rejected):
                log.warning("refused", extra={"code": rejected.error})
        except Unreachable:
            log.warning("Slack could not be reached")
        except Exception:  # this edge: one press or page that fails must not end the rest
            log.exception("unexpected")
