"""Spending that cannot run away: calls are reserved before they are made, caps hold, a limit is said and quoted over."""

from core.spending.metered import Metered, Paying, Purse
from core.spending.terms import DEFAULT_INPUT, DEFAULT_OUTPUT, UNIT, Caps, Prices, Terms

__all__ = ["DEFAULT_INPUT", "DEFAULT_OUTPUT", "UNIT", "Caps", "Metered", "Paying", "Prices", "Purse", "Terms"]
