"""Slack: `app` talks to the workspace, `view` says what it looks like there; the other modules are named by what they do."""
