"""The Bot API's methods, as far as a reading bot may call them: parameters in, result or Refusal out."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.telegram.polls import checked_poll
from tests.fakes.telegram.rules import (
    CALLBACK_ANSWER,
    CAPTION,
    DOWNLOAD,
    TEXT,
    JsonObject,
    Refusal,
    bad,
    check_keyboard,
    checked_text,
)
from tests.fakes.telegram.world import BOT, Chat, Person, World, quoted

_RIGHTS = (
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_send_messages",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_manage_topics",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
)
"""What a group permits its members."""


@dataclass
class Query:
    """A pressed button that waits for its acknowledgement."""

    id: str
    person: int
    at: float
    answered: float | None = None
    said: str = ""


@dataclass
class Methods:
    """`call` runs one method. `ephemeral`: does the server know messages for one member's eyes?

    "older" ignores the parameter and posts publicly; "refuses" answers 400.
    """

    world: World
    me: Person
    ephemeral: str = "yes"
    privacy: bool = False
    local: bool = False
    """True: a Bot API server of one's own, without a limit on downloads."""
    query_life: float = 15.0
    clock: Callable[[], float] = time.monotonic
    queries: dict[str, Query] = field(default_factory=dict)
    commands: dict[str, list[JsonObject]] = field(default_factory=dict)
    """Registered commands by language ("" = everybody else)."""
    actions: list[tuple[float, int, str]] = field(default_factory=list)
    forced: list[int] = field(default_factory=list)
    """Messages that made clients offer a reply."""

    def named(self, method: str) -> str:
        """A method by the name that the vendor's pages give it: names have no case."""
        return _NAMES.get(method.lower(), method)

    def call(self, method: str, params: JsonObject, files: Mapping[str, tuple[str, bytes]]) -> Any:
        known = getattr(self, f"_do_{method}", None)
        if known is None:
            raise Refusal(404, "Not Found")
        return known(params, files)

    def knows(self, method: str) -> bool:
        return hasattr(self, f"_do_{method}")

    # The bot itself

    def _do_getMe(self, params: JsonObject, files: object) -> JsonObject:
        return {
            **self.me.json(),
            "can_join_groups": True,
            "can_read_all_group_messages": not self.privacy,
            "supports_inline_queries": False,
        }

    def _do_deleteWebhook(self, params: JsonObject, files: object) -> bool:
        return True

    def _do_setMyCommands(self, params: JsonObject, files: object) -> bool:
        commands = params["commands"]
        if len(commands) > 100:
            raise bad("BOT_COMMANDS_TOO_MUCH")
        for command in commands:
            name, description = command["command"], command["description"]
            if not (1 <= len(name) <= 32 and name.replace("_", "").isalnum() and name == name.lower()):
                raise bad("BOT_COMMAND_INVALID")
            if not 1 <= len(description) <= 256:
                raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        self.commands[params.get("language_code", "")] = commands
        return True

    # Messages

    def _do_sendMessage(self, params: JsonObject, files: object) -> JsonObject:
        text, entities = self._text(params, "text", "entities", TEXT)
        if not text:
            raise bad("message text is empty")
        return self._send(params, {"text": text} | ({"entities": entities} if entities else {}))

    def _do_sendPhoto(self, params: JsonObject, files: Mapping[str, tuple[str, bytes]]) -> JsonObject:
        self._permit(self.world.writable(params), "photos")
        file = self._file(params, "photo", files)
        sizes = [{"file_id": file, "file_unique_id": file, "width": 10, "height": 10, "file_size": 1}]
        return self._send(params, {"photo": sizes} | self._caption(params))

    def _do_sendDocument(self, params: JsonObject, files: Mapping[str, tuple[str, bytes]]) -> JsonObject:
        self._permit(self.world.writable(params), "documents")
        file = self._file(params, "document", files)
        stored = self.world.files[file]
        document = {
            "file_id": file,
            "file_unique_id": file,
            "file_name": stored.name,
            "file_size": len(stored.data),
        }
        return self._send(params, {"document": document} | self._caption(params))

    def _do_editMessageText(self, params: JsonObject, files: object) -> JsonObject:
        message = self._own(params)
        if "text" not in message:
            raise bad("there is no text in the message to edit")
        text, entities = self._text(params, "text", "entities", TEXT)
        if not text:
            raise bad("message text is empty")
        return self._change(message, params, {"text": text, "entities": entities})

    def _do_editMessageCaption(self, params: JsonObject, files: object) -> JsonObject:
        return self._change(self._own(params), params, self._caption(params))

    def _do_editMessageReplyMarkup(self, params: JsonObject, files: object) -> JsonObject:
        return self._change(self._own(params), params, {})

    def _do_editMessageMedia(self, params: JsonObject, files: Mapping[str, tuple[str, bytes]]) -> JsonObject:
        message = self._own(params)
        self._permit(self.world.chat(params["chat_id"]), "photos")
        media = params["media"]
        file = self._file(media, "media", files)
        caption, entities = self._text(media, "caption", "caption_entities", CAPTION)
        sizes = [{"file_id": file, "file_unique_id": file, "width": 10, "height": 10, "file_size": 1}]
        message.pop("text", None)
        message.pop("entities", None)
        return self._change(message, params, {"photo": sizes, "caption": caption, "caption_entities": entities})

    def _do_deleteMessage(self, params: JsonObject, files: object) -> bool:
        chat = self.world.chat(params["chat_id"])
        message = self.world.message(chat, params["message_id"], "delete")
        if message["from"]["id"] != BOT and not self._admin(chat, BOT):
            raise bad("message can't be deleted")
        if time.time() - message["date"] > 48 * 3600:
            raise bad("message can't be deleted for everyone")
        del chat.messages[message["message_id"]]
        return True

    def _do_sendChatAction(self, params: JsonObject, files: object) -> bool:
        chat = self.world.writable(params)
        self.actions.append((self.clock(), chat.id, params["action"]))
        return True

    def _do_sendMessageDraft(self, params: JsonObject, files: object) -> bool:
        chat = self.world.writable(params)
        if chat.type != "private":
            raise bad("drafts can be sent in private chats only")
        if not int(params["draft_id"]):
            raise bad("DRAFT_ID_INVALID")
        text, _ = self._text(params, "text", "entities", TEXT)
        self.world.drafts.setdefault((chat.id, params["draft_id"]), []).append(text)
        return True

    def _do_setMessageReaction(self, params: JsonObject, files: object) -> bool:
        chat = self.world.writable(params)
        message = self.world.message(chat, params["message_id"], "react")
        message["reactions"] = params.get("reaction", [])
        return True

    # Polls

    def _do_sendPoll(self, params: JsonObject, files: object) -> JsonObject:
        chat = self.world.writable(params)
        self._permit(chat, "polls")
        poll = checked_poll(params, f"poll-{next(self.world.numbers)}")
        self.world.polls[poll.id] = poll
        kept: JsonObject = {"has_protected_content": True} if params.get("protect_content") else {}
        return self._send(params, kept | {"poll": poll.json()})

    def _do_stopPoll(self, params: JsonObject, files: object) -> JsonObject:
        chat = self.world.chat(params["chat_id"])
        message = chat.messages.get(int(params["message_id"]))
        if message is None:
            raise bad("message with poll to stop not found")
        if "poll" not in message:
            raise bad("message is not a poll")
        self.world.writable({"chat_id": chat.id})
        poll = self.world.polls[message["poll"]["id"]]
        if message["from"]["id"] != BOT:
            raise bad("poll can't be stopped")
        if poll.closed:
            raise bad("poll has already been closed")
        poll.closed = True
        message["poll"] = poll.json()
        return poll.json()

    # For one member's eyes

    def _do_editEphemeralMessageText(self, params: JsonObject, files: object) -> bool:
        message = self._whispered(params)
        text, entities = self._text(params, "text", "entities", TEXT)
        if not text:
            raise bad("message text is empty")
        self._change(message, params, {"text": text, "entities": entities})
        return True

    def _do_deleteEphemeralMessage(self, params: JsonObject, files: object) -> bool:
        message = self._whispered(params)
        del self.world.chat(params["chat_id"]).whispers[message["ephemeral_message_id"]]
        return True

    # Buttons, people, files

    def _do_answerCallbackQuery(self, params: JsonObject, files: object) -> bool:
        query = self.queries.get(str(params["callback_query_id"]))
        if query is None or self.clock() - query.at > self.query_life:
            raise bad("query is too old and response timeout expired or query ID is invalid")
        if len(params.get("text", "")) > CALLBACK_ANSWER:
            raise bad("MESSAGE_TOO_LONG")
        if query.answered is None:
            query.answered = self.clock()
        query.said = params.get("text", "")
        return True

    def _do_getChat(self, params: JsonObject, files: object) -> JsonObject:
        chat = self.world.chat(params["chat_id"])
        rights = {} if chat.type == "private" else {"permissions": dict.fromkeys(_RIGHTS, True) | chat.permissions}
        return {
            **chat.json(self.world.people.get(chat.id)),
            **rights,
            "accent_color_id": 0,
            "max_reaction_count": 11,
        } | {
            "accepted_gift_types": dict.fromkeys(
                ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"),
                False,
            )
        }

    def _do_getChatMember(self, params: JsonObject, files: object) -> JsonObject:
        chat = self.world.chat(params["chat_id"])
        person = self.world.people.get(int(params["user_id"]))
        if person is None:
            raise bad("PARTICIPANT_ID_INVALID")
        return self.member(chat, person)

    def _do_getChatAdministrators(self, params: JsonObject, files: object) -> list[JsonObject]:
        chat = self.world.chat(params["chat_id"])
        if chat.type == "private":
            raise bad("there are no administrators in the private chat")
        return [
            self.member(chat, self.world.people[id])
            for id, status in chat.statuses.items()
            if status in ("creator", "administrator") and not self.world.people[id].is_bot
        ]

    def _do_getFile(self, params: JsonObject, files: object) -> JsonObject:
        file = self.world.files.get(params["file_id"])
        if file is None:
            raise bad("wrong file_id or the file is temporarily unavailable")
        if len(file.data) > DOWNLOAD and not self.local:
            raise bad("file is too big")
        return {
            "file_id": file.id,
            "file_unique_id": file.id,
            "file_size": len(file.data),
            "file_path": file.path,
        }

    # What several of them share

    def member(self, chat: Chat, person: Person) -> JsonObject:
        status = chat.statuses.get(person.id, "left")
        found: JsonObject = {"user": person.json(), "status": status}
        if status == "creator":
            found["is_anonymous"] = False
        elif status == "administrator":
            rights = (
                "can_be_edited is_anonymous can_manage_chat can_delete_messages can_manage_video_chats "
                "can_restrict_members can_promote_members can_change_info can_invite_users can_post_stories "
                "can_edit_stories can_delete_stories"
            )
            found |= dict.fromkeys(rights.split(), True)
        elif status == "restricted":
            found |= {**dict.fromkeys(("is_member", *_RIGHTS), True), "until_date": 0}
        elif status == "kicked":
            found["until_date"] = 0
        return found | chat.may.get(person.id, {})

    def _admin(self, chat: Chat, id: int) -> bool:
        return chat.statuses.get(id) in ("creator", "administrator")

    def _text(self, params: JsonObject, text: str, entities: str, limit: int) -> tuple[str, list[JsonObject]]:
        if params.get("parse_mode"):
            raise Refusal(500, "this fake has no parser: texts come with entities")
        return checked_text(str(params.get(text, "")), params.get(entities) or [], limit)

    def _caption(self, params: JsonObject) -> JsonObject:
        caption, entities = self._text(params, "caption", "caption_entities", CAPTION)
        return {"caption": caption, "caption_entities": entities} if caption else {}

    def _file(self, params: JsonObject, key: str, files: Mapping[str, tuple[str, bytes]]) -> str:
        given = str(params.get(key, ""))
        upload = files.get(given.removeprefix("attach://")) if given.startswith("attach://") else files.get(key)
        if upload is not None:
            return self.world.keep_file(upload[1], upload[0]).id
        if given not in self.world.files:
            raise bad("wrong file identifier/HTTP URL specified")
        return given

    def _permit(self, chat: Chat, what: str) -> None:
        withheld = {} if self._admin(chat, BOT) else chat.permissions
        if not {**withheld, **chat.may.get(BOT, {})}.get(f"can_send_{what}", True):
            raise bad(f"not enough rights to send {what} to the chat")

    def _send(self, params: JsonObject, body: JsonObject) -> JsonObject:
        chat = self.world.writable(params)
        check_keyboard(params.get("reply_markup"))
        markup = params.get("reply_markup") or {}
        if markup.get("inline_keyboard"):  # other markup is the client's business and comes back in no message
            body = body | {"reply_markup": markup}
        reply = params.get("reply_parameters") or {}
        if reply.get("message_id") is not None:
            replied = chat.messages.get(int(reply["message_id"]))
            if replied is not None:
                body = body | {"reply_to_message": quoted(replied)}
            elif not reply.get("allow_sending_without_reply"):
                raise bad("message to be replied not found")
        private = params.get("ephemeral_message_parameters")
        if private and self.ephemeral == "refuses":
            raise bad("ephemeral messages are not available")
        if private and self.ephemeral == "yes":
            return self._whisper(chat, private, body)
        message = self.world.post(chat, self.me, body, thread=params.get("message_thread_id"))
        if markup.get("force_reply"):
            self.forced.append(message["message_id"])
        return message

    def _whisper(self, chat: Chat, private: JsonObject, body: JsonObject) -> JsonObject:
        if chat.type not in ("group", "supergroup"):
            raise bad("ephemeral messages can be sent in groups only")
        receiver = int(private["receiver_user_id"])
        query = self.queries.get(str(private.get("callback_query_id")))
        fresh = query is not None and query.person == receiver and self.clock() - query.at <= self.query_life
        if not fresh and not self._admin(chat, BOT):
            raise bad("CALLBACK_QUERY_ID_INVALID")
        return self.world.whisper(chat, self.me, receiver, body)

    def _whispered(self, params: JsonObject) -> JsonObject:
        if self.ephemeral != "yes":
            raise Refusal(404, "Not Found")
        chat = self.world.chat(params["chat_id"])
        receiver, message = chat.whispers.get(int(params["ephemeral_message_id"]), (None, None))
        if message is None or receiver != int(params["receiver_user_id"]):
            raise bad("message to edit not found")
        return message

    def _own(self, params: JsonObject) -> JsonObject:
        chat = self.world.chat(params["chat_id"])
        message = self.world.message(chat, params["message_id"])
        if message["from"]["id"] != BOT:
            raise bad("message can't be edited")
        self.world.writable({"chat_id": chat.id, "message_thread_id": message.get("message_thread_id")})
        return message

    def _change(self, message: JsonObject, params: JsonObject, body: JsonObject) -> JsonObject:
        markup = params.get("reply_markup")
        check_keyboard(markup)
        before = _face(message)
        for key, value in body.items():
            if value:
                message[key] = value
            else:
                message.pop(key, None)
        if markup and markup.get("inline_keyboard"):
            message["reply_markup"] = markup
        else:
            message.pop("reply_markup", None)
        if _face(message) == before:
            raise bad(
                "message is not modified: specified new message content and reply markup are exactly the same as a "
                "current content and reply markup of the message"
            )
        message["edit_date"] = int(time.time())
        return message


def _face(message: JsonObject) -> str:
    keys = ("text", "entities", "caption", "caption_entities", "photo", "reply_markup")
    return hashlib.sha256(repr([message.get(key) for key in keys]).encode("utf-8", "surrogatepass")).hexdigest()


_NAMES = {name.removeprefix("_do_").lower(): name.removeprefix("_do_") for name in vars(Methods) if "_do_" in name}
