"""The vendor's limits, as the server enforces them: text in UTF-16 units, entities, keyboards, what turns live by itself.

Figures: telegram/constants.py of python-telegram-bot 22.8; what the server does to text: tdlib's clean_input_string and
its search for entities, here wider than the original (any word after a dot counts as a domain).
"""

import re
from collections.abc import Sequence
from typing import Any

JsonObject = dict[str, Any]

TEXT, CAPTION, ENTITIES = 4096, 1024, 100
CALLBACK_BYTES, ROW, BUTTONS, CALLBACK_ANSWER = 64, 8, 100, 200
COPY = 256
DOWNLOAD = 20_000_000
"""Bytes getFile gives on the cloud server."""

_REMOVED = re.compile("[\r\u2028-\u202e\u0333\u033f\u030a]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")
_LIVE = (
    ("url", re.compile(r"(?:https?|ftp|tg|ton)://[^\s]+", re.I)),
    ("email", re.compile(r"[\w.+-]+@(?:[\w-]+\.)+[^\W\d_]{2,}")),
    ("url", re.compile(r"(?<![\w.@-])(?:[\w-]+\.)+[^\W\d_]{2,}(?![\w@])(?:[/:?#]\S*)?")),
    ("url", re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")),
    ("mention", re.compile(r"(?<![\w@])@[A-Za-z0-9_]{2,32}(?!\w)")),
    ("hashtag", re.compile(r"(?<![\w#])#\w*[^\W\d]\w*")),
    ("bot_command", re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@\w+)?(?![\w/<>])")),
)


class Refusal(Exception):
    """An error reply of the API."""

    def __init__(self, code: int, description: str, **parameters: float) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad(description: str) -> Refusal:
    return Refusal(400, f"Bad Request: {description}")


def units(text: str) -> int:
    """Length in UTF-16 code units: what offsets and limits count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def checked_text(text: str, entities: Sequence[JsonObject], limit: int) -> tuple[str, list[JsonObject]]:
    """What the server stores of a text: cleaned, trimmed, live parts marked. Raises Refusal."""
    if _REMOVED.search(text) or _CONTROL.search(text):
        # Offsets into a text that the server shortens would all be wrong, so shortening comes with moving them.
        text, entities = _without(text, entities)
    _check_entities(text, entities)
    lead = units(text) - units(text.lstrip())
    text = text.strip()
    size = units(text)
    if size > limit:
        raise bad("message is too long" if limit == TEXT else "message caption is too long")
    kept = []
    for entity in entities:
        start = max(entity["offset"] - lead, 0)
        end = min(entity["offset"] + entity["length"] - lead, size)
        if end > start:
            kept.append({**entity, "offset": start, "length": end - start})
    kept = kept[:ENTITIES]
    return text, sorted([*kept, *_live(text, kept)], key=lambda entity: (entity["offset"], -entity["length"]))


def _without(text: str, entities: Sequence[JsonObject]) -> tuple[str, list[JsonObject]]:
    text = _CONTROL.sub(" ", text)
    gone = [units(text[: match.start()]) for match in _REMOVED.finditer(text)]

    def moved(offset: int) -> int:
        return offset - sum(1 for place in gone if place < offset)

    return _REMOVED.sub("", text), [
        {
            **entity,
            "offset": moved(entity["offset"]),
            "length": moved(entity["offset"] + entity["length"]) - moved(entity["offset"]),
        }
        for entity in entities
    ]


def _check_entities(text: str, entities: Sequence[JsonObject]) -> None:
    wide = text.encode("utf-16-le", "surrogatepass")
    size = len(wide) // 2
    stack: list[int] = []
    for entity in sorted(entities, key=lambda entity: (entity["offset"], -entity["length"])):
        start, end = entity["offset"], entity["offset"] + entity["length"]
        if start < 0 or entity["length"] <= 0 or end > size:
            raise bad(f"entity {entity} lies outside the text of {size} units")
        for place in (start, end):
            if place < size and 0xDC <= wide[2 * place + 1] <= 0xDF:
                raise bad(f"entity begins or ends in a middle of a UTF-16 symbol at offset {place}")
        while stack and stack[-1] <= start:
            stack.pop()
        if stack and end > stack[-1]:
            raise bad(f"entities overlap at offset {start}")
        stack.append(end)
        if entity["type"] == "text_link" and not entity.get("url"):
            raise bad("text_link without an address")


def _live(text: str, entities: Sequence[JsonObject]) -> list[JsonObject]:
    """What the server and its clients make live although nobody asked: nothing inside code and given links."""
    covered = [
        (entity["offset"], entity["offset"] + entity["length"])
        for entity in entities
        if entity["type"] in ("code", "pre", "text_link", "text_mention")
    ]
    found: list[JsonObject] = []
    for kind, pattern in _LIVE:
        for match in pattern.finditer(text):
            start, end = units(text[: match.start()]), units(text[: match.end()])
            if not any(start < last and first < end for first, last in covered):
                covered.append((start, end))
                found.append({"type": kind, "offset": start, "length": end - start})
    return found


def check_keyboard(markup: JsonObject | None) -> None:
    """Raise Refusal for a keyboard the server does not take."""
    rows = (markup or {}).get("inline_keyboard", [])
    if sum(map(len, rows)) > BUTTONS:
        raise bad("reply markup is too long")
    for row in rows:
        if len(row) > ROW:
            raise bad(f"a row of {len(row)} buttons")
        for button in row:
            if not button.get("text", "").strip():
                raise bad("Button text must be non-empty")
            data = button.get("callback_data")
            if data is not None and not 1 <= len(data.encode("utf-8")) <= CALLBACK_BYTES:
                raise bad("BUTTON_DATA_INVALID")
            if sum(button.get(kind) is not None for kind in ("callback_data", "url", "copy_text")) != 1:
                raise bad("BUTTON_TYPE_INVALID")
            if not 1 <= len((button.get("copy_text") or {"text": "x"})["text"]) <= COPY:
                raise bad("BUTTON_COPY_TEXT_INVALID")
