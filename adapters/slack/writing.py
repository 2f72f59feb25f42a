"""A form with one text, brought by a button: its view, and what was written, which names the message it stands for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.slack.incoming import Press, Where
from adapters.slack.tokens import PLATFORM
from core.model import Form
from core.strings import say

Json = dict[str, Any]

FIELD = "written"
"""The block of the text, to which a sentence about it is attached."""
_NAME = "loccit:written"
_TITLE = 24
"""Characters of a title and of the words on the form's buttons."""
_MOST = 3000
"""Characters a text field takes."""


def drawn(form: Form, press: Press, locale: str | None) -> Json:
    """The view. It carries which button brought it, so that it can be sent after a restart."""
    place, most = press.place, min(form.most, _MOST)
    kept = {
        "channel": place.channel,
        "thread": place.thread,
        "team": place.team,
        "id": press.id,
        "ts": press.ts,
        "ephemeral": press.ephemeral,
        "url": press.url,
    }
    element: Json = {"type": "plain_text_input", "action_id": FIELD, "multiline": True, "max_length": most}
    if form.text:
        element["initial_value"] = form.text[:most]
    return {
        "type": "modal",
        "callback_id": _NAME,
        "private_metadata": json.dumps(kept),
        "title": _plain(form.title[:_TITLE]),
        "submit": _plain(say("slack_form_send", locale)[:_TITLE]),
        "close": _plain(say("slack_form_leave", locale)[:_TITLE]),
        "blocks": [{"type": "input", "block_id": FIELD, "label": _plain(form.label), "element": element}],
    }


@dataclass(frozen=True, slots=True)
class Sent:
    """What was written, and the press it stands for: what comes of it takes the place of the message pressed."""

    press: Press
    text: str


def sent(body: Mapping[str, Any]) -> Sent | None:
    """A form of ours that came back; None for another's."""
    view = body.get("view") or {}
    if view.get("callback_id") != _NAME:
        return None
    try:
        kept = json.loads(view["private_metadata"])
        place = Where(str(kept["channel"]), kept["thread"], str(body["user"]["id"]), str(kept["team"]))
        text = str(view["state"]["values"][FIELD][FIELD].get("value") or "")
        key = f"{PLATFORM}:{place.team}:form:{view['id']}"
        press = Press(place, "step", str(kept["id"]), str(kept["ts"]), bool(kept["ephemeral"]), kept["url"], key)
    except (KeyError, TypeError, ValueError):
        return None
    return Sent(press, text)


def refused(sentence: str) -> Json:
    """The acknowledgement that leaves the form open, with a sentence at the field."""
    return {"response_action": "errors", "errors": {FIELD: sentence}}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": False}
