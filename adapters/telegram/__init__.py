"""Telegram: `app` talks to the Bot API, `view` and `text` say what messages look like (pure), the rest are its parts."""
