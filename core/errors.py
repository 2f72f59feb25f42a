"""Everything that can go wrong, split by who must act. Sentences live in `core/strings`; stdlib only.

LoccitError(key, **params)
├─ ReaderError     the person in the chat can mend it; shown plainly
│  ├─ BadBook      this file cannot become a book (wrong type, empty, broken, locked, too large, pictures only)
│  └─ Missing      what was asked for is not there (no book, unknown note, removed book, not permitted)
├─ OperatorError   whoever runs the bot must mend it (settings, disk, key, permission)
│  └─ LimitReached a cap on spending is reached: it ends by itself, or whoever runs the bot raises it
├─ UpstreamError   somebody else's service failed; may be tried again
└─ BrokenPromise   our bug: stored text does not match its hash, an invariant failed; carries an incident id
"""


class LoccitError(Exception):
    """An error with a sentence: `key` names it in `core/strings`, `params` fill it."""

    def __init__(self, key: str, **params: str | int) -> None:
        super().__init__(key)
        self.key = key
        self.params = params

    def __str__(self) -> str:
        facts = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"{self.key}({facts})"


class ReaderError(LoccitError):
    """The person in the chat can mend it."""


class BadBook(ReaderError):
    """This file cannot become a book; the sentence says why and what works instead."""


class Missing(ReaderError):
    """What was asked for is not there, or not for this channel."""


class OperatorError(LoccitError):
    """Whoever runs the bot must mend it."""


class LimitReached(OperatorError):
    """A cap on spending is reached. `retry_after`: seconds until the next day or month begins."""

    def __init__(self, key: str, *, retry_after: float, **params: str | int) -> None:
        super().__init__(key, **params)
        self.retry_after = retry_after


class UpstreamError(LoccitError):
    """Somebody else's service failed. `retry_after` is in seconds when the service named it."""

    def __init__(self, key: str, *, retry_after: float | None = None, **params: str | int) -> None:
        super().__init__(key, **params)
        self.retry_after = retry_after


class BrokenPromise(LoccitError):
    """An invariant of ours failed; the log has the details under the incident id."""
