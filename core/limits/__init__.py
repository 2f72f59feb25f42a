"""Reading limits: how far a club has read, as people write it, as a position in the text, and in plain words."""

from core.limits.listings import find_listings
from core.limits.reading import read_limit
from core.limits.strictness import Reach, strictest, told_within
from core.strings import say_limit

__all__ = ["Reach", "find_listings", "read_limit", "say_limit", "strictest", "told_within"]
