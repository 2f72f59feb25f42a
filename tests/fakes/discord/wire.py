"""HTTP the vendor's way: bodies with files, JSON whose type carries no charset, errors with codes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import BodyPartReader, web

from tests.fakes.discord.checks import FILE_BYTES, Refusal, invalid
from tests.fakes.discord.world import Payload


@dataclass(frozen=True)
class Sent:
    """A file in a request."""

    name: str
    data: bytes


def reply(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """JSON; clients read it only when the type is exactly this, without a charset."""
    body = b"" if data is None else json.dumps(data).encode()
    kind = {} if data is None else {"Content-Type": "application/json"}
    return web.Response(
        body=body, status=204 if data is None and status == 200 else status, headers=kind | dict(headers or {})
    )


def refusal(refused: Refusal) -> web.Response:
    return reply({"code": refused.code, "message": refused.message}, refused.status, refused.headers)


async def body_of(request: web.Request) -> tuple[Payload, list[Sent]]:
    """The JSON of a request and the files beside it."""
    if not request.body_exists:
        return {}, []
    if not request.content_type.startswith("multipart/"):
        data = await request.json()
        return data if isinstance(data, dict) else {"items": data}, []
    payload: Payload = {}
    files: list[Sent] = []
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.name == "payload_json":
            payload = json.loads(data)
        elif part.name and part.name.startswith("files["):
            files.append(Sent(part.filename or "file", data))
        else:
            raise invalid(f"unknown part {part.name}")
    if len(files) > 10 or sum(len(file.data) for file in files) > FILE_BYTES:
        raise Refusal(413, 40005, "Request entity too large")
    return payload, files
