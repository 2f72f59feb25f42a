"""What the library wants to be given: keyboards, entities, where a message goes, which message it was. Pure."""

from dataclasses import dataclass
from typing import Any

from telegram import CopyTextButton, InlineKeyboardButton, InlineKeyboardMarkup, Message, MessageEntity, ReplyParameters

from adapters.telegram.text import Mark
from adapters.telegram.view import STEP, Keyboard
from core.model import Choice


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a message goes. `whisper`: (user, callback query) when it is for one member's eyes."""

    chat: int
    topic: int | None = None
    reply_to: int | None = None
    whisper: tuple[int, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of ours. `whispered` to somebody, it has an id of another kind."""

    id: int
    whispered: bool = False
    picture: bool = False


def keyboard(rows: Keyboard) -> InlineKeyboardMarkup | None:
    """Buttons as the vendor wants them; one with an address or with words to copy carries those instead of an id."""
    if not rows:
        return None
    return InlineKeyboardMarkup([[_button(choice) for choice in row] for row in rows])


def _button(choice: Choice) -> InlineKeyboardButton:
    match choice.kind:
        case "link":
            return InlineKeyboardButton(choice.label, url=choice.id)
        case "copy":
            return InlineKeyboardButton(choice.label, copy_text=CopyTextButton(choice.id))
        case kind:
            return InlineKeyboardButton(choice.label, callback_data=STEP * (kind == "step") + choice.id)


def entities_of(marks: tuple[Mark, ...]) -> list[MessageEntity] | None:
    return [MessageEntity(*mark[:4], language=mark.language) for mark in marks] or None


def reply_of(spot: Spot) -> ReplyParameters | None:
    return None if spot.reply_to is None else ReplyParameters(spot.reply_to, allow_sending_without_reply=True)


def whisper_of(spot: Spot) -> dict[str, Any] | None:
    if spot.whisper is None:
        return None
    user, query = spot.whisper
    parameters = {"receiver_user_id": user} | ({"callback_query_id": query} if query else {})
    return {"ephemeral_message_parameters": parameters}


def sent_of(message: Message) -> Sent:
    whispered = message.api_kwargs.get("ephemeral_message_id")
    if whispered is not None:
        return Sent(int(whispered), whispered=True, picture=bool(message.photo))
    return Sent(message.message_id, picture=bool(message.photo))
