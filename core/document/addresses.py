"""Which addresses stand in a text: whole ones only, never the beginning of a longer one."""

import re

_ADDRESS = re.compile(r"https?://[^\s<>\"“”„«»‹›`|\\^{}「」『』（）。、，]+", re.IGNORECASE)
_AFTER = ".,;:!?)]'’*_~…"
"""What prose sets after an address without meaning it as a part of it."""


def stands(address: str, text: str) -> bool:
    """True when `text` holds exactly this http(s) address, punctuation after it aside.

    A piece of it does not count: `https://a.example` is not what a book that names `https://a.example.org/x` names.
    """
    return any(
        found[0].startswith(address) and not found[0][len(address) :].strip(_AFTER)
        for found in _ADDRESS.finditer(text)
        if address[8:]
    )
