"""Sentences for people, by key and locale. The texts live in the TOML files beside this one; unknown locale: English.

A string may have plural forms `one` and `other`, chosen by the parameter `count` (enough for en, es, pt).
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from core.model import Limit, Notice
from core.words import fold

LOCALES = ("en", "es", "pt")
_CHAPTER = re.compile(r"(in|finished) (\d+)")


@cache
def _texts(locale: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / f"{locale}.toml").read_text(encoding="utf-8"))


def locale_of(name: str | None) -> str:
    """The locale we have for a platform's or system's name ("pt-BR", "es_ES.UTF-8"); English when we have none."""
    primary = (name or "").replace("_", "-").split("-")[0].split(".")[0].lower()
    return primary if primary in LOCALES else "en"


def say(key: str, locale: str | None = None, **params: str | int) -> str:
    """The sentence for `key`, filled. Raises KeyError for an unknown key: a missing sentence is our bug."""
    text = _texts(locale_of(locale))[key]
    if isinstance(text, dict):
        text = text["one" if params.get("count") == 1 else "other"]
    # File names and titles come from strangers: a line break in one never makes a second line of a sentence of ours.
    return str(text).format(
        **{name: " ".join(value.splitlines()) if isinstance(value, str) else value for name, value in params.items()}
    )


def is_word(said: str, *keys: str) -> bool:
    """Whether what somebody typed is one of these words of ours, in any of our languages: people leave accents out."""
    return any(fold(said) in _spoken(key) for key in keys)


@cache
def _spoken(key: str) -> frozenset[str]:
    return frozenset(fold(say(key, locale)) for locale in LOCALES)


def tell(notice: Notice, locale: str | None = None) -> str:
    """The sentence of a notice."""
    return say(notice.key, locale, **notice.params)


def ranges(numbers: Iterable[int], most: int = 20) -> str:
    """Numbers as people write them, at most so many stretches: [1, 2, 3, 7] -> "1–3, 7"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    named = [str(first) if first == last else f"{first}–{last}" for first, last in parts[:most]]
    return ", ".join(named) + (" …" if len(parts) > most else "")


def say_limit(limit: Limit, locale: str | None = None) -> str:
    """What stands after "up to": chapter 2, the start, 40 %, page 12, a title.

    It says how far one has read, not how that was written: "in 3" is read to chapter 2.
    """
    words = limit.words
    if words in ("all", "start"):
        return say(f"reach_{words}", locale)
    if chapter := _CHAPTER.fullmatch(words):
        number = int(chapter[2]) - (chapter[1] == "in")
        return say("reach_chapter", locale, number=number) if number else say("reach_start", locale)
    if words.startswith("page "):
        return say("reach_page", locale, page=words.removeprefix("page "))
    if words.endswith("%"):
        return say("share", locale, percent=words.removesuffix("%"))
    return words.removeprefix("finished ").split(" › ")[-1]
