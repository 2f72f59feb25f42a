"""Whether what a model wrote is a summary, and the summary as it is stored: proven tags, checked quotations. Pure."""

import json
import re

from core import footnotes, tags
from core.footnotes.reasoning import Reasoning
from core.model import Span
from core.retrieval.standins import Pieces


class Unusable(Exception):
    """What the model wrote is no summary; the message is the flag that says why."""


def settle_summary(draft: str, pieces: Pieces, *, called: bool = False, reason: str = "stop") -> str:
    """The draft without reasoning and without tags that its text did not hold, quotations checked, ready to be stored.

    Raises Unusable: broken, cut, refused, not_text, empty.
    """
    if reason == "":
        raise Unusable("broken")
    if reason == "length":
        raise Unusable("cut")
    if reason == "content_filter":
        raise Unusable("refused")
    settled = footnotes.settle(draft, {run for run, _ in pieces}, [_joined(pieces)], reason=reason)
    bare = tags.NOTE.sub("", settled.markdown)
    thought_out, _ = Reasoning(hold=False).feed(draft, final=True)
    if called or _is_data(thought_out) or (not _has_words(bare) and settled.runs):
        raise Unusable("not_text")
    if not _has_words(bare):
        raise Unusable("not_text" if settled.dropped else "empty")
    if not settled.runs and _REFUSAL.match(bare.lstrip(" *_#>\"'“")):
        raise Unusable("refused")
    text = tags.defuse(" ".join(settled.markdown.split()))
    return re.sub(f" ?{tags.NOTE.pattern}", lambda note: f" {tags.tag(settled.runs[int(note[1]) - 1])}", text).strip()


_REFUSAL = re.compile(
    r"(?:i(?:['’]m| am) (?:sorry|unable|not able)|sorry\b|i (?:can(?:['’]t|not)|won['’]t|must decline)|as an? (?:ai|language model)"
    r"|lo siento|no puedo|perd[oó]n|como (?:modelo|ia)\b|desculp|lamento|n[ãa]o posso|je suis d[ée]sol|je ne peux"
    r"|es tut mir leid|ich kann (?:das |dies )?(?:leider )?nicht|mi dispiace|non posso|извините|я не могу"
    r"|抱歉|对不起|對不起|我无法|我不能|申し訳|죄송)",
    re.IGNORECASE,
)
"""How a refusal begins. Only a reply without a single true tag is looked at."""


def _joined(pieces: Pieces) -> str:
    """The text quotations are checked on; white space is folded there, so one space stands for any."""
    parts: list[str] = []
    last: Span | None = None
    for run, text in pieces:
        if last is not None and run.first != last.last:
            parts.append(" ")
        parts.append(text)
        last = run
    return "".join(parts)


_FENCED = re.compile(r"\s*```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)


def _is_data(text: str) -> bool:
    """JSON, alone or in a fence, or a tool call written out."""
    fenced = _FENCED.match(text)
    body = (fenced[1] if fenced else text).strip()
    if body.startswith(("<tool_call", "<function", "<|tool")):
        return True
    try:
        return isinstance(json.loads(body), dict | list)
    except (ValueError, RecursionError):
        return False


def _has_words(text: str) -> bool:
    return any(char.isalpha() for char in text)
