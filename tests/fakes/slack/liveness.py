"""What in a payload would notify somebody or be a link one can follow: the strict reading of Slack's rules.

In mrkdwn and Markdown `<…>` is live, bare addresses are linked unless `parse` is "none", Markdown links are links. In
rich text only the elements made for it are live.
"""

import re
from typing import Any

JsonObject = dict[str, Any]

_ANGLE = re.compile(r"<(?:[@#!][^>\s]+|(?:https?|mailto|tel):[^>]+)>")
_BARE = re.compile(r"(?:https?://[^\s<>|]|\bwww\.\w|\b\w[\w.+-]*@\w+\.\w|\b[\w-]+\.(?:com|org|net|example|io)\b)", re.I)
_MARKDOWN = re.compile(r"\]\(|^\s*\[[^\]]+\]:\s", re.M)
_MENTION = re.compile(r"(?<![\w.])@(?:channel|here|everyone)\b")
_EMOJI = re.compile(r":[a-z0-9_+'-]+:")


def live(text: str, blocks: list[JsonObject] | None = None, *, parse: str | None = None) -> list[str]:
    """Everything in a message that would act on somebody; links made on purpose (`link` elements) included."""
    found = [*_ANGLE.findall(text), *_MENTION.findall(text)]
    if parse != "none":
        found += _BARE.findall(text)
    for block in blocks or []:
        found += _block(block)
    return found


def live_markdown(text: str) -> list[str]:
    """The same for `markdown_text` and markdown blocks."""
    plain = re.sub(r"\\(.)", "\\1\u2060", text)
    return [*_ANGLE.findall(text), *_BARE.findall(plain), *_MARKDOWN.findall(plain), *_MENTION.findall(plain)]


def _block(block: JsonObject) -> list[str]:
    found = []
    if block["type"] == "markdown":
        return live_markdown(block["text"])
    for text in _texts(block):
        if text["type"] == "mrkdwn":
            found += [*_ANGLE.findall(text["text"]), *_BARE.findall(text["text"]), *_MENTION.findall(text["text"])]
        elif text.get("emoji", True):  # plain text turns :names: into pictures unless it is told not to
            found += _EMOJI.findall(text["text"])
    found += [f"{span['type']}: {span.get('url', span)}" for span in _spans(block) if span["type"] != "text"]
    if "image_url" in block:
        found.append(block["image_url"])
    found += [
        element["url"] for element in block.get("elements", ()) if "url" in element and block["type"] == "actions"
    ]
    return found


def _texts(node: Any) -> list[JsonObject]:
    if isinstance(node, dict):
        if node.get("type") in ("mrkdwn", "plain_text") and "text" in node:
            return [node]
        return [text for value in node.values() for text in _texts(value)]
    if isinstance(node, list):
        return [text for value in node for text in _texts(value)]
    return []


def _spans(node: Any) -> list[JsonObject]:
    if isinstance(node, dict):
        if str(node.get("type", "")) in ("rich_text_section", "rich_text_quote", "rich_text_preformatted"):
            return list(node["elements"])
        return [span for value in node.values() for span in _spans(value)]
    if isinstance(node, list):
        return [span for value in node for span in _spans(value)]
    return []
