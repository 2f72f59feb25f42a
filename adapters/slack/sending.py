"""Bringing what we say: parts in order, each recorded, a refused message again in plain words, a lost one looked for."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adapters.outbox import Nowhere
from adapters.slack.door import REFUSED, Door, Rejected, Unreachable
from adapters.slack.incoming import Where
from adapters.slack.view import Message, words
from core.errors import LoccitError
from core.model import Choice
from core.post import Post
from core.strings import say

log = logging.getLogger(__name__)

_GONE = {"message_not_found", "cant_update_message", "edit_window_closed", "cant_delete_message"}
_CLOSED = {
    "channel_not_found",
    "not_in_channel",
    "is_archived",
    "user_not_in_channel",
    "thread_not_found",
    "restricted_action",
    "missing_scope",
    "invalid_auth",
    "account_inactive",
    "token_revoked",
    "cannot_reply_to_message",
    "messages_tab_disabled",
}
"""Refusals that no other form of the message would change."""
_PASSING = REFUSED | {
    "missing_scope",
    "ratelimited",
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
    "unreadable",
}
"""Refusals that are about Slack or the app and not about what is said where: whoever runs them mends them."""


class Sender:
    """Posts and edits. `locale` is that of whoever reads along."""

    def __init__(self, door: Door, post: Post) -> None:
        self._door = door
        self._post = post

    async def bring(
        self,
        place: Where,
        key: str,
        messages: Sequence[Message],
        *,
        turn: str | None = None,
        locale: str | None = None,
        first: str | None = None,
    ) -> tuple[str, ...]:
        """Put all parts where they belong, those already sent in place; the names of the messages.

        `first` is the message that stands there for part 0. Parts of an earlier attempt beyond these are deleted.
        Raises Rejected where nothing can be said at all, Unreachable while Slack cannot be reached.
        """
        there = await self._post.delivered(key)
        names = []
        for at, message in enumerate(messages):
            known = there.get(at)
            name = (first if at == 0 else None) or (known.message if known else None)
            if name is None and known is not None:
                name = await self._lost(place, key, at)
            done = await self._edit(place, name, message, key, at, locale) if name else None
            if done is None:
                await self._post.sending(place.conversation, key, at)
                done = await self._new(place, message, key, at, locale)
            await self._post.sent(place.conversation, key, at, done, turn)
            names.append(done)
        for at, known in there.items():
            if at >= len(messages) and known.message:
                await self.delete(place.channel, known.message)
                await self._post.withdrawn(key, at)
        return tuple(names)

    async def whisper(
        self, place: Where, message: Message, locale: str | None = None, *, url: str | None = None
    ) -> None:
        """For this person only; through the response `url` where one of us is not a member of the channel."""
        body = {"channel": place.channel, "user": place.user, "thread_ts": place.thread}
        try:
            await self._plainly("chat.postEphemeral", body, message, locale)
        except Rejected as rejected:
            if url is None or rejected.error not in _CLOSED:
                raise
            await self._respond(url, message, locale)

    async def direct(self, user: str, message: Message, locale: str | None = None) -> None:
        """To one person, where they talk with the app alone: Slack opens that for whoever's id stands for a channel."""
        await self._plainly("chat.postMessage", {"channel": user, "mrkdwn": False}, message, locale)

    async def replace(self, url: str, message: Message, locale: str | None = None) -> bool:
        """Put a message in the place of the one whose button was pressed: the only way to change an ephemeral one.

        False when the address is good no more: it serves five times, within half an hour.
        """
        body: dict[str, Any] = {"replace_original": True, "unfurl_links": False, "unfurl_media": False}
        for shown in ({"text": message.text, "blocks": message.blocks}, {"text": _apology(message, locale)}):
            try:
                await self._door.respond(url, body | shown)
            except Rejected as rejected:
                log.info("not replaced", extra={"code": rejected.error})
            else:
                return True
        return False

    async def _respond(self, url: str, message: Message, locale: str | None) -> None:
        body = {"response_type": "ephemeral", "unfurl_links": False}
        try:
            await self._door.respond(url, body | {"text": message.text, "blocks": message.blocks})
        except Rejected:
            await self._door.respond(url, body | {"text": _apology(message, locale)})

    async def close(self, url: str) -> None:
        """Take the message away whose button was pressed."""
        await self._door.respond(url, {"delete_original": True})

    async def edit(self, channel: str, name: str, message: Message, locale: str | None = None) -> bool:
        """Change a public message of ours; False when it is gone."""
        try:
            await self._plainly("chat.update", {"channel": channel, "ts": name}, message, locale)
        except Rejected as rejected:
            if rejected.error not in _GONE:
                raise
            return False
        return True

    async def delete(self, channel: str, name: str) -> None:
        try:
            await self._door.call("chat.delete", channel=channel, ts=name)
        except Rejected as rejected:
            if rejected.error not in _GONE:
                raise

    async def _new(self, place: Where, message: Message, key: str, part: int, locale: str | None) -> str:
        body = {
            "channel": place.channel,
            "thread_ts": place.thread,
            "metadata": _mark(key, part),
            "mrkdwn": False,
        }
        return str((await self._plainly("chat.postMessage", body, message, locale))["ts"])

    async def _edit(
        self, place: Where, name: str, message: Message, key: str, part: int, locale: str | None
    ) -> str | None:
        """The message changed in place; None when it is gone and has to be said anew."""
        body = {"channel": place.channel, "ts": name, "metadata": _mark(key, part)}
        for attempt in range(2):
            try:
                await self._plainly("chat.update", body, message, locale)
            except Rejected as rejected:
                if rejected.error == "streaming_state_conflict" and attempt == 0:
                    await self.end_stream(place.channel, name)  # cut by a crash: still open on their side
                    continue
                if rejected.error in _CLOSED - {"missing_scope"}:
                    raise
                return None
            return name
        return None

    async def end_stream(self, channel: str, name: str) -> None:
        """End a streaming message; one that is not streaming any more is fine."""
        try:
            await self._door.call("chat.stopStream", channel=channel, ts=name)
        except Rejected as rejected:
            log.info("stream had ended", extra={"code": rejected.error})

    async def _plainly(self, method: str, body: dict[str, Any], message: Message, locale: str | None) -> dict[str, Any]:
        """Send with blocks; when Slack refuses those, the plain words instead, and the buttons in a message of their own."""
        safe = {"parse": "none", "link_names": False, "unfurl_links": False, "unfurl_media": False}
        body = body | safe
        try:
            return await self._door.call(method, **body, text=message.text, blocks=message.blocks)
        except Rejected as rejected:
            if rejected.error in _CLOSED | _GONE | {"streaming_state_conflict", "ratelimited", "token_expired"}:
                raise
            log.warning("message refused, sent again in plain words", extra={"code": rejected.error})
        # blocks=[]: an edit that names none would keep the old ones
        answer = await self._door.call(method, **body, text=_apology(message, locale), blocks=[])
        if message.buttons and method != "chat.update":
            await self._only_buttons(method, body, message, locale)
        return answer

    async def _only_buttons(self, method: str, body: dict[str, Any], message: Message, locale: str | None) -> None:
        text = say("slack_buttons_apart", locale)
        head = words(text).blocks
        body = {key: value for key, value in body.items() if key != "metadata"}
        try:
            await self._door.call(method, **body, text=text, blocks=[*head, *message.buttons])
        except Rejected as rejected:
            log.warning("buttons refused as well", extra={"code": rejected.error})

    async def _lost(self, place: Where, key: str, part: int) -> str | None:
        """The message of a part whose sending was begun and never confirmed: it may stand in the thread all the same."""
        if place.thread is None:
            return None
        try:
            answer = await self._door.call(
                "conversations.replies", channel=place.channel, ts=place.thread, limit=200, include_all_metadata="true"
            )
        except (Rejected, Unreachable):
            return None
        found = None
        for told in answer.get("messages") or ():
            payload = (told.get("metadata") or {}).get("event_payload") or {}
            if payload.get("key") == key and payload.get("part") == part:
                return str(told["ts"])
            if part == 0 and told.get("app_id") and not payload and told["ts"] != place.thread:
                found = str(told["ts"])  # a stream carries no mark before it ends
        return found


@contextmanager
def bringing() -> Iterator[None]:
    """For what is said unasked: Nowhere in place of a refusal that will stay one, so that it is not tried for ever."""
    try:
        yield
    except Rejected as rejected:
        if rejected.error in _PASSING:
            raise
        raise Nowhere from rejected


def sentence(error: LoccitError, locale: str | None, incident: str) -> str:
    """What to say about an error; for one whose sentence is missing, that it is ours."""
    try:
        return say(error.key, locale, **error.params)
    except (KeyError, IndexError):
        return say("unexpected", locale, incident=incident)


def failure(error: LoccitError, locale: str | None, incident: str, rows: Sequence[Sequence[Choice]] = ()) -> Message:
    return words(sentence(error, locale, incident), rows)


def _apology(message: Message, locale: str | None) -> str:
    return f"{message.text}\n\n{say('slack_plain', locale)}"


def _mark(key: str, part: int) -> dict[str, Any]:
    """How we know our own message again after a crash; readers do not see it."""
    return {"event_type": "loccit_part", "event_payload": {"key": key, "part": part}}
