"""The commands, a module for each group; a module is imported when its command runs."""
