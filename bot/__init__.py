"""Command line, configuration, wiring and the run loop. May import everything."""
