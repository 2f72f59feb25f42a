"""A document as Discord's Markdown: what a book or a model wrote stays literal, nothing in it notifies, links or unfolds. Pure.

Markup characters are escaped; what clients or the server turn live by themselves (mentions, addresses, invitations) is
broken up by a zero width space, which no escape could do: the server reads mentions before any Markdown.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.model import (
    Block,
    Cite,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    LineBreak,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Table,
    Text,
)

BREAK = "\u200b"
"""Zero width space: what the vendor's own libraries put into mentions to make them inert."""

_UNSENDABLE = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff]")
_LINES = re.compile("\r\n?|[\u2028\u2029]")
_LIVE = re.compile(
    r"@(?=\S)"  # @everyone, <@1>, mail addresses
    r"|<(?=\S)"  # mentions of channels, commands and roles, custom emoji, times, bracketed addresses
    r"|:(?=//)"  # any scheme
    r"|(?:discord(?:app)?\.(?:com|gg|gift|new|media)|dis\.gd)(?=[/\\])",  # invitations unfold without a scheme
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[\\*_~|`\[]|:(?=[\w+~-]+:)")
_LEAD = re.compile(r"^(\s*)(?:([#>+-])|(\d{1,9})([.)]))")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,20}")
_ADDRESS = re.compile(r"https?://[^\s<>\x00-\x1f\u200b]+", re.IGNORECASE)


class Run(NamedTuple):
    """Text of one style. `code` has no other; `made` is Markdown of ours."""

    text: str
    strong: bool = False
    emphasis: bool = False
    code: bool = False
    made: bool = False


def units(text: str) -> int:
    """UTF-16 units: no client and no server counts more than that."""
    return len(text) + sum(1 for ch in text if ord(ch) > 0xFFFF)


def inert(text: str) -> str:
    """`text` with whatever would turn live by itself broken up, for places where Markdown is not read."""
    return _LIVE.sub(lambda match: match[0] + BREAK, clean(text))


def clean(text: str) -> str:
    """`text` as the vendor takes it: no control characters, line ends as they are written there."""
    return _UNSENDABLE.sub("\ufffd", _LINES.sub("\n", text))


def literal(text: str, *, leads: bool = False) -> str:
    """`text` (one line) so that it is shown letter for letter; `leads` when it begins a line."""
    escaped = _MARKUP.sub(lambda match: "\\" + match[0], text)
    if leads:
        escaped = _LEAD.sub(_led, escaped)
    return _LIVE.sub(lambda match: match[0] + BREAK, escaped)


def _led(match: re.Match[str]) -> str:
    """What would begin a heading, a list or a quotation at the start of a line."""
    space, sign, number, stop = match.groups()
    return f"{space}\\{sign}" if sign else f"{space}{number}\\{stop}"


def markdown(document: Document, *, hidden: bool = False) -> str:
    """The document in the vendor's Markdown; quotations are `hidden` under a spoiler until they are clicked."""
    text = "\n".join(_blocks(document, hidden))
    # The server cuts white space off both ends.
    return (BREAK if text[:1].isspace() else "") + text + (BREAK if text[-1:].isspace() else "")


def _blocks(blocks: Sequence[Block], hidden: bool, between: Sequence[str] = ("",)) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        lines += [*(between if lines else ()), *_block(block, hidden)]
    return lines


def _block(block: Block, hidden: bool) -> list[str]:
    match block:
        case Paragraph(children):
            return _lines(_runs(children))
        case Heading(_, children):
            return _lines([run._replace(strong=not run.code and not run.made) for run in _runs(children)])
        case Quote(children):
            inner = _blocks(children, False)
            if hidden and inner:
                inner[0] = f"||{inner[0]}"
                inner[-1] += f"{BREAK}||"  # the rule for spoilers knows no escapes: a bar before the end would end it
            return [f"> {line or BREAK}" for line in inner]
        case CodeBlock(text, language, cites):
            return [*_fenced(text, language), *(_lines(_runs(cites)) if cites else ())]
        case ListBlock(items, ordered, start):
            lines: list[str] = []
            for number, item in enumerate(items, start):
                mark = f"{number}. " if ordered else "- "
                inner = _blocks(item.children, hidden, ()) or [BREAK]
                lines += [(mark if not at else " " * len(mark)) + line for at, line in enumerate(inner)]
            return lines
        case Table(rows):
            lines = []
            for at, row in enumerate(rows):
                runs: list[Run] = []
                for cell in row:
                    runs += [*([Run(" \\| ", made=True)] if runs else []), *_runs(cell.children)]
                lines += _lines(
                    [run._replace(strong=run.strong or (not at and not run.code and not run.made)) for run in runs]
                )
            return lines


def _fenced(text: str, language: str) -> list[str]:
    """A fence that its own text cannot end; the language stands on a line of its own or the first word would be taken for it."""
    named = language if _LANGUAGE.fullmatch(language) else ""
    body = inert(text).replace("``", f"`{BREAK}`").replace("``", f"`{BREAK}`")
    if body.endswith("`"):
        body += BREAK
    return [f"```{named}", *body.split("\n"), "```"]


def _runs(children: Iterable[Inline], strong: bool = False, emphasis: bool = False) -> list[Run]:
    runs: list[Run] = []
    for child in children:
        match child:
            case Text(text):
                runs.append(Run(clean(text), strong, emphasis))
            case Code(text):
                runs.append(Run(clean(text).replace("\n", " "), code=True))
            case LineBreak():
                runs.append(Run("\n"))
            case Emphasis(inner, is_strong):
                runs += _runs(inner, strong or is_strong, emphasis or not is_strong)
            case Link(inner, address, live):
                runs += _runs(inner, strong, emphasis)
                if live and _ADDRESS.fullmatch(address):
                    runs.append(Run(f" (<{address}>)", made=True))
            case Cite(number):
                runs.append(Run(f"[{number}]", strong, emphasis))
    return runs


def _lines(runs: Iterable[Run]) -> list[str]:
    """Lines of Markdown: each opens and closes its own marks, so that it can stand in a list or a quotation."""
    lines: list[list[Run]] = [[]]
    for run in runs:
        for at, piece in enumerate([run.text] if run.code or run.made else run.text.split("\n")):
            if at:
                lines.append([])
            if piece:
                lines[-1].append(run._replace(text=piece))
    return [_line(_merged(line)) for line in lines]


def _merged(runs: Iterable[Run]) -> list[Run]:
    merged: list[Run] = []
    for run in runs:
        if merged and merged[-1][1:] == run[1:] and not run.code:
            merged[-1] = run._replace(text=merged[-1].text + run.text)
        else:
            merged.append(run)
    return merged


def _line(runs: Sequence[Run]) -> str:
    line = ""
    closed = ""
    for run in runs:
        mark, inside, space_before, space_after = _marked(run, leads=not line.strip())
        # Two marks that touch would be read as one: `**a***b*`.
        joint = BREAK if mark and closed and not space_before else ""
        line += space_before + joint + mark + inside + mark + space_after
        closed = mark if not space_after else ""
    return line


def _marked(run: Run, *, leads: bool) -> tuple[str, str, str, str]:
    """(mark, text between the marks, white space before them, white space after)."""
    if run.made:
        return "", run.text, "", ""
    if run.code:
        return _code(run.text)
    mark = "**" * run.strong + "*" * run.emphasis
    text = run.text.strip()
    if not mark or not text:
        return "", literal(run.text, leads=leads), "", ""
    start = run.text.index(text[0]) if text else 0
    return mark, literal(text), run.text[:start], run.text[start + len(text) :]


def _code(text: str) -> tuple[str, str, str, str]:
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    body = inert(text)
    if body[:1] in ("`", "") or body[:1].isspace():
        body = BREAK + body
    if body[-1:] == "`" or body[-1:].isspace():
        body += BREAK
    return "`" * (longest + 1), body, "", ""
