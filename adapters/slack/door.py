"""The Web API as this adapter uses it: patient calls that wait out a 429, hasty ones that do not, files, response URLs."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.tokens import Rotation, Token
from core.errors import OperatorError, ReaderError, UpstreamError

Json = dict[str, Any]

API = "https://slack.com/api/"
PATIENCE = 30
"""Times a patient call is repeated after a 429, each after the seconds Slack names."""
_TIMEOUT = 30
_OWN_HOSTS = ("slack.com", "slack-files.com")
"""Where the token may go with a download; and the host of an API base that was set."""
REFUSED = {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "no_permission"}
"""Codes that say the token is no good; waiting changes nothing."""
_FORMS = {"users.info", "users.conversations", "conversations.info", "conversations.members", "conversations.replies"}
_FORMS |= {"files.info", "files.getUploadURLExternal", "usergroups.users.list"}
"""Methods that read no JSON bodies."""

sdk_log = logging.getLogger("adapters.slack.sdk")
sdk_log.setLevel(logging.CRITICAL)  # the SDK logs payloads below that; what fails is logged here, without words


class Unreachable(UpstreamError):
    """Slack itself does not answer: whatever was to be done is tried again later."""

    def __init__(self) -> None:
        super().__init__("platform_unreachable", platform="Slack")


class Rejected(Exception):
    """Slack's answer was no: `error` is its code."""

    def __init__(self, error: str, answer: Mapping[str, Any], retry_after: float | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.answer = answer
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Settings:
    """How to reach the workspace."""

    token: str = field(repr=False)
    app_token: str = field(default="", repr=False)
    api: str = API
    signing_secret: str = field(default="", repr=False)
    port: int = 0
    """Where HTTP mode listens; 0 = Socket Mode."""
    rotation: Rotation | None = None
    managers: str = ""
    """A user group whose members may change things in every channel."""
    sockets: int = 2


class Door:
    """Calls by their name. Raises Rejected, Unreachable, OperatorError (the token)."""

    def __init__(self, settings: Settings, token: Token) -> None:
        self.settings = settings
        self._token = token
        self._patient = self._client(
            AsyncConnectionErrorRetryHandler(max_retry_count=2),
            AsyncRateLimitErrorRetryHandler(max_retry_count=PATIENCE),
            AsyncServerErrorRetryHandler(max_retry_count=3),
        )
        self._hasty = self._client(AsyncConnectionErrorRetryHandler())
        self._session: aiohttp.ClientSession | None = None

    def _client(self, *handlers: Any) -> AsyncWebClient:
        return AsyncWebClient(
            base_url=self.settings.api, timeout=_TIMEOUT, logger=sdk_log, retry_handlers=list(handlers)
        )

    def bare_client(self) -> AsyncWebClient:
        """A client without a token, for the SDK's own machinery."""
        return self._client(AsyncConnectionErrorRetryHandler())

    async def open(self) -> None:
        """One session for all calls: a connection is kept for the next."""
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_TIMEOUT))
        self._patient.session = self._hasty.session = self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def call(self, method: str, *, hasty: bool = False, **arguments: Any) -> Json:
        """One call of the Web API; with `hasty` a 429 is Rejected("ratelimited") at once."""
        token = await self._token.current(self._exchange)
        try:
            return await self._once(method, token, arguments, hasty=hasty)
        except Rejected as rejected:
            if rejected.error != "token_expired" or not await self._token.expired(token, self._exchange):
                raise
        return await self._once(method, await self._token.current(self._exchange), arguments, hasty=hasty)

    async def _once(self, method: str, token: str, arguments: Mapping[str, Any], *, hasty: bool) -> Json:
        client = self._hasty if hasty else self._patient
        body = {key: value for key, value in arguments.items() if value is not None}
        headers = {"Authorization": f"Bearer {token}"}
        kind: Json = {"params": body} if method in _FORMS else {"json": body}
        try:
            answer = await client.api_call(method, headers=headers, **kind)
        except SlackApiError as error:
            raise _rejected(error) from error
        except (aiohttp.ClientError, SlackRequestError, TimeoutError, OSError) as error:
            raise Unreachable from error
        data = dict(answer.data) if isinstance(answer.data, dict) else {}
        data["_scopes"] = answer.headers.get("X-OAuth-Scopes", "")
        return data

    async def _exchange(self, refresh_token: str) -> Json:
        rotation = self.settings.rotation
        assert rotation is not None
        form = {
            "client_id": rotation.client_id,
            "client_secret": rotation.client_secret,
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
        }
        try:
            answer = await self._patient.api_call("oauth.v2.access", data=form)
        except SlackApiError as error:
            return dict(error.response.data) if isinstance(error.response.data, dict) else {"ok": False}
        except (aiohttp.ClientError, SlackRequestError, TimeoutError, OSError) as error:
            raise Unreachable from error
        return dict(answer.data) if isinstance(answer.data, dict) else {"ok": False}

    async def connection(self) -> str:
        """A fresh address for a socket. Raises OperatorError for a refused app token."""
        try:
            answer = await self.bare_client().apps_connections_open(app_token=self.settings.app_token)
        except SlackApiError as error:
            if _rejected(error).error in REFUSED:
                raise OperatorError("token_refused", platform="Slack", setting="SLACK_APP_TOKEN") from error
            raise _rejected(error) from error
        except (aiohttp.ClientError, SlackRequestError, TimeoutError, OSError) as error:
            raise Unreachable from error
        return str(answer["url"])

    async def whoami(self) -> Json:
        """`auth.test`. Raises OperatorError for a refused token."""
        try:
            return await self.call("auth.test")
        except Rejected as rejected:
            if rejected.error in REFUSED:
                raise OperatorError("token_refused", platform="Slack", setting="SLACK_BOT_TOKEN") from rejected
            raise

    # Files and response URLs

    async def download(self, address: str, target: Path, most: int) -> None:
        """Fetch a private file. Raises OperatorError for the login page that stands in for it without the scope."""
        host = urlsplit(address).hostname or ""
        own = host == urlsplit(self.settings.api).hostname
        if not own and not any(host == name or host.endswith("." + name) for name in _OWN_HOSTS):
            raise ReaderError("slack_file_gone")  # kept somewhere else: the token does not go there
        headers = {"Authorization": f"Bearer {await self._token.current(self._exchange)}"}
        size = 0
        try:
            async with self._opened.get(address, headers=headers, timeout=_download_time()) as reply:
                if 400 <= reply.status < 500 and reply.status != 429:
                    raise ReaderError("slack_file_gone")
                if reply.status != 200:
                    raise Unreachable
                page = reply.content_type == "text/html"
                with target.open("wb") as file:
                    async for piece in reply.content.iter_chunked(256 * 1024):
                        size += len(piece)
                        if size > most:
                            return  # the club says that it is too large
                        await asyncio.to_thread(file.write, piece)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable from error
        if page and is_login_page(await asyncio.to_thread(_head, target)):
            raise OperatorError("slack_no_file_scope")

    async def upload(self, name: str, data: bytes, title: str, channel: str, thread: str | None) -> None:
        """A file for everybody who reads this thread."""
        ticket = await self.call("files.getUploadURLExternal", filename=name, length=len(data), alt_txt=title[:1000])
        try:
            async with self._opened.post(ticket["upload_url"], data=data) as reply:
                if reply.status != 200:
                    raise Rejected("upload_failed", {})
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable from error
        await self.call(
            "files.completeUploadExternal",
            files=[{"id": ticket["file_id"], "title": title}],
            channel_id=channel,
            thread_ts=thread,
        )

    async def respond(self, url: str, body: Json) -> None:
        """Answer through a response URL. Raises Rejected, also for a refusal that comes with status 200."""
        try:
            async with self._opened.post(url, json=body) as reply:
                text = await reply.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable from error
        if reply.status != 200 or '"ok":false' in text.replace(" ", ""):
            raise Rejected("invalid_blocks" if "blocks" in text else "response_refused", {})

    @property
    def _opened(self) -> aiohttp.ClientSession:
        assert self._session is not None, "open() comes first"
        return self._session


def is_login_page(head: bytes) -> bool:
    """True for the page Slack serves, with status 200, in place of a file the token may not read."""
    start = head.lstrip()[:512].lower()
    return start.startswith((b"<!doctype html", b"<html")) and b"slack" in head.lower()


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(8192)


def _download_time() -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=600, sock_read=60)


def _rejected(error: SlackApiError) -> Rejected:
    data = error.response if isinstance(error.response, dict) else getattr(error.response, "data", None)
    answer = data if isinstance(data, dict) else {}
    headers = getattr(error.response, "headers", {})
    wait = headers.get("Retry-After")
    code = "ratelimited" if getattr(error.response, "status_code", 0) == 429 else str(answer.get("error", "unreadable"))
    return Rejected(code, answer, float(wait) if wait else None)
