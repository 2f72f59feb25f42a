"""How many tokens of what one turn may send: each the smaller of its figure and its share of the model's window. Pure."""

from dataclasses import dataclass

_SHARES = {"looked_up": 0.2, "selected": 0.3, "batch": 0.5, "history": 0.05}
"""Together they leave room for the system text, the tools and the answer, also in a window of 8,000 tokens."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """Estimated tokens, text and tags (DESIGN 2.4 and 5)."""

    looked_up: int = 4_000
    """What one look-up may deliver; measured on the open questions."""
    selected: int = 12_000
    """What chosen segments may deliver; also the size up to which a book is given whole."""
    batch: int = 30_000
    """What one picking call reads of the catalogue."""
    history: int = 1_500
    """What is sent along of an earlier answer."""

    @classmethod
    def within(cls, window: int) -> "Budgets":
        """The budgets for a model that reads `window` tokens at once."""
        figures = cls()
        return cls(**{name: min(getattr(figures, name), int(share * window)) for name, share in _SHARES.items()})
