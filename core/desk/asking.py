"""Words that ask something, as a question to the club."""

from dataclasses import replace
from typing import Any

from core.desk.keys import Visit
from core.errors import ReaderError
from core.model import Question
from core.strings import is_word

QUOTED = 300
"""Characters of an earlier question that a button takes up again."""
_LASTS = ("text", "book", "limit_words", "reply_to", "without_book", "every_book", "go_on")


def packed(question: Question) -> dict[str, Any]:
    """What an event or a button keeps of a question, as JSON values; who asks it, and where, is whoever it is done for."""
    return {name: value for name in _LASTS if (value := getattr(question, name))}


def asked(visit: Visit, words: str, event: str) -> Question:
    """What somebody asks, in their own words. Raises ReaderError when there are none."""
    text = words.strip()
    if not text:
        raise ReaderError("desk_ask_what", ask=visit.spell("ask"))
    return Question(event, visit.conversation, visit.reader, text, private=visit.private, patient=True)


def aimed(visit: Visit, words: str, event: str) -> Question:
    """What stands behind the command: a first word says to all books, or without the book. Raises ReaderError as `asked` does.

    Only there, and in small letters: "Without whom …?" begins a question about the book, in every language of ours.
    """
    first, _, rest = words.strip().partition(" ")
    every, without = (first.islower() and is_word(first, f"desk_word_{which}") for which in ("all", "without"))
    question = asked(visit, rest if every or without else words, event)
    return replace(question, every_book=every, without_book=without)
