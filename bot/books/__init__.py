"""The book that comes with Loccit, for `loccit demo`. Where it is from and its licence: README.md beside it."""

from pathlib import Path

DEMO_BOOK = Path(__file__).parent / "pride-and-prejudice-1.epub"
