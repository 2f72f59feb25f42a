"""What stands before every page: whose request this is, what may be done with it, and words for every failure.

The local page has no login: whoever can reach 127.0.0.1 on this machine is its user. So other web pages must not be able
to speak in that user's name: not under a name of theirs that resolves here (the host is checked), not by a form or a
script of theirs (origin, fetch metadata and a token that only our own page can read are checked).
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web
from aiohttp.typedefs import Middleware
from itsdangerous import BadSignature, Signer

from core.errors import LoccitError, Missing, OperatorError, ReaderError, UpstreamError
from core.strings import LOCALES, say
from core.strings import locale_of as known_locale

log = logging.getLogger(__name__)

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}
TOKEN_HEADER = "X-Loccit-Token"
_SAFE = ("GET", "HEAD")


class Explain(Protocol):
    """Turns a failure into a page or a line; `status` is HTTP's."""

    def __call__(self, request: web.Request, sentence: str, status: int) -> web.Response: ...


@dataclass(frozen=True, slots=True)
class Here:
    """The local page's own address."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))


class Token:
    """A word that only our own page can read, so that a post of another page lacks it. It outlives a restart."""

    def __init__(self, key: bytes) -> None:
        self._signer = Signer(key, salt="loccit.page", key_derivation="hmac")

    def give(self) -> str:
        return self._signer.sign("page").decode()

    def fits(self, word: str) -> bool:
        try:
            return self._signer.unsign(word) == b"page"
        except BadSignature:
            return False


class Refused(Exception):
    """A request that is not answered; the sentence says why."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


def locale_of(request: web.Request, preferred: str | None) -> str:
    """The first language of the browser that we speak, else the one whoever runs the bot prefers."""
    for entry in request.headers.get("Accept-Language", "").split(",")[:10]:
        primary = entry.split(";")[0].strip().split("-")[0].lower()
        if primary in LOCALES:
            return primary
    return known_locale(preferred)


def status_of(error: LoccitError) -> int:
    """What HTTP calls a failure of ours."""
    match error:
        case Missing():
            return 404
        case ReaderError():
            return 422
        case OperatorError() | UpstreamError():
            return 503
        case _:
            return 500


def explain(error: Exception, locale: str | None, new_id: Callable[[], str]) -> tuple[str, int]:
    """(sentence, status) for a failure; logs what is not the reader's, without anything people wrote."""
    if isinstance(error, LoccitError):
        if not isinstance(error, ReaderError):
            log.error("failed", exc_info=error, extra={"key": error.key})
        try:
            return say(error.key, locale, **error.params), status_of(error)
        except (KeyError, IndexError):  # no such sentence, or a place in it that nothing fills
            pass
    incident = new_id()[:8]
    log.error("unexpected", exc_info=error, extra={"incident": incident})
    return say("unexpected", locale, incident=incident), 500


def failures_in_words(
    tell: Explain, new_id: Callable[[], str], locale: str | None, nowhere: Callable[[str], str]
) -> Middleware:
    """The outermost edge of a request: every failure is one sentence on a page, and every answer carries HEADERS."""

    @web.middleware
    async def middleware(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        language = locale_of(request, locale)
        try:
            response = await handler(request)
        except Refused as error:
            response = tell(request, error.sentence, error.status)
        except web.HTTPException as error:
            if error.status < 400:
                raise
            known = error.status in (404, 405)
            response = tell(request, nowhere(language) if known else say("web_unreadable", language), error.status)
        except Exception as error:  # noqa: BLE001  # this edge: whatever else happens is one sentence, and the page goes on
            response = tell(request, *explain(error, language, new_id))
        if not response.prepared:
            set_headers(response)
        return response

    return middleware


def set_headers(response: web.StreamResponse) -> None:
    """Those of HEADERS that the response does not set itself."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


def own_pages_only(here: Here, token: Token, locale: str | None) -> Middleware:
    """Refuse what another page sends, or what comes under a name that is not this machine's."""

    @web.middleware
    async def middleware(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        language = locale_of(request, locale)
        if request.headers.get("Host", "").lower() not in here.hosts:
            raise Refused(say("web_wrong_host", language, address=here.address), 421)
        origin = request.headers.get("Origin")
        site = request.headers.get("Sec-Fetch-Site", "same-origin")
        foreign = origin is not None and origin not in {f"http://{host}" for host in here.hosts}
        if request.method in _SAFE:
            # A link from elsewhere may lead here, as exported chats do; a picture or script of another page may not.
            navigates = request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
            framed = request.headers.get("Sec-Fetch-Dest", "document") in ("iframe", "frame", "embed", "object")
            foreign = foreign or (site not in ("same-origin", "none") and (framed or not navigates))
        else:
            foreign = foreign or site not in ("same-origin", "none")
        if foreign:
            raise Refused(say("web_cross_site", language, address=here.address), 403)
        if request.method not in _SAFE and not token.fits(request.headers.get(TOKEN_HEADER, "")):
            raise Refused(say("web_stale", language), 403)
        return await handler(request)

    return middleware
