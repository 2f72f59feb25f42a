"""Files: `files.info`, downloads with the bearer checked (a login page without the scope), and the upload flow."""

import re

from aiohttp import web

from tests.fakes.slack.calls import Call, JsonObject, Methods, Refused
from tests.fakes.slack.server_key import FAKE
from tests.fakes.slack.world import BOT, File, Message

LOGIN_PAGE = b"<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in to Club</body></html>"


def described(call_url: str, file: File) -> JsonObject:
    """A file object as events and `files.info` carry it."""
    address = f"{call_url}/files-pri/{file.id}"
    path = re.sub(r"[^a-z0-9.]+", "_", file.name.lower()) or "file"  # as the vendor tidies names
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title or file.name,
        "size": len(file.data),
        "mimetype": "application/octet-stream",
        "user": file.user,
        "mode": "hosted",
        "is_external": False,
        "url_private": f"{address}/{path}",
        "url_private_download": f"{address}/download/{path}",
    }


async def info(call: Call) -> JsonObject:
    file = call.fake.world.files.get(call.need("file"))
    if file is None:
        raise Refused("file_not_found")
    return {"file": described(call.fake.host, file)}


async def upload_url(call: Call) -> JsonObject:
    name, length = call.need("filename"), int(call.need("length"))
    file = File(call.fake.world.next_id("F"), name, b"", BOT)
    call.fake.world.files[file.id] = file
    call.fake.expected_uploads[file.id] = length
    return {"upload_url": f"{call.fake.host}/upload/{file.id}", "file_id": file.id}


async def complete(call: Call) -> JsonObject:
    world, done = call.fake.world, []
    channel = call.args.get("channel_id")
    for item in call.json("files"):
        file = world.files[item["id"]]
        if not file.data:
            raise Refused("file_not_uploaded", ours=True)
        file.title = item.get("title") or file.name
        if channel:
            file.shared_in.add(channel)
        done.append(described(call.fake.host, file))
    if channel:
        message = Message(
            channel, world.next_ts(), BOT, call.text("initial_comment"), thread=call.args.get("thread_ts")
        )
        message.files = [item["id"] for item in done]
        call.fake.changed(world.put(message))
    return {"files": done}


async def download(request: web.Request) -> web.StreamResponse:
    fake = request.app[FAKE]
    file = fake.world.files[request.match_info["id"]]
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    fake.note("GET files-pri", {"file": file.id})
    if fake.gone_files:
        return web.Response(status=404)
    if not fake.tokens.valid(token) or "files:read" not in fake.scopes or fake.login_pages:
        return web.Response(body=LOGIN_PAGE, content_type="text/html")
    return web.Response(body=file.data, content_type="application/octet-stream")


async def receive(request: web.Request) -> web.StreamResponse:
    fake = request.app[FAKE]
    file = fake.world.files[request.match_info["id"]]
    if request.content_type.startswith("multipart/"):
        form = await request.post()
        [field] = [value for value in form.values() if isinstance(value, web.FileField)]
        file.data = field.file.read()
    else:
        file.data = await request.read()
    if len(file.data) != fake.expected_uploads[file.id]:
        fake.problems.append(
            f"upload of {file.name}: {len(file.data)} bytes, announced {fake.expected_uploads[file.id]}"
        )
    return web.Response(text=f"OK - {len(file.data)}", content_type="text/plain")


METHODS: Methods = {
    "files.info": ("files:read", info),
    "files.getUploadURLExternal": ("files:write", upload_url),
    "files.completeUploadExternal": ("files:write", complete),
}
