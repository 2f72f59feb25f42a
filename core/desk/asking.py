"""Words that ask something, as a question to the club."""

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
    """What somebody asks; a first word says to all books, or without the book. Raises ReaderError when there are none."""
    first, _, rest = words.partition(" ")
    every, without = is_word(first, "desk_word_all"), is_word(first, "desk_word_without")
    text = rest.strip() if (every or without) and rest.strip() else words.strip()
    if not text:
        raise ReaderError("desk_ask_what", ask=visit.spell("ask"))
    return Question(
        event,
        visit.conversation,
        visit.reader,
        text,
        every_book=every and text != words.strip(),
        without_book=without and text != words.strip(),
        private=visit.private,
        patient=True,
    )
