"""The library's bot as we open it: the addresses, the time limits, and the vendor's "wait" as an error of our own."""

import json
import ssl
from functools import cache
from typing import Any

import httpx
from telegram import Bot
from telegram.error import TelegramError
from telegram.request import HTTPXRequest, RequestData

READ = 20.0
"""Seconds until a call without an answer counts as lost."""


class Flooded(TelegramError):
    """429: the vendor names the seconds to wait. (The library's own error for it warns about itself.)"""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"wait {seconds} s")
        self.seconds = seconds


class _Request(HTTPXRequest):
    """Reads 429 before the library does."""

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *args: Any, **more: Any
    ) -> tuple[int, bytes]:
        code, body = await super().do_request(url, method, request_data, *args, **more)
        if code == 429:
            try:
                raise Flooded(float(json.loads(body)["parameters"]["retry_after"]))
            except (ValueError, KeyError, TypeError):
                raise Flooded(5.0) from None
        return code, body


def open_bot(token: str, base_url: str | None, base_file_url: str | None) -> Bot:
    """The library's bot; nothing is connected to yet."""
    base_url = base_url or "https://api.telegram.org/bot"
    secure = {"verify": _trusted()}
    return Bot(
        token,
        base_url,
        base_file_url or f"{base_url.removesuffix('/bot')}/file/bot",
        request=_Request(connection_pool_size=64, read_timeout=READ, pool_timeout=READ, httpx_kwargs=secure),
        get_updates_request=HTTPXRequest(connection_pool_size=1, httpx_kwargs=secure),
    )


@cache
def _trusted() -> ssl.SSLContext:
    """Whom we believe that a server is the one it says. Read once: a bot has two lines, and reading it takes 30 ms."""
    return httpx.create_ssl_context()
