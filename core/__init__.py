"""The shared async core: books in, proved answers out. Imports no platform."""

VERSION = "0.1.0"
"""The only place that names it; pyproject.toml reads it from here."""
