"""The file server: signed links that end, as the vendor's do."""

import hashlib
import secrets
from collections.abc import Callable

from aiohttp import web

from tests.fakes.discord.journal import Journal
from tests.fakes.discord.wire import Sent
from tests.fakes.discord.world import Payload, Snowflakes

LIVES = 24 * 3600
"""Seconds; links live about a day."""


class FileServer:
    def __init__(self, flakes: Snowflakes, journal: Journal, clock: Callable[[], float]) -> None:
        self._flakes = flakes
        self._journal = journal
        self._clock = clock
        self._key = secrets.token_bytes(16)
        self._files: dict[str, Sent] = {}
        self.address = ""
        self.ahead = 0.0
        """Seconds the file server's clock has been put forward: what was signed before may have ended."""

    def keep(self, file: Sent, channel_id: str) -> Payload:
        """Store a file; the attachment as a message carries it."""
        id = self._flakes.make()
        name = "".join(ch if ch.isalnum() or ch in "._-" else "_" for ch in file.name) or "file"
        path = f"attachments/{channel_id}/{id}/{name}"
        self._files[path] = file
        return self.sign({"id": str(id), "filename": name, "title": file.name, "size": len(file.data), "path": path})

    def sign(self, attachment: Payload) -> Payload:
        """The same attachment with a fresh link."""
        path = attachment["path"]
        ends = int(self._clock() + self.ahead + LIVES)
        url = f"{self.address}/{path}?ex={ends:x}&is={ends - LIVES:x}&hm={self._mac(path, ends)}"
        return attachment | {"url": url, "proxy_url": url, "content_type": "application/octet-stream"}

    def _mac(self, path: str, ends: int) -> str:
        return hashlib.blake2b(f"{path}{ends:x}".encode(), key=self._key, digest_size=16).hexdigest()

    def data(self, attachment: Payload) -> bytes:
        return self._files[attachment["path"]].data

    async def serve(self, request: web.Request) -> web.Response:
        entry = self._journal.note("GET", "/attachments", path={"file": request.match_info["path"]})
        path = f"attachments/{request.match_info['path']}"
        ends = int(request.query.get("ex", "0"), 16)
        known = path in self._files and request.query.get("hm") == self._mac(path, ends)
        if not known or self._clock() + self.ahead > ends:
            entry.status = 404
            return web.Response(status=404, text="This content is no longer available.")
        entry.status = 200
        return web.Response(body=self._files[path].data)
