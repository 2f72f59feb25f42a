"""A limit in plain words: how far one has read, not how it was written ("in 3" is read to chapter 2)."""

import re

from core.limits.naming import PATH
from core.model import Limit
from core.strings import say

_CHAPTER = re.compile(r"(in|finished) (\d+)")


def say_limit(limit: Limit, locale: str | None = None) -> str:
    """What stands after "up to": chapter 2, the start, 40 %, page 12, a title."""
    words = limit.words
    if words == "all":
        return say("reach_all", locale)
    if chapter := _CHAPTER.fullmatch(words):
        number = int(chapter[2]) - (chapter[1] == "in")
        return say("reach_chapter", locale, number=number) if number else say("reach_start", locale)
    if words.startswith("page "):
        return say("reach_page", locale, page=words.removeprefix("page "))
    if words.endswith("%"):
        return say("share", locale, percent=words.removesuffix("%"))
    title = words.removeprefix("finished ").split(PATH)[-1]
    return say("reach_start", locale) if words == "start" else title
