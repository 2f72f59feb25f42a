"""The signs that the stages of settling leave for each other in the text. Noncharacters: no text of others holds them."""

from core.tags import NOTE

GONE = "\ufdd2"
"""Something tag-shaped stood here and was dropped, or a note that repeats its neighbour; its surroundings are not swept yet."""
SWEPT = "\ufdd5"
"""As `GONE`, after sweeping: only a line that holds nothing else cares."""
CODE, PROSE = "\ufdd3", "\ufdd4"
"""Around a piece of code: nothing inside is a quotation, and its spaces stay."""

NOTE_START = NOTE.pattern[:1]


def code(text: str) -> str:
    """`text` marked as code."""
    return f"{CODE}{text}{PROSE}" if text else ""
