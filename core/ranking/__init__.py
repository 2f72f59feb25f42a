"""Ranking: a disposable SQLite full-text index per book, searched by BM25 up to a reading limit, filled to a budget."""

from core.ranking.building import build
from core.ranking.filling import fill
from core.ranking.table import BrokenTable, Ranked, RankTable, Window
from core.ranking.windows import cost

__all__ = ["BrokenTable", "RankTable", "Ranked", "Window", "build", "cost", "fill"]
