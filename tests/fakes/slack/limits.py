"""The vendor's limits on what is shown: blocks, buttons, views, text. A check gives Slack's error code, or None.

Numbers are those of slack_sdk's models (blocks.py, block_elements.py) and of the vendor's reference: a section 3,000
characters, a markdown block 12,000, 50 blocks a message, 100 a view, 25 elements a row of buttons, labels 75, values
2,000, ids 255, one table a message of at most 100 rows by 20 columns and 10,000 characters, text 40,000.
"""

from collections.abc import Iterator
from typing import Any

JsonObject = dict[str, Any]

TEXT, MARKDOWN = 40_000, 12_000
_RICH_PARTS = {"rich_text_section", "rich_text_preformatted", "rich_text_quote"}
_RICH_SPANS = {"text", "link", "emoji", "user", "usergroup", "channel", "broadcast", "date", "color", "team"}
_MESSAGE_BLOCKS = {"section", "rich_text", "actions", "divider", "context", "header", "image", "markdown", "table"}
_VIEW_BLOCKS = (_MESSAGE_BLOCKS - {"table", "markdown"}) | {"input"}
_INPUTS = {"plain_text_input", "static_select", "external_select", "radio_buttons", "checkboxes"}


class Broken(Exception):
    """One rule that a payload breaks."""


def message_error(text: str, blocks: Any) -> str | None:
    """Why `chat.*` would refuse this."""
    if len(text) > TEXT:
        return "msg_too_long"
    if not text and not blocks:
        return "no_text"
    return blocks_error(blocks, 50, _MESSAGE_BLOCKS)


def view_error(view: JsonObject) -> str | None:
    """Why `views.*` would refuse this."""
    try:
        _require(view.get("type") in ("modal", "home"), "type")
        if view["type"] == "modal":
            _plain(view.get("title"), 24, "title")
            for key in ("submit", "close"):
                if key in view:
                    _plain(view[key], 24, key)
            _require(bool(view.get("blocks")), "a modal without blocks")
            has_input = any(block.get("type") == "input" for block in view.get("blocks", ()))
            _require(not has_input or "submit" in view, "an input needs a submit button")
        else:
            _require("submit" not in view and "close" not in view, "a home has no submit and no close")
        _require(len(view.get("private_metadata", "")) <= 3000, "private_metadata")
        _require(len(view.get("callback_id", "")) <= 255, "callback_id")
    except Broken as error:
        return f"invalid_arguments: {error}"
    return blocks_error(view.get("blocks", []), 100, _VIEW_BLOCKS)


def answer_error(view: JsonObject, answer: JsonObject | None) -> str | None:
    """Why the acknowledgement of a sent form would be refused: a sentence stands at an input of that form."""
    if answer is None:
        return None
    inputs = {block.get("block_id") for block in view["blocks"] if block["type"] == "input"}
    action, errors = answer.get("response_action"), answer.get("errors") or {}
    if action == "errors" and errors and errors.keys() <= inputs and all(errors.values()):
        return None
    if action in ("update", "push"):
        return view_error(answer["view"])
    return None if action == "clear" else f"view_submission: {answer}"


def blocks_error(blocks: Any, most: int, known: set[str] = _MESSAGE_BLOCKS) -> str | None:
    """Why these blocks are refused."""
    if blocks is None:
        return None
    try:
        _require(isinstance(blocks, list), "blocks is no list")
        _require(len(blocks) <= most, f"more than {most} blocks")
        tables = [block for block in blocks if block.get("type") == "table"]
        if len(tables) > 1:
            return "invalid_attachments: only_one_table_allowed"
        for block in blocks:
            _require(block.get("type") in known, f"block type {block.get('type')}")
            _block(block)
        named = [block["block_id"] for block in blocks if "block_id" in block]
        _require(len(named) == len(set(named)), "block_id twice")
        actions = [element["action_id"] for element in _elements(blocks) if "action_id" in element]
        _require(len(actions) == len(set(actions)), "action_id twice")
    except Broken as error:
        return f"invalid_blocks: {error}"
    except (KeyError, TypeError, AttributeError) as error:
        return f"invalid_blocks: {type(error).__name__} {error}"
    return None


def _elements(blocks: list[JsonObject]) -> Iterator[JsonObject]:
    for block in blocks:
        if block["type"] == "actions":
            yield from block["elements"]
        if "accessory" in block:
            yield block["accessory"]
        if block["type"] == "input":
            yield block["element"]


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise Broken(rule)


def _block(block: JsonObject) -> None:
    _require(len(block.get("block_id", "")) <= 255, "block_id")
    match block["type"]:
        case "section":
            _require("text" in block or "fields" in block, "a section without text")
            if "text" in block:
                _text(block["text"], 3000, "section text")
            _require(len(block.get("fields", ())) <= 10, "fields")
            for field in block.get("fields", ()):
                _text(field, 2000, "field")
            if "accessory" in block:
                _element(block["accessory"])
        case "header":
            _plain(block["text"], 150, "header")
        case "context":
            _require(1 <= len(block["elements"]) <= 10, "context elements")
            for element in block["elements"]:
                if element["type"] != "image":
                    _text(element, 3000, "context text")
        case "markdown":
            _require(0 < len(block["text"]) <= MARKDOWN, "markdown text")
        case "actions":
            _require(1 <= len(block["elements"]) <= 25, "elements of a row")
            for element in block["elements"]:
                _element(element)
        case "image":
            _require(("image_url" in block) != ("slack_file" in block), "image source")
            _require(0 < len(block["alt_text"]) <= 2000, "alt_text")
            _require(len(block.get("image_url", "")) <= 3000, "image_url")
        case "table":
            _table(block)
        case "rich_text":
            _rich_text(block)
        case "input":
            _plain(block["label"], 2000, "label")
            _require(block["element"]["type"] in _INPUTS, "input element")
            _element(block["element"])
        case _:
            pass


def _rich_text(block: JsonObject) -> None:
    _require(bool(block["elements"]), "an empty rich text")
    for part in block["elements"]:
        if part["type"] == "rich_text_list":
            _require(part["style"] in ("ordered", "bullet"), "list style")
            _require(0 <= part.get("indent", 0) <= 8, "list indent")
            _require(bool(part["elements"]), "an empty list")
            for item in part["elements"]:
                _require(item["type"] == "rich_text_section", "list item")
                _spans(item)
        else:
            _require(part["type"] in _RICH_PARTS, f"rich text part {part['type']}")
            _spans(part)


def _spans(section: JsonObject) -> None:
    _require(bool(section["elements"]), "an empty section")
    for span in section["elements"]:
        _require(span["type"] in _RICH_SPANS, f"rich text span {span['type']}")
        if span["type"] == "text":
            _require(isinstance(span["text"], str) and len(span["text"]) > 0, "an empty text")
        if span["type"] == "link":
            _require(0 < len(span["url"]) <= 3000, "url")
        _require(set(span.get("style", {})) <= {"bold", "italic", "strike", "code", "underline"}, "style")


def _table(block: JsonObject) -> None:
    rows = block["rows"]
    _require(1 <= len(rows) <= 100, "table rows")
    length = 0
    for row in rows:
        _require(1 <= len(row) <= 20, "table columns")
        for cell in row:
            if cell["type"] == "raw_text":
                _require(len(cell["text"]) > 0, "an empty cell")
                length += len(cell["text"])
            else:
                _require(cell["type"] == "rich_text", "cell type")
                _rich_text(cell)
                length += sum(len(span.get("text", "")) for part in cell["elements"] for span in part["elements"])
    _require(length <= 10_000, "table text")


def _text(text: JsonObject, most: int, what: str) -> None:
    _require(text["type"] in ("mrkdwn", "plain_text"), f"{what}: type")
    _require(0 < len(text["text"]) <= most, f"{what}: length {len(text['text'])}")


def _plain(text: Any, most: int, what: str) -> None:
    _require(isinstance(text, dict) and text["type"] == "plain_text", f"{what}: plain text")
    _require(0 < len(text["text"]) <= most, f"{what}: length")


def _element(element: JsonObject) -> None:
    _require(0 < len(element.get("action_id", "x")) <= 255, "action_id")
    match element["type"]:
        case "button":
            _plain(element["text"], 75, "label")
            _require(len(element.get("value", "")) <= 2000, "value")
            _require(len(element.get("accessibility_label", "")) <= 75, "accessibility_label")
            _require(element.get("style", "primary") in ("primary", "danger"), "style")
        case "static_select" | "overflow" | "radio_buttons" | "checkboxes":
            most = {"static_select": 100, "overflow": 5, "radio_buttons": 10, "checkboxes": 10}[element["type"]]
            options = element["options"]
            _require(1 <= len(options) <= most, "options")
            for option in options:
                _plain(option["text"], 75, "option")
                _require(0 < len(option["value"]) <= 150, "option value")
            initial = element.get("initial_option")
            _require(initial is None or initial in options, "initial option")
        case "external_select":
            _plain(element["placeholder"], 150, "placeholder")
        case "plain_text_input":
            most = element.get("max_length", 3000)
            _require(1 <= most <= 3000, "max_length")
            _require(0 <= element.get("min_length", 0) <= most, "min_length")
            _require(len(element.get("initial_value", "")) <= most, "initial_value")
            if "placeholder" in element:
                _plain(element["placeholder"], 150, "placeholder")
        case _:
            raise Broken(f"element type {element['type']}")
