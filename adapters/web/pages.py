"""Templates and static files: read once, sent from memory."""

import hashlib
import mimetypes
from collections.abc import Callable
from functools import partial
from pathlib import Path

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from adapters.web import guard, markup
from core.strings import locale_of, say

_HERE = Path(__file__).parent


class Pages:
    """Renders the page's templates; every value is escaped on its way in."""

    def __init__(self) -> None:
        self._static = {path.name: path.read_bytes() for path in (_HERE / "static").iterdir() if path.is_file()}
        self._stamp = hashlib.sha256(b"".join(data for _, data in sorted(self._static.items()))).hexdigest()[:12]
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, name: str, locale: str | None, **values: object) -> str:
        """A template with its values; `t` says the page's words, `say` those that all platforms share."""
        t: Callable[..., str] = partial(markup.words, locale)
        return self._templates.get_template(name).render(
            t=t, say=lambda key: say(key, locale), lang=locale_of(locale), stamp=self._stamp, **values
        )

    def page(self, name: str, locale: str | None, *, status: int = 200, **values: object) -> web.Response:
        return web.Response(text=self.render(name, locale, **values), content_type="text/html", status=status)

    async def static(self, request: web.Request) -> web.Response:
        """A file by its plain name; nothing else can be asked for."""
        name = request.match_info["name"]
        data = self._static.get(name)
        if data is None:
            raise web.HTTPNotFound
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        response = web.Response(body=data, content_type=kind, charset="utf-8")
        if request.query.get("v") == self._stamp:
            response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
        response.enable_compression()
        return response

    def failed(self, locale: str | None, home: str | None) -> guard.Explain:
        """How this page says a failure: a line to its own script, a page to a person."""

        def tell(request: web.Request, sentence: str, status: int) -> web.Response:
            if guard.TOKEN_HEADER in request.headers or request.path.endswith(".png"):
                return web.Response(text=sentence, status=status)
            language = guard.locale_of(request, locale)
            return self.page("sentence.html", language, status=status, sentence=sentence, home=home)

        return tell
