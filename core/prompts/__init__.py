"""Everything said to a model: versioned texts beside this file, rendered by typed functions, each with its stamp.

A text file begins with `version:` and `purpose:`; its parts begin with `== system ==` and `== user ==`; `$name` is a
place to be filled. A text changes only together with its version: tests/core/test_prompts.py pins their hashes.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NAMES = ("answer", "chat", "continue", "discuss", "general", "pick", "recap", "retry", "summarise")
_HEAD = re.compile(r"version: (\d+)\npurpose: (.+)\n\n")
_PART = re.compile(r"^== (system|user) ==\n", re.M)
_PLACE = re.compile(r"\$([a-z]+)")


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    """Empty where the text is only something said in between."""
    user: str
    stamp: str
    """name@version+hash: kept with each turn and summary, part of the ledger key."""


@dataclass(frozen=True, slots=True)
class Template:
    """One text file."""

    name: str
    version: int
    purpose: str
    system: str
    user: str
    digest: str
    """sha256 of the file, hexadecimal."""

    @property
    def stamp(self) -> str:
        return f"{self.name}@{self.version}+{self.digest[:8]}"


@cache
def load(name: str) -> Template:
    """Read a text. Raises ValueError for a file that is not shaped as the module says."""
    text = (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(f"{name}.md has no head")
    between, *parts = _PART.split(text[head.end() :])
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    if between.strip() or not found:
        raise ValueError(f"{name}.md has no parts, or text before them")
    digest = hashlib.sha256(text.encode()).hexdigest()
    system, user = (found.get(part, "").strip() for part in ("system", "user"))
    return Template(name, int(head[1]), head[2], system, user, digest)


def render(template: Template, **values: str) -> Prompt:
    """Fill a text. Raises ValueError for a place left empty and for a value without a place.

    Values are put in as they are: a `$name` inside a question or a book is never a place.
    """
    places = set(_PLACE.findall(template.system) + _PLACE.findall(template.user))
    if places != set(values):
        raise ValueError(f"{template.name}.md: places {sorted(places)}, values {sorted(values)}")

    def fill(text: str) -> str:
        return _PLACE.sub(lambda place: values[place[1]], text)

    return Prompt(fill(template.system), fill(template.user), template.stamp)


def book_card(title: str, authors: tuple[str, ...] = (), reach: str = "") -> str:
    """What a model is told of the book beforehand. `reach` says how far the club may read, in plain words."""
    # Title and authors come from a stranger's file: none of them may begin a line of its own in the system text.
    lines = [f"The book: {' '.join(title.split())}"]
    if authors:
        lines.append(f"By: {' '.join(', '.join(authors).split())}")
    if reach:
        lines.append(f"Read so far: {reach}. What lies beyond is unknown to you and does not exist for this answer.")
    return "\n".join(lines)


def answer(book: str, question: str) -> Prompt:
    """A turn about the book; `book` is its card (see `book_card`)."""
    return render(load("answer"), book=book, question=question)


def chat(question: str) -> Prompt:
    """A greeting, thanks, a word about the bot itself."""
    return render(load("chat"), question=question)


def general(book: str, question: str) -> Prompt:
    """General knowledge on explicit wish."""
    return render(load("general"), book=book, question=question)


def pick(question: str, catalogue: str, most: int = 5) -> Prompt:
    """One batch of the picker; the catalogue stands before the question, so that its prefix is the same for all."""
    return render(load("pick"), question=question, catalogue=catalogue, most=str(most))


def summarise(title: str, text: str) -> Prompt:
    """One segment; `text` is its tagged text in a fence (`tools.fence`)."""
    return render(load("summarise"), title=title, text=text)


def retry() -> Prompt:
    """The one retry when an answer cited nothing."""
    return render(load("retry"))


def go_on() -> Prompt:
    """Continue an answer cut off by its length."""
    return render(load("continue"))


def recap(book: str, text: str, language: str, *, again: bool = False) -> Prompt:
    """What has happened so far; `text` is tagged and fenced. `again`: an attempt before this one brought too little."""
    reminder = "\n\nPut a tag directly after every sentence; sentences without one were thrown away." if again else ""
    return render(load("recap"), book=book, text=text, language=language, again=reminder)


def discuss(book: str, text: str, language: str, count: int, asked: Sequence[str] = ()) -> Prompt:
    """So many questions to talk about; `asked` are those that are not to be repeated."""
    known = "".join(f"\n- {' '.join(question.split())}" for question in asked)
    known = f"\n\nThese have been asked already; ask about something else:{known}" if known else ""
    return render(load("discuss"), book=book, text=text, language=language, count=str(count), asked=known)
