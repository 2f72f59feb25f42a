"""The vendor's limits on what a bot may send; a breach is the error the vendor answers with."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.fakes.discord.world import Payload

CONTENT = 2_000
"""UTF-16 units, the strict reading: no client counts more than that."""
ROWS, BUTTONS, CUSTOM_ID, LABEL = 5, 5, 100, 80
EMBED_TOTAL, EMBEDS, EMBED_TITLE, EMBED_TEXT, FIELDS, FIELD_NAME, FIELD_VALUE = 6_000, 10, 256, 4_096, 25, 256, 1_024
OPTIONS, OPTION = 25, 100
CHOICES, CHOICE = 25, 100
FILE_BYTES = 10_000_000
MODAL_TITLE, MODAL_ROWS, INPUT_LABEL, INPUT_TEXT = 45, 5, 45, 4_000
NAMES = "abcdefghijklmnopqrstuvwxyz0123456789-_"

_ROW, _BUTTON, _SELECT, _INPUT, _LABEL = 1, 2, 3, 4, 18
_LINK = 5


class Refusal(Exception):  # what the vendor does, not what went wrong here
    """An error the vendor answers with: the HTTP status, its code, its words."""

    def __init__(self, status: int, code: int, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})


def invalid(message: str) -> Refusal:
    return Refusal(400, 50035, f"Invalid Form Body: {message}")


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def check_message(body: Mapping[str, Any], files: int, *, editing: bool = False) -> None:
    """Raise what the vendor would say to this message."""
    content = body.get("content") or ""
    if units(content) > CONTENT:
        raise invalid(f"content: Must be {CONTENT} or fewer in length.")
    embeds = body.get("embeds") or []
    check_embeds(embeds)
    check_components(body.get("components") or [])
    if "allowed_mentions" not in body and (not editing or content):
        raise invalid("allowed_mentions: this project promises to send them always (P12)")
    # What is blank at its ends is cut by the vendor, so a message of spaces is an empty one.
    if not editing and not content.strip() and not embeds and not files and not body.get("poll"):
        raise Refusal(400, 50006, "Cannot send an empty message")


def check_embeds(embeds: Iterable[Mapping[str, Any]]) -> None:
    embeds = list(embeds)
    if len(embeds) > EMBEDS:
        raise invalid(f"embeds: Must be {EMBEDS} or fewer in length.")
    total = 0
    for embed in embeds:
        fields = embed.get("fields") or []
        texts = [
            (embed.get("title") or "", EMBED_TITLE),
            (embed.get("description") or "", EMBED_TEXT),
            ((embed.get("footer") or {}).get("text") or "", 2_048),
            *((field["name"], FIELD_NAME) for field in fields),
            *((field["value"], FIELD_VALUE) for field in fields),
        ]
        if len(fields) > FIELDS or any(units(text) > most for text, most in texts):
            raise invalid("embeds: BASE_TYPE_MAX_LENGTH")
        total += sum(units(text) for text, _ in texts)
    if total > EMBED_TOTAL:
        raise invalid("embeds: Embed size exceeds maximum size of 6000")


def check_components(rows: list[Payload]) -> None:
    if len(rows) > ROWS:
        raise invalid(f"components: Must be {ROWS} or fewer in length.")
    seen: set[str] = set()
    for row in rows:
        if row.get("type") != _ROW:
            raise invalid("components: only action rows are known here")
        inside = row.get("components") or []
        selects = [item for item in inside if item["type"] == _SELECT]
        if not inside or len(inside) > (1 if selects else BUTTONS) or (selects and len(inside) > 1):
            raise invalid("components: BASE_TYPE_BAD_LENGTH")
        for item in inside:
            _check_item(item, seen)


def _check_item(item: Payload, seen: set[str]) -> None:
    kind = item.get("type")
    if kind == _BUTTON and item.get("style") == _LINK:
        if not str(item.get("url", "")).startswith(("http://", "https://", "discord://")) or "custom_id" in item:
            raise invalid("components: Scheme must be one of ('http', 'https', 'discord').")
    elif kind in (_BUTTON, _SELECT):
        custom_id = item.get("custom_id") or ""
        if not 1 <= units(custom_id) <= CUSTOM_ID:
            raise invalid("custom_id: BASE_TYPE_BAD_LENGTH")
        if custom_id in seen:
            raise invalid("custom_id: Component custom id cannot be duplicated")
        seen.add(custom_id)
    else:
        raise invalid(f"components: unknown type {kind}")
    if kind == _BUTTON:
        label = item.get("label") or ""
        if units(label) > LABEL or not (label.strip() or item.get("emoji")):
            raise invalid(f"label: Must be between 1 and {LABEL} in length.")
    if kind == _SELECT:
        options = item.get("options") or []
        if not 1 <= len(options) <= OPTIONS:
            raise invalid(f"options: Must be between 1 and {OPTIONS} in length.")
        for option in options:
            if any(units(option.get(part) or "") > OPTION for part in ("label", "value", "description")):
                raise invalid("options: BASE_TYPE_MAX_LENGTH")
        if len({option["value"] for option in options}) != len(options):
            raise invalid("options: The specified option value is already used")


def check_choices(choices: list[Payload]) -> None:
    if len(choices) > CHOICES:
        raise invalid(f"choices: Must be {CHOICES} or fewer in length.")
    for choice in choices:
        if not 1 <= units(str(choice["name"])) <= CHOICE or units(str(choice["value"])) > CHOICE:
            raise invalid("choices: BASE_TYPE_BAD_LENGTH")


def check_modal(data: Payload) -> None:
    if not 1 <= units(data.get("custom_id") or "") <= CUSTOM_ID:
        raise invalid("custom_id: BASE_TYPE_BAD_LENGTH")
    if units(data.get("title") or "") > MODAL_TITLE or not data.get("title"):
        raise invalid("title: BASE_TYPE_BAD_LENGTH")
    rows = data.get("components") or []
    if not 1 <= len(rows) <= MODAL_ROWS:
        raise invalid("components: BASE_TYPE_BAD_LENGTH")
    for row in rows:
        if row["type"] not in (_ROW, _LABEL):
            raise invalid("components: unknown type")
        [item] = row["components"] if row["type"] == _ROW else [row["component"]]
        label = item.get("label") if row["type"] == _ROW else row.get("label")
        if item["type"] != _INPUT or not 1 <= units(label or "") <= INPUT_LABEL:
            raise invalid(f"components.label: Must be between 1 and {INPUT_LABEL} in length.")
        most = item.get("max_length") or INPUT_TEXT
        if most > INPUT_TEXT or units(item.get("value") or "") > most:
            raise invalid(f"components.value: Must be {most} or fewer in length.")


def check_commands(commands: list[Payload]) -> None:
    """Names, descriptions, counts and the order of options of a set of application commands."""
    for kind, most in ((1, 100), (2, 5), (3, 15)):
        if sum(command.get("type", 1) == kind for command in commands) > most:
            raise Refusal(400, 30032, "Maximum number of application commands reached")
    for command in commands:
        _check_command(command, depth=0)


def _check_command(command: Payload, depth: int) -> None:
    menu = depth == 0 and command.get("type", 1) != 1
    for name in (command["name"], *(command.get("name_localizations") or {}).values()):
        fits = 1 <= len(name) <= 32
        plain = menu or all(ch in NAMES or (ch.isalpha() and ch == ch.lower()) for ch in name)
        if not fits or not plain:
            raise invalid(f"name: Command name is invalid: {name}")
    if not menu:
        for text in (command.get("description", ""), *(command.get("description_localizations") or {}).values()):
            if not 1 <= len(text) <= 100:
                raise invalid(f"description: Must be between 1 and 100 in length: {command['name']}")
    options = command.get("options") or []
    if len(options) > 25 or (menu and options):
        raise invalid("options: BASE_TYPE_BAD_LENGTH")
    required = [bool(option.get("required")) for option in options if option["type"] > 2]
    if required != sorted(required, reverse=True):
        raise Refusal(400, 50035, "Required options must be placed before non-required options")
    for option in options:
        _check_command(option, depth + 1)
