"""The one earlier exchange a follow-up sees: the one it replies to, without tags or numbers, and nobody else's. Pure."""

import re

from core import document, words
from core.model import Message, Turn

_NOTE = re.compile("[ \\n]*\ufdd0")
"""A note with the white space before it, marked by a character that no text holds."""


def exchange(turn: Turn, tokens: int) -> tuple[Message, Message]:
    """Question and answer as they may stand before a follow-up; of a long answer the last `tokens` (estimated)."""
    answer = _NOTE.sub("", document.markdown(turn.answer.document, lambda _: "\ufdd0"))
    if words.tokens(answer) > tokens:
        answer = f"… {answer[-4 * tokens :].partition(' ')[2]}"
    return Message("user", turn.question), Message("assistant", answer)


def search_words(question: str, earlier: Turn | None) -> str:
    """What to look up for a question: "and before her?" says little without the question it follows."""
    if earlier is None or len(words.terms(question, words.guess_language(question))) > 1:
        return question
    return f"{earlier.question} {question}"
