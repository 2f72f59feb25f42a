"""The local web page: a chat on this machine, the reading view with its highlight, links to it, health and metrics."""
