"""How much was deleted for good: what a command reports to whoever asked for it."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Counts of what no longer exists. They add up with `+`."""

    books: int = 0
    """Books whose text is gone, or that a channel no longer knows."""
    originals: int = 0
    """Uploaded files."""
    summaries: int = 0
    replies: int = 0
    """Replies of models in the call ledger."""
    questions: int = 0
    """Questions whose words are gone."""
    answers: int = 0
    """Answers whose words are gone; their footnotes stay and say why they no longer open."""
    places: int = 0
    """How far readers said to have read."""
    passages: int = 0
    """Rows about what readers opened."""
    entries: int = 0
    """What was drafted, answered, voted, saved or arranged in a club."""

    def __add__(self, other: "Forgotten") -> "Forgotten":
        return Forgotten(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    def __bool__(self) -> bool:
        return any(astuple(self))
