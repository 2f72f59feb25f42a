"""Which book is meant: by shelf number, title words or id, by name in the question, by the exchange replied to. Pure."""

import re
from collections.abc import Collection, Sequence

from core import words
from core.errors import Missing
from core.model import BookCard, Question

SHORTEST_ID = 8
"""Characters of a book id that are enough to name it."""
_NUMBER = re.compile(r"\d{1,6}")
_LONGEST = 80
"""Characters of the reader's words, and of a title, that a refusal repeats."""
_CHOICES = 8
"""Books that a refusal names."""


def chosen(shelf: Sequence[BookCard], choice: str | None) -> BookCard:
    """The book that `choice` names; None = the one in use or the only one.

    Raises Missing: `no_book`, `no_such_book`, `which_book` (more than one fits, or none was chosen of several).
    """
    if not shelf:
        raise Missing("no_book")
    if choice is None:
        found = [card for card in shelf if card.current] or list(shelf)
    else:
        found = _matches(shelf, choice.strip())
    if len(found) == 1:
        return found[0]
    named = [f"{shelf.index(card) + 1}. {card.title[:_LONGEST]}" for card in (found or shelf)]
    titles = " · ".join([*named[:_CHOICES], *(["…"] if len(named) > _CHOICES else [])])
    raise Missing("which_book" if found else "no_such_book", titles=titles, choice=(choice or "")[:_LONGEST])


def meant(shelf: Sequence[BookCard], question: Question, replied_to: Collection[str]) -> list[BookCard]:
    """The books a question is about: all, the one named, those of the exchange replied to, the one in use, the only one.

    `replied_to`: the books (sha256) of that exchange. Raises Missing as `chosen` does.
    """
    if question.every_book and shelf:
        return list(shelf)
    if question.book is not None:
        return [chosen(shelf, question.book)]
    named = [card for card in shelf if _names(question.text, card)]
    if len(named) == 1:
        return named
    return [card for card in shelf if card.sha256 in replied_to] or [chosen(shelf, None)]


def _matches(shelf: Sequence[BookCard], choice: str) -> list[BookCard]:
    if _NUMBER.fullmatch(choice) and 1 <= int(choice) <= len(shelf):
        return [shelf[int(choice) - 1]]
    if len(choice) >= SHORTEST_ID:
        by_id = [card for card in shelf if card.sha256.startswith(choice.lower())]
        if by_id:
            return by_id
    wanted = words.fold(choice)
    exact = [card for card in shelf if words.fold(card.title) == wanted]
    return exact or [card for card in shelf if wanted and wanted in words.fold(card.title)]


def _names(text: str, card: BookCard) -> bool:
    """True when a question holds the whole title of a book, as words."""
    asked, title = words.words(text), words.words(card.title)
    length = len(title)
    return length > 0 and any(asked[at : at + length] == title for at in range(len(asked) - length + 1))
