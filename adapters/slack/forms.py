"""Forms for commands where choosing beats typing: opened empty within the trigger's three seconds, then filled."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.incoming import Where
from adapters.slack.richtext import blocks
from core.model import BookCard, Paragraph, Text
from core.strings import say

Json = dict[str, Any]

NAMES = {"progress": "reach", "use": "use", "remove": "remove"}
"""Commands that open a form when typed without words -> what the desk does with the choice."""

_OPTIONS = 100
_OPTION = 75
_TITLE = "Loccit"


def skeleton(name: str, place: Where) -> Json:
    """Something to look at while the books are fetched; in no language."""
    return _modal(name, place, [{"type": "section", "text": _plain("…")}])


def filled(name: str, place: Where, cards: Sequence[BookCard], locale: str | None) -> Json:
    """The form: which book, and for `progress` how far. Titles of chapters may be spoilers: numbers only."""
    if not cards:
        text = say("desk_no_books", locale, add="/loccit add")
        return _modal(name, place, blocks((Paragraph((Text(text),)),)))
    current = next((card for card in cards if card.current), cards[0])
    books = [_option(card.title, card.sha256) for card in cards[:_OPTIONS]]
    chosen = next((option for option in books if option["value"] == current.sha256), books[0])
    made = [_select("book", say("slack_form_book", locale), books, chosen)]
    if name == "progress":
        most = max(card.chapters for card in cards)
        reached = [_option(say("desk_not_begun", locale), "start")]
        reached += [
            _option(say("desk_finished", locale, number=number), f"finished {number}")
            for number in range(1, min(most, _OPTIONS - 1))
        ]
        reached.append(_option(say("desk_whole_book", locale), "all"))
        made.append(_select("reach", say("desk_where_is_the_club", locale), reached[:_OPTIONS], None))
    return _modal(name, place, made, say("slack_form_send", locale), say("slack_form_leave", locale))


def closed(text: str, name: str, place: Where) -> Json:
    """A form that can say only why it is none."""
    return _modal(name, place, blocks((Paragraph((Text(text),)),)))


@dataclass(frozen=True, slots=True)
class Sent:
    """A form that came back."""

    name: str
    place: Where
    action: Mapping[str, Any]


def sent(body: Mapping[str, Any]) -> Sent | None:
    """What a submitted form of ours asks for; None for another's."""
    view = body.get("view") or {}
    name = str(view.get("callback_id") or "").removeprefix("loccit:")
    try:
        kept = json.loads(view.get("private_metadata") or "{}")
        place = Where(str(kept["channel"]), None, str(body["user"]["id"]), str(kept["team"]))
        values = (view.get("state") or {}).get("values") or {}
        picked = {key: field[key]["selected_option"]["value"] for key, field in values.items()}
        action = {"do": NAMES[name], "book": picked["book"]}
        if name == "progress":
            action["words"] = picked["reach"]
    except (KeyError, TypeError, ValueError):
        return None
    return Sent(name, place, action)


def _modal(name: str, place: Where, content: list[Json], submit: str = "", close: str = "") -> Json:
    made: Json = {
        "type": "modal",
        "callback_id": f"loccit:{name}",
        "private_metadata": json.dumps({"channel": place.channel, "team": place.team}),
        "title": _plain(_TITLE),
        "blocks": content,
    }
    if submit:
        made |= {"submit": _plain(submit[:24]), "close": _plain(close[:24])}
    return made


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": False}


def _option(text: str, value: str) -> Json:
    label = text if len(text) <= _OPTION else text[: _OPTION - 1] + "…"
    return {"text": _plain(label), "value": value}


def _select(name: str, label: str, options: list[Json], initial: Json | None) -> Json:
    element: Json = {"type": "static_select", "action_id": name, "options": options}
    if initial is not None:
        element["initial_option"] = initial
    return {"type": "input", "block_id": name, "label": _plain(label), "element": element}
