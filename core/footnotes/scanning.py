"""The scanner: finds what is tag-shaped and what is code in a stream, holding back only what may still become a tag."""

import html
import re
from collections.abc import Callable

from core.footnotes.codes import SPAN, closes_fence, closes_span, may_close_fence, opens_fence
from core.footnotes.disguises import address_end, entity
from core.footnotes.marks import CODE, GONE, PROSE, code
from core.tags import (
    CLOSERS,
    OPENERS,
    Reference,
    clean,
    is_numbers,
    leading,
    look_alike,
    may_begin,
    may_begin_naked,
    naked,
    naked_reference,
    references,
    restore,
)

HELD = 64
"""Characters held back at most while something may be a tag (DESIGN 2.5)."""
_STOP = re.compile(r"[\[［【〔({（fFｆＦ𝐟𝑓𝖿𝚏ƒ`~&\\\n]")
_BRACKET = re.compile(r"[\[［【〔\]］】〕]|\n[ \t]*\n|&(?:#0*93|#[xX]0*5[dD]|rsqb|rbrack);")
_CLOSER = re.compile(r"[\]］】〕]")

Resolve = Callable[[tuple[Reference, ...], str], str]


class Scanner:
    """Feeds on raw text; yields text in which notes, drops and code carry the signs of `marks`."""

    def __init__(self, resolve: Resolve, printed: Callable[[str], bool]) -> None:
        """`resolve` turns references into notes and drops; `printed` says whether the evidence holds a string."""
        self._resolve = resolve
        self._printed = printed
        self._text = ""
        self._at = 0
        self._line = ""
        """What stands on this line so far, as far as it may come before a fence."""
        self._fence = ""
        self._fence_line_start = False
        self._orphans = 0
        self._collected: list[str] = []
        self._out: list[str] = []
        self._final = False
        self._cut = False

    def feed(self, piece: str, *, final: bool = False, cut: bool = False) -> str:
        """Take a piece; `cut` when the stream ended in the middle."""
        keep = max(0, self._at - 1)  # one character behind tells a word from a tag
        self._text = self._text[keep:] + piece
        self._at -= keep
        self._final, self._cut = final, cut
        while self._at < len(self._text):
            moved = self._in_fence() if self._fence else self._in_prose()
            if not moved:
                break
        out, self._out = "".join(self._out), []
        return out

    # -- the ground: prose

    def _in_prose(self) -> bool:
        match = _STOP.search(self._text, self._at)
        stop = match.start() if match else len(self._text)
        closer = _CLOSER.search(self._text, self._at, stop) if self._orphans else None
        if closer is not None:  # its opening bracket was dropped
            self._say(self._text[self._at : closer.start()])
            self._at = closer.end()
            self._orphans -= 1
            return True
        if stop > self._at:
            self._say(self._text[self._at : stop])
            self._at = stop
            return True
        char = self._text[stop]
        if char == "\n":
            self._say(char)
            self._orphans = 0
            self._at += 1
            return True
        if char in "`~":
            return self._backticks(char)
        if char == "&":
            return self._entity()
        if char == "\\":
            return self._escape()
        if char in OPENERS:
            return self._bracket(self._at, self._at + 1)
        return self._naked()

    def _say(self, text: str) -> None:
        self._out.append(code(text) if self._fence else text)
        line = text.rpartition("\n")
        self._line = line[2][:40] if line[1] else (self._line + text)[:40]

    def _literal(self, length: int = 1) -> bool:
        self._say(self._text[self._at : self._at + length])
        self._at += length
        return True

    # -- code

    def _backticks(self, char: str) -> bool:
        end = self._at
        while end < len(self._text) and self._text[end] == char:
            end += 1
        if end == len(self._text) and not self._final:
            return False
        if self._cut and end == len(self._text):  # code whose beginning was cut off
            self._at = end
            return True
        run = self._text[self._at : end]
        fence = opens_fence(self._text, end, run, self._line, self._final)
        if fence is None:
            return False
        if fence:
            self._fence = run
            self._say(run)
            self._at = end
            self._fence_line_start = False
            return True
        close = -1 if char == "~" else closes_span(self._text, end, run, self._final)
        if close is None:
            return False
        if close < 0:
            return self._literal(len(run))
        self._say_code_span(run, self._text[end:close])
        self._at = close + len(run)
        return True

    def _say_code_span(self, run: str, inner: str) -> None:
        scanner = Scanner(self._collect, self._printed)
        self._collected.clear()
        scanner._fence = "`" * (SPAN + 1)  # inside, only tags are told apart
        rest = scanner.feed(inner, final=True).replace(CODE, "").replace(PROSE, "")
        plain = re.sub(rf"[ \t]*{GONE}", "", rest)
        notes = "".join(self._collected)
        self._say((code(f"{run}{plain}{run}") if plain.strip() else "") + notes)

    def _collect(self, found: tuple[Reference, ...], raw: str) -> str:
        self._collected.append(self._resolve(found, raw))
        return GONE

    def _in_fence(self) -> bool:
        """Inside a fence only its end and tags mean anything."""
        if self._line == "" and self._fence_line_start:
            if self._cut and may_close_fence(self._text, self._at):  # the end of the fence was cut off
                self._at = len(self._text)
                return True
            end = closes_fence(self._text, self._at, self._fence, self._final)
            if end is None:
                return False
            if end >= 0:
                self._say(self._text[self._at : end])
                self._fence = ""
                self._at = end
                return True
        self._fence_line_start = False
        match = _STOP.search(self._text, self._at)
        stop = match.start() if match else len(self._text)
        if stop > self._at:
            self._say(self._text[self._at : stop])
            self._at = stop
            return True
        char = self._text[stop]
        if char == "\n":
            self._literal()
            self._fence_line_start = True
            return True
        if char in OPENERS:
            return self._bracket(self._at, self._at + 1)
        if char == "\\" and self._at + 1 == len(self._text) and not self._final:
            return False
        if char == "\\" and self._text[self._at + 1 : self._at + 2] in tuple(OPENERS):
            return self._bracket(self._at, self._at + 2)
        if char in "`~&\\":
            return self._literal()
        return self._naked()

    # -- characters in disguise

    def _entity(self) -> bool:
        found = entity(self._text, self._at, self._final)
        if found is None:
            return False
        shown, end = found
        if shown in OPENERS:
            return self._bracket(self._at, end)
        self._at = end
        self._say(shown)
        return True

    def _escape(self) -> bool:
        if self._at + 1 >= len(self._text):
            return self._literal() if self._final else False
        char = self._text[self._at + 1]
        if char in OPENERS:
            return self._bracket(self._at, self._at + 2)
        if char in "\"'":
            self._say(char)
            self._at += 2
            return True
        if char in CLOSERS and self._orphans:
            self._orphans -= 1
            self._at += 2
            return True
        return self._literal(1 if char == "\n" or char.isalnum() else 2)

    # -- tags

    def _bracket(self, start: int, inside: int) -> bool:
        """Something in square brackets: `start` is where it begins, `inside` where its body does."""
        match = _BRACKET.search(self._text, inside, inside + HELD + 2)
        if match is not None and html.unescape(match[0]) in CLOSERS:
            return self._closed(start, inside, match.start(), match.end())
        if match is None and not self._final and len(self._text) - inside < HELD:
            return False
        body = self._text[inside : match.start() if match else inside + HELD]
        ended = self._final and match is None and inside + HELD >= len(self._text)
        if ended and may_begin(self._text, inside) and (self._cut or re.search("[f-]", clean(body))):
            self._tag((Reference(body, None),), self._text[start:], len(self._text))
            return True
        if references(body) is None and clean(body) != "f":
            return self._literal(inside - start)
        group = body.rfind(",")
        complete = references(body[:group]) if group > 0 and match is None and not ended else None
        if complete and all(item.span for item in complete):
            # A long group: what is complete is settled now, the rest goes on as a group of its own.
            self._tag(complete, self._text[start : inside + group], inside + group + 1)
            self._text = self._text[: self._at] + "[" + self._text[self._at :]
            return True
        lost = leading(body) or len(body)
        self._orphans += 1
        self._tag((Reference(body[:lost], None),), self._text[start : inside + lost], inside + lost)
        return True

    def _closed(self, start: int, inside: int, close: int, end: int) -> bool:
        body, raw = self._text[inside:close], self._text[start:end]
        plain = restore(raw)
        if plain != raw:
            # Only what the book itself prints is shown; a mark of ours that the model made up is not.
            if self._printed(plain.replace("\\", "")):
                self._say(plain.replace("\\", ""))
                self._at = end
            else:
                self._tag((Reference(body, None),), raw, end)
            return True
        found = references(body)
        if found is None or (is_numbers(body) and (self._fence or self._printed(raw))):
            return self._literal(inside - start)
        if end == len(self._text) and not self._final:
            return False  # an address may follow, as in a link
        if self._text.startswith("(", end) and not self._fence:
            address = address_end(self._text, end, self._final)
            if address is None:
                return False
            end = address
        self._tag(found, raw, end)
        return True

    def _naked(self) -> bool:
        """An `f` triple without square brackets, or a character that only looked like the beginning of one."""
        text, at = self._text, self._at
        printed = look_alike(text, at)
        match = printed or naked(text, at)
        short = len(text) - at <= HELD
        if not self._final and short and may_begin_naked(text, at):
            return False
        if match is None:
            if self._final and may_begin_naked(text, at) and self._cut_off(text[at:]):
                self._tag((Reference(text[at:], None),), text[at:], len(text))
                return True
            return self._literal()
        if not self._final and short and match.end() == len(text):
            return False
        raw = match[0]
        if printed is not None:
            plain = restore(raw)
            if plain != raw and self._printed(plain):
                self._say(plain)
                self._at = match.end()
            else:
                self._tag((Reference(raw, None),), raw, match.end())
            return True
        ended = self._cut and match.end() == len(text)
        if raw[0] in "({（":
            if raw[-1] not in ")}）" and not ended:
                return self._literal()
        elif raw[-1] in ")}）":
            raw = raw[:-1]
        found = naked_reference(raw)
        if ended:
            found = Reference(raw, None)
        self._tag((found,), raw, at + len(raw))
        return True

    def _cut_off(self, tail: str) -> bool:
        return re.search(r"\d-", clean(tail)) is not None and (self._cut or not tail.rstrip()[-1].isdigit())

    def _tag(self, found: tuple[Reference, ...], raw: str, end: int) -> None:
        said = self._resolve(found, raw)
        self._out.append(code(said) if self._fence else said)
        self._line += "x"
        self._at = end
