"""What a turn may see of its books: the gate (`Source`), the tools, and the evidence they delivered."""

from core.retrieval.budgets import Budgets
from core.retrieval.evidence import Evidence
from core.retrieval.ranks import Ranks
from core.retrieval.source import Source
from core.retrieval.tools import Tools

__all__ = ["Budgets", "Evidence", "Ranks", "Source", "Tools"]
