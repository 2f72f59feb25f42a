"""Quotations: typography folding, the quote finder, the check that a quotation is verbatim. Pure; no language left out."""

from core.quotes.finding import MOST_HITS, Hit, Match, find_quote
from core.quotes.folding import Folded, fold
from core.quotes.holding import denies, holds

__all__ = ["MOST_HITS", "Folded", "Hit", "Match", "denies", "find_quote", "fold", "holds"]
