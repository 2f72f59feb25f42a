"""The reading view: one stretch of a book with its contents, a range highlighted; the local page's and the public one's."""

from typing import Any

from aiohttp import web

from adapters.web import guard, markup
from adapters.web.links import Links
from adapters.web.pages import Pages
from adapters.web.spots import Spot, read_spot
from core.club import Club
from core.errors import Missing
from core.model import BookPage, Conversation, Position, Reader, TocEntry
from core.strings import say

LARGEST = 2
"""How many times the usual size a page picture can be seen."""


class ReadingView:
    """The view on this machine: every place of the books that `conversation` has, with ways from one to the next."""

    def __init__(self, club: Club, pages: Pages, conversation: Conversation, locale: str) -> None:
        self._club = club
        self._pages = pages
        self._conversation = conversation
        self._locale = locale

    def add_to(self, app: web.Application) -> None:
        app.router.add_get("/read/{book}/{version}/{place}", self.show)
        app.router.add_get("/picture/{book}/{version}/{place}/{file}.png", self.picture)

    async def show(self, request: web.Request) -> web.Response:
        locale, spot = guard.locale_of(request, self._locale), _spot(request)
        page = await self._club.page(
            self._conversation,
            spot.book,
            spot.at,
            marked=spot.marked,
            text_version=spot.text_version,
            reader=Reader("local", locale, manages=True),
            locale=locale,
        )
        # On a page after the marked one the range stays known: a word may run over the page break.
        return self._pages.page(
            "read.html",
            locale,
            home="/",
            static="/static/",
            toc=[(entry, _at(page, Position(entry.file, entry.offset)).path) for entry in page.toc],
            here=_entry(page),
            previous=_at(page, page.previous).path if page.previous else None,
            following=_at(page, page.following).path if page.following else None,
            **page_values(
                page, f"/picture/{spot.book}/{spot.text_version}/{spot.place}/{page.file}.png", request, locale
            ),
        )

    async def picture(self, request: web.Request) -> web.Response:
        spot = _spot(request)
        file = request.match_info["file"]
        if not (file.isascii() and file.isdecimal() and len(file) < 8):
            raise Missing("link_broken")
        drawn = await self._club.page_picture(
            self._conversation,
            spot.book,
            int(file),
            marked=spot.marked,
            text_version=spot.text_version,
            reader=Reader("local", manages=True),
            zoom=zoom_of(request),
        )
        return picture_response(None if drawn is None else drawn.png)


class PublicView:
    """What links from chats open: the stretch that holds the link's range, and no way on from there."""

    def __init__(self, club: Club, pages: Pages, links: Links, locale: str) -> None:
        self._club = club
        self._pages = pages
        self._links = links
        self._locale = locale

    def add_to(self, app: web.Application) -> None:
        app.router.add_get("/book/{token}", self.show)
        app.router.add_get("/book/{token}/page.png", self.picture)
        app.router.add_get("/robots.txt", self.robots)

    async def show(self, request: web.Request) -> web.Response:
        locale = guard.locale_of(request, self._locale)
        permit = self._links.read(request.match_info["token"])
        spot = permit.spot
        page = await self._club.page(
            permit.conversation,
            spot.book,
            spot.at,
            marked=spot.marked,
            text_version=spot.text_version,
            reader=permit.reader,
            locale=locale,
        )
        return self._pages.page(
            "read.html",
            locale,
            home=None,
            static="../static/",
            toc=[],
            here=None,
            previous=None,
            following=None,
            **page_values(page, f"{request.match_info['token']}/page.png", request, locale),
        )

    async def picture(self, request: web.Request) -> web.Response:
        permit = self._links.read(request.match_info["token"])
        drawn = await self._club.page_picture(
            permit.conversation,
            permit.spot.book,
            permit.spot.at.file,
            marked=permit.spot.marked,
            text_version=permit.spot.text_version,
            reader=permit.reader,
            zoom=zoom_of(request),
        )
        return picture_response(None if drawn is None else drawn.png)

    async def robots(self, _: web.Request) -> web.Response:
        return web.Response(text="User-agent: *\nDisallow: /\n")


def page_values(page: BookPage, picture: str, request: web.Request, locale: str) -> dict[str, Any]:
    """What both views show of a page."""
    zoom = zoom_of(request)
    return {
        "page": page,
        "text": markup.page_text(page),
        "marked": page.marked is not None,
        "picture": f"{picture}?zoom={zoom}" if page.paged else None,
        "zoom": zoom,
        "other_zoom": LARGEST if zoom == 1 else 1,
        "share": say("web_picture_of", locale, page=page.file + 1),
    }


def picture_response(png: bytes | None) -> web.Response:
    if png is None:
        raise Missing("no_page_picture")
    return web.Response(body=png, content_type="image/png")


def zoom_of(request: web.Request) -> int:
    return LARGEST if request.query.get("zoom") == str(LARGEST) else 1


def _spot(request: web.Request) -> Spot:
    return read_spot(request.match_info["book"], request.match_info["version"], request.match_info["place"])


def _at(page: BookPage, place: Position) -> Spot:
    return Spot(page.book, page.text_version, place)


def _entry(page: BookPage) -> TocEntry | None:
    """The line of the contents that the page, or what is marked on it, stands under."""
    at = page.marked.first if page.marked else Position(page.file, page.start)
    under = [entry for entry in page.toc if Position(entry.file, entry.offset) <= at]
    return under[-1] if under else None
