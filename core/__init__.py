"""The shared async core: books in, proved answers out. Imports no platform."""
