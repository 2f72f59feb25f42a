"""The terminal: the reference adapter. `app` holds the dialogue, `view` what it looks like, `terminal` the device."""
