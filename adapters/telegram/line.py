"""The Bot API by python-telegram-bot: each call waits its turn, is tried again while it may help, and fails in few ways."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx
from telegram import (
    Bot,
    BotCommand,
    ForceReply,
    InputMediaPhoto,
    LinkPreviewOptions,
    Message,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)

from adapters.telegram.limiter import Limiter
from adapters.telegram.payloads import Sent, Spot, entities_of, keyboard, reply_of, sent_of, whisper_of
from adapters.telegram.text import Plain
from adapters.telegram.view import Shown, captioned
from adapters.telegram.wire import READ, Flooded

log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_AGAIN = (0.3, 1.0, 2.0, 5.0)
"""Seconds before a call is tried again; the last one from then on."""


class Unwritable(Exception):
    """The chat does not take our words: the bot is out, muted, or the topic is closed. `reason` is the vendor's."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Gone(Exception):
    """The message is not there any more, or may not be changed."""


class Refused(Exception):
    """The vendor does not take this, whatever we wait for; its words."""


class Moved(Exception):
    """The group became a supergroup with this id."""

    def __init__(self, chat: int) -> None:
        super().__init__(chat)
        self.chat = chat


class Opened(NamedTuple):
    """A poll of the vendor's. `again`: it was not the first try, and an earlier one may stand there, too."""

    message: int
    id: str
    again: bool


class Line:
    """What the adapter says to Telegram. Raises Unwritable, Gone, Refused, Moved; everything else is waited out."""

    def __init__(self, bot: Bot, limiter: Limiter, sleep: Callable[[float], Awaitable[None]]) -> None:
        self.bot = bot
        self.limiter = limiter
        self._sleep = sleep

    async def poll(self, offset: int | None, seconds: int, kinds: list[str]) -> list[dict[str, Any]]:
        """Wait up to so many seconds for updates, as raw JSON: one that the library cannot read must not stop the others.

        Everything before `offset` is confirmed by this. Raises TelegramError.
        """
        wanted = {"timeout": seconds, "allowed_updates": kinds} | ({} if offset is None else {"offset": offset})
        try:
            # Under its own name the library would parse them; the vendor's method names have no case.
            found: list[dict[str, Any]] = await self.bot.do_api_request(
                "getupdates", wanted, read_timeout=seconds + READ
            )
        except EndPointNotFound:
            await self.bot.get_me()  # so it is the token
            raise
        return found

    async def send(self, spot: Spot, shown: Shown, *, force_reply: bool = False) -> Sent:
        """Send a text or a picture that has to arrive. A picture the vendor does not take goes without."""
        if shown.picture is not None:
            try:
                return await self._send_picture(spot, shown)
            except (Refused, Unwritable):  # a group may take words alone
                shown = captioned(shown)
        markup = ForceReply(selective=True) if force_reply else keyboard(shown.keyboard)

        async def call(topic: int | None) -> Message:
            return await self.bot.send_message(
                spot.chat,
                shown.plain.text,
                entities=entities_of(shown.plain.marks),
                link_preview_options=_NO_PREVIEW,
                reply_markup=markup,
                message_thread_id=topic,
                reply_parameters=reply_of(spot),
                api_kwargs=whisper_of(spot),
            )

        return sent_of(await self._posted(spot, call))

    async def _send_picture(self, spot: Spot, shown: Shown) -> Sent:
        async def call(topic: int | None) -> Message:
            return await self.bot.send_photo(
                spot.chat,
                shown.picture or b"",
                caption=shown.plain.text,
                caption_entities=entities_of(shown.plain.marks),
                reply_markup=keyboard(shown.keyboard),
                message_thread_id=topic,
                reply_parameters=reply_of(spot),
                api_kwargs=whisper_of(spot),
            )

        return sent_of(await self._posted(spot, call))

    async def send_file(self, spot: Spot, name: str, data: bytes, caption: Plain) -> Sent:
        async def call(topic: int | None) -> Message:
            return await self.bot.send_document(
                spot.chat,
                data,
                filename=name,
                caption=caption.text,
                caption_entities=entities_of(caption.marks),
                message_thread_id=topic,
                reply_parameters=reply_of(spot),
                api_kwargs=whisper_of(spot),
            )

        return sent_of(await self._posted(spot, call))

    async def send_poll(self, spot: Spot, question: str, options: Sequence[str]) -> Opened:
        """Open a poll of the vendor's, one vote each and no secret.

        It cannot be forwarded: strangers would vote in it. Read raw: the library takes no polls from servers older than it.
        """
        calls = 0

        async def call(topic: int | None) -> Any:
            nonlocal calls
            calls += 1
            asked = {
                "chat_id": spot.chat,
                "question": question,
                "options": [{"text": option} for option in options],
                "is_anonymous": False,
                "protect_content": True,
                "message_thread_id": topic,
                "reply_parameters": reply_of(spot),
            }
            return await self.bot.do_api_request("sendpoll", asked)

        message = await self._posted(spot, call)
        return Opened(message["message_id"], message["poll"]["id"], calls > 1)

    async def stop_poll(self, chat: int, message: int) -> tuple[int, ...]:
        """End a poll; the votes each option has, () when it had ended before. Raises Gone when it is not there any more."""
        await self.limiter.final(chat)
        where = {"chat_id": chat, "message_id": message}
        try:
            poll: Any = await self._surely(chat, lambda: self.bot.do_api_request("stoppoll", where))
        except Refused as error:
            if "already been closed" not in str(error).lower():
                raise
            return ()
        return tuple(option["voter_count"] for option in poll["options"])

    async def stands(self, chat: int, message: int) -> bool:
        """Whether a message of ours that has no buttons is still there: to take them away is refused as no change."""
        await self.limiter.final(chat)
        where = {"chat_id": chat, "message_id": message}
        try:
            await self._surely(chat, lambda: self.bot.do_api_request("editmessagereplymarkup", where))
        except Refused as error:
            return "not modified" in str(error).lower()
        except (Gone, Unwritable, Moved):
            return False
        return True

    async def edit(self, chat: int, sent: Sent, shown: Shown, *, reader: int | None = None) -> Sent:
        """Replace what a message shows; a final text: it waits for its turn. "Not modified" is success. Raises Gone."""
        await self.limiter.final(chat)
        return await self._surely(chat, lambda: self._edit(chat, sent, shown, reader))

    async def edit_soon(self, chat: int, sent: Sent, shown: Shown) -> bool:
        """Replace it if that may be done right now; an edit on the way. Nothing is raised for one that fails."""
        if not self.limiter.edit(chat):
            return False
        try:
            await self._edit(chat, sent, shown, None)
        except Flooded as flooded:
            self.limiter.hold(chat, flooded.seconds)
            return False
        except (TelegramError, Gone):
            return False
        return True

    async def _edit(self, chat: int, sent: Sent, shown: Shown, reader: int | None) -> Sent:
        markup = keyboard(shown.keyboard)
        marks = entities_of(shown.plain.marks)
        try:
            if sent.whispered:
                await self.bot.do_api_request(
                    "editEphemeralMessageText",
                    {
                        "chat_id": chat,
                        "receiver_user_id": reader,
                        "ephemeral_message_id": sent.id,
                        "text": shown.plain.text,
                        "entities": marks,
                        "link_preview_options": _NO_PREVIEW,
                        **({"reply_markup": markup} if markup else {}),
                    },
                )
            elif shown.picture is not None:
                media = InputMediaPhoto(shown.picture, caption=shown.plain.text, caption_entities=marks)
                await self.bot.edit_message_media(media, chat, sent.id, reply_markup=markup)
                return Sent(sent.id, picture=True)
            else:
                await self.bot.edit_message_text(
                    shown.plain.text,
                    chat,
                    sent.id,
                    entities=marks,
                    link_preview_options=_NO_PREVIEW,
                    reply_markup=markup,
                )
        except BadRequest as error:
            if "not modified" in error.message.lower():
                return sent
            if shown.picture is not None:
                return await self._edit(chat, sent, captioned(shown), reader)
            raise
        return sent

    async def delete(self, chat: int, sent: Sent, *, reader: int | None = None) -> bool:
        """Take a message away; False when it could not be (too old, gone already)."""

        async def call() -> bool:
            if sent.whispered:
                where = {"chat_id": chat, "receiver_user_id": reader, "ephemeral_message_id": sent.id}
                await self.bot.do_api_request("deleteEphemeralMessage", where)
                return True
            return await self.bot.delete_message(chat, sent.id)

        try:
            return await self._surely(chat, call)
        except (Gone, Unwritable, Refused):
            return False

    async def draft(self, chat: int, id: int, plain: Plain) -> None:
        """Show an answer while it is written, in a private chat; nothing depends on it."""
        try:
            await self.bot.send_message_draft(chat, id, plain.text, entities=entities_of(plain.marks))
        except Flooded as flooded:
            self.limiter.hold(chat, flooded.seconds)
        except TelegramError:
            log.info("no draft", extra={"chat": chat})

    async def typing(self, chat: int, topic: int | None) -> None:
        """Say that somebody is at work, when that may be said; nothing depends on it."""
        if not self.limiter.action(chat):
            return
        try:
            await self.bot.send_chat_action(chat, "typing", message_thread_id=topic)
        except Flooded as flooded:
            self.limiter.hold(chat, flooded.seconds)
        except TelegramError:
            log.info("no typing", extra={"chat": chat})

    async def acknowledge(self, query: str, text: str = "") -> None:
        """End the spinner of a pressed button; an old query is no matter."""
        try:
            await self.bot.answer_callback_query(query, text=text[:200] or None, show_alert=len(text) > 60)
        except TelegramError:
            log.info("press not acknowledged")

    async def fetch(self, file_id: str, target: Path) -> None:
        """Download a file; a server of one's own may name a path on this machine instead. Raises Refused."""

        async def call() -> None:
            file = await self.bot.get_file(file_id)
            await file.download_to_drive(target)

        await self._surely(0, call)

    async def register(self, commands: dict[str, str], language: str | None) -> None:
        """Tell Telegram which commands there are, in one language."""
        listed = [BotCommand(name, text[:256]) for name, text in commands.items()]
        await self._surely(0, lambda: self.bot.set_my_commands(listed, language_code=language))

    async def status(self, chat: int, user: int) -> str:
        """What somebody is in a chat: creator, administrator, member …; "left" for somebody it does not know."""
        member = await self._asked("getchatmember", chat, user_id=user) or {}
        return str(member.get("status", "left"))

    async def denied(self, chat: int, user: int, rights: Sequence[str]) -> tuple[str, list[str]] | None:
        """What somebody is in a group, and which of these rights they lack, alone or with everybody; None when that cannot be said."""
        member = await self._asked("getchatmember", chat, user_id=user)
        everybody = await self._asked("getchat", chat)
        if member is None or everybody is None:
            return None
        status, permitted = str(member.get("status")), everybody.get("permissions") or {}
        if status in ("creator", "administrator"):
            return status, []
        return status, [right for right in rights if False in (member.get(right), permitted.get(right))]

    async def administrators(self, chat: int) -> tuple[int, ...]:
        try:
            members = await self._asked("getchatadministrators", chat) or []
        except Moved:
            return ()
        return tuple(member["user"]["id"] for member in members)

    async def _asked(self, method: str, chat: int, **more: int) -> Any:
        """Raw JSON, as `poll`: the library reads no person of a server older than it. None when the vendor refuses.

        A line that breaks says nothing of what somebody may do: it is waited out.
        """
        try:
            return await self._surely(chat, lambda: self.bot.do_api_request(method, {"chat_id": chat, **more}))
        except (Unwritable, Gone, Refused):
            return None

    async def _posted(self, spot: Spot, call: Callable[[int | None], Awaitable[_Result]]) -> _Result:
        await self.limiter.final(spot.chat)
        try:
            return await self._surely(spot.chat, lambda: call(spot.topic))
        except Gone:
            if spot.topic is None:
                raise Unwritable("thread not found") from None
            return await self._surely(spot.chat, lambda: call(None))  # the topic was deleted: the group itself then

    async def _surely(self, chat: int, call: Callable[[], Awaitable[_Result]]) -> _Result:
        """Try until the vendor has answered. What was lost on the way there or back is tried again: better twice than never."""
        tries = 0
        while True:
            try:
                return await call()
            except Flooded as flooded:
                self.limiter.hold(chat, flooded.seconds)
                await self._sleep(flooded.seconds)
            except ChatMigrated as moved:
                raise Moved(moved.new_chat_id) from moved
            except Forbidden as error:
                raise Unwritable(error.message) from error
            except BadRequest as error:
                raise _meaning(error) from error
            except (InvalidToken, EndPointNotFound) as error:
                raise Refused(error.message) from error
            except (NetworkError, httpx.HTTPError) as error:
                log.warning("tried again", extra={"error": type(error).__name__, "try": tries})
                await self._sleep(_AGAIN[min(tries, len(_AGAIN) - 1)])
                tries += 1


def _meaning(error: BadRequest) -> Exception:
    words = error.message.lower()
    if any(part in words for part in ("not enough rights", "chat not found", "topic_closed", "have no rights")):
        return Unwritable(error.message)
    if (
        "not found" in words
        or "can't be edited" in words
        or "can't be deleted" in words
        or "message_id_invalid" in words
    ):
        return Gone(error.message)
    return Refused(error.message)
