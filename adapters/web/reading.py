"""The reading view: one stretch of a book with its contents, a range highlighted; the local page's and the public one's."""

from typing import Any

from aiohttp import web

from adapters.web import guard, markup
from adapters.web.links import Links, Permit
from adapters.web.pages import Pages
from adapters.web.spots import Spot, read_spot
from core.club import Club
from core.errors import Missing
from core.model import BookPage, Conversation, PagePicture, Position, Reader, TocEntry
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
        permit = self._permit(spot)
        page = await _page(self._club, permit, locale)
        address = f"/picture/{spot.book}/{spot.text_version}/{spot.place}/{page.file}.png"
        return self._pages.page(
            "read.html",
            locale,
            home="/",
            static="/static/",
            toc=[(entry, _at(page, Position(entry.file, entry.offset)).path) for entry in page.toc],
            here=_entry(page),
            previous=_at(page, page.previous).path if page.previous else None,
            following=_at(page, page.following).path if page.following else None,
            **await _shown(self._club, permit, page, address, request, locale),
        )

    async def picture(self, request: web.Request) -> web.Response:
        file = request.match_info["file"]
        if not (file.isascii() and file.isdecimal() and len(file) < 8):
            raise Missing("link_broken")
        return _as_png(await _picture(self._club, self._permit(_spot(request)), int(file), zoom_of(request)))

    def _permit(self, spot: Spot) -> Permit:
        return Permit(self._conversation, spot, Reader("local", manages=True))


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
        locale, token = guard.locale_of(request, self._locale), request.match_info["token"]
        permit = self._links.read(token)
        page = await _page(self._club, permit, locale)
        return self._pages.page(
            "read.html",
            locale,
            home=None,
            static="../static/",
            toc=[],
            here=None,
            previous=None,
            following=None,
            **await _shown(self._club, permit, page, f"{token}/page.png", request, locale),
        )

    async def picture(self, request: web.Request) -> web.Response:
        permit = self._links.read(request.match_info["token"])
        return _as_png(await _picture(self._club, permit, permit.spot.at.file, zoom_of(request)))

    async def robots(self, _: web.Request) -> web.Response:
        return web.Response(text="User-agent: *\nDisallow: /\n")


async def _page(club: Club, permit: Permit, locale: str) -> BookPage:
    spot = permit.spot
    return await club.passages.page(
        permit.conversation,
        spot.book,
        spot.at,
        marked=spot.marked,
        text_version=spot.text_version,
        reader=permit.reader,
        locale=locale,
    )


async def _picture(club: Club, permit: Permit, file: int, zoom: int) -> PagePicture | None:
    spot = permit.spot
    return await club.passages.page_picture(
        permit.conversation,
        spot.book,
        file,
        marked=spot.marked,
        text_version=spot.text_version,
        reader=permit.reader,
        zoom=zoom,
    )


async def _shown(
    club: Club, permit: Permit, page: BookPage, address: str, request: web.Request, locale: str
) -> dict[str, Any]:
    """What both views show of a page. A picture is drawn ahead of its request: one that cannot be had is not promised."""
    zoom = zoom_of(request)
    picture = await _picture(club, permit, page.file, zoom) if page.paged else None
    return {
        "page": page,
        "text": markup.page_text(page, "mark" if picture is None else "mark-text"),
        "marked": page.marked is not None,
        "picture": None if picture is None else f"{address}?zoom={zoom}",
        "top": None if picture is None else picture.top,
        "zoom": zoom,
        "other_zoom": LARGEST if zoom == 1 else 1,
        "described": say("web_picture_of", locale, page=page.file + 1),
    }


def _as_png(picture: PagePicture | None) -> web.Response:
    if picture is None:
        raise Missing("no_page_picture")
    return web.Response(body=picture.png, content_type="image/png")


def zoom_of(request: web.Request) -> int:
    """How large the picture is asked for; whatever else stands there, the usual size."""
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
