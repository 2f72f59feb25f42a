"""What to say and log about an error at the outer edge: a key, one sentence, and an incident id where it is our fault."""

import errno
import logging

from bot.output import OutputFailed
from bot.wiring import new_id
from core.errors import LoccitError, ReaderError
from core.strings import say

log = logging.getLogger(__name__)

_UNUSABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


def explain(error: Exception, locale: str) -> tuple[str, str]:
    """(key, sentence) for `error`; logs it, without anything people wrote."""
    if isinstance(error, LoccitError):
        if not isinstance(error, ReaderError):
            log.error("failed", exc_info=error, extra={"key": error.key})
        try:
            return error.key, say(error.key, locale, **error.params)
        except (KeyError, IndexError):  # no such sentence, or a place in it that nothing fills
            pass
    if isinstance(error, OutputFailed):
        return "output_failed", say("output_failed", locale)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "no_room", say("no_room", locale)
    if isinstance(error, OSError) and error.errno in _UNUSABLE:
        return "not_allowed_by_system", say("not_allowed_by_system", locale, path=str(error.filename or ""))
    incident = new_id()[:8]
    log.error("unexpected", exc_info=error, extra={"incident": incident})
    return "unexpected", say("unexpected", locale, incident=incident)
