"""How a Discord client reads a message: its text as shown, what in it is live, and what is marked up.

Written from the published rules of the vendor's Markdown, apart from the adapter, so that the two can disagree.
"""

import re
from dataclasses import dataclass, field

_MENTIONS = re.compile(r"<@[!&]?\d+>|<#\d+>|</[^<>:]+:\d+>|<id:\w+>|<a?:\w+:\d+>|<t:-?\d+(?::\w)?>|@everyone|@here")
_INVITES = re.compile(r"(?:discord(?:app)?\.(?:com/(?:invite|channels|events|template)|gg|gift|new)|dis\.gd)/\w", re.I)
_AUTOLINK = re.compile(
    r"<((?:https?|steam|discord|mailto|tel|sms):[^\s<>]+|\+\d[\d ()-]+|[\w.+-]+@[\w-]+\.[\w.]+)>", re.I
)
_URL = re.compile(r"(?:https?|steam|discord)://[^\s<]+[^<.,:;\"'\]\s]", re.I)
_MASKED = re.compile(r"\[((?:\\.|[^\[\]\\])*)\]\(\s*<?((?:https?|discord|steam)://[^\s>)]+)>?[^)]*\)", re.I)
_EMOJI = re.compile(r":([A-Za-z0-9_+~-]+):")
_ESCAPE = re.compile(r"\\([^0-9A-Za-z\s])")
_FENCE = re.compile(r"```(?:([A-Za-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```")
_TICKS = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")
_QUOTE = re.compile(r"((?:> [^\n]*(?:\n|$))+)|>>> ([\s\S]*)")
_STYLES = (
    ("strong", re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")),
    ("underline", re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)")),
    ("emphasis", re.compile(r"\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)")),
    ("emphasis", re.compile(r"\b_((?:__|\\[\s\S]|[^\\_])+?)_\b")),
    ("strike", re.compile(r"~~(?=\S)((?:\\[\s\S]|[^\\])*?\S)~~")),
    ("spoiler", re.compile(r"\|\|([\s\S]+?)\|\|")),
)
_HEADING = re.compile(r"(#{1,3}|-#) +(?=\S)([^\n]*)")
_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}\.) +(?=\S)")


@dataclass
class Read:
    text: str = ""
    live: list[str] = field(default_factory=list)
    """Mentions, links, invitations, emoji: what notifies, can be clicked, or is shown as something else."""
    marked: list[tuple[str, str]] = field(default_factory=list)
    """(style, the text in it)."""

    def styled(self, style: str) -> list[str]:
        return [text for name, text in self.marked if name == style]


def read(content: str) -> Read:
    """What a client shows of `content`."""
    out = Read()
    # Invitations are looked for in the raw text, code or not.
    out.live += _INVITES.findall(content)
    out.text = _read(content, out, line_start=True, quoted=False)
    return out


def visible(text: str) -> str:
    """`text` without characters that nobody sees."""
    return text.replace("\u200b", "")


def _read(source: str, out: Read, *, line_start: bool, quoted: bool) -> str:
    shown, at = "", 0
    while at < len(source):
        rest = source[at:]
        starts = line_start if at == 0 else source[at - 1] == "\n"
        taken, piece = _one(source, at, rest, out, starts, quoted)
        shown += piece
        at += taken
    return shown


def _one(source: str, at: int, rest: str, out: Read, starts: bool, quoted: bool) -> tuple[int, str]:
    """(characters taken, text shown) of what stands at `at`."""
    if starts:
        if not quoted and (match := _QUOTE.match(rest)):
            inner = match[2] if match[2] is not None else re.sub(r"^> ?", "", match[1], flags=re.M)
            text = _read(inner, out, line_start=True, quoted=True)
            out.marked.append(("quote", text))
            return match.end(), text
        if match := _HEADING.match(rest):
            text = _read(match[2], out, line_start=False, quoted=quoted)
            out.marked.append(("heading", text))
            return match.end(), text
        if match := _ITEM.match(rest):
            out.marked.append(("item", match[0]))
            return match.end(), match[0]
    if match := _FENCE.match(rest):
        out.marked.append((f"fence {match[1] or ''}".strip(), match[2]))
        return match.end(), match[2]
    if match := _ESCAPE.match(rest):
        return 2, match[1]
    if match := _TICKS.match(rest):
        out.marked.append(("code", match[2]))
        return match.end(), match[2]
    for pattern in (_MENTIONS, _AUTOLINK, _MASKED, _EMOJI):
        if match := pattern.match(rest):
            out.live.append(match[0])
            return match.end(), match[0]
    if match := _URL.match(rest):
        out.live.append(match[0])
        return match.end(), match[0]
    for name, pattern in _STYLES:
        if pattern.pattern.startswith(r"\b") and at and (source[at - 1].isalnum() or source[at - 1] == "_"):
            continue
        if match := pattern.match(rest):
            text = _read(match[1], out, line_start=False, quoted=quoted)
            out.marked.append((name, text))
            return match.end(), text
    return 1, rest[0]
