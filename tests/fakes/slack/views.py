"""`views.*` with trigger ids that serve once within three seconds, and `response_url`s (five times, thirty minutes)."""

from aiohttp import web

from tests.fakes.slack import limits
from tests.fakes.slack.calls import Call, JsonObject, Methods, Refused
from tests.fakes.slack.liveness import live
from tests.fakes.slack.server_key import FAKE
from tests.fakes.slack.world import BOT, Message, View, shown

TRIGGER_LIFE = 3.0
RESPONSES, RESPONSE_LIFE = 5, 1800.0


def _view(call: Call, kind: str) -> JsonObject:
    view: JsonObject = call.json("view")
    if view.get("type") != kind:
        raise Refused("invalid_arguments", ours=True, why=f"a {kind} was expected")
    if error := limits.view_error(view):
        raise Refused("invalid_arguments", ours=True, why=error)
    call.fake.acting += live("", view["blocks"])
    return view


def _shown(view: View) -> JsonObject:
    return {"view": {**view.body, "id": view.id, "hash": view.hash, "team_id": "T0LOCCIT"}}


async def open_view(call: Call) -> JsonObject:
    user = call.fake.spend_trigger(call.need("trigger_id"), TRIGGER_LIFE)
    world = call.fake.world
    view = View(world.next_id("V"), world.next_id("H"), user, _view(call, "modal"), "modal")
    world.views[view.id] = view
    call.fake.changed(None)
    return _shown(view)


async def update_view(call: Call) -> JsonObject:
    view = call.fake.world.views.get(call.need("view_id"))
    if view is None or view.closed:
        raise Refused("not_found")
    if call.args.get("hash") not in (None, view.hash):
        raise Refused("hash_conflict")
    view.body, view.hash = _view(call, view.kind), call.fake.world.next_id("H")
    call.fake.changed(None)
    return _shown(view)


async def publish(call: Call) -> JsonObject:
    user, world = call.need("user_id"), call.fake.world
    body = _view(call, "home")
    view = next((view for view in world.views.values() if view.kind == "home" and view.user == user), None)
    if view is None:
        view = View(world.next_id("V"), "", user, body, "home")
        world.views[view.id] = view
    view.body, view.hash = body, world.next_id("H")
    call.fake.changed(None)
    return _shown(view)


async def respond(request: web.Request) -> web.StreamResponse:
    """A POST to a `response_url`: the only way to change or delete an ephemeral message."""
    fake = request.app[FAKE]
    door = fake.response_doors.get(request.match_info["door"])
    body: JsonObject = await request.json()
    entry = fake.note("response_url", body)
    if door is None or door.left <= 0 or fake.clock() - door.made > RESPONSE_LIFE:
        entry.status = 404
        return web.Response(text="expired_url", status=404)
    door.left -= 1
    if fault := fake.take_fault("response_url"):
        entry.status = 200
        entry.reply = {"ok": False, "error": fault.error}
        return web.json_response(entry.reply)
    text, blocks = str(body.get("text") or ""), body.get("blocks") or []
    if not body.get("delete_original"):
        if error := limits.message_error(text, blocks):
            fake.problems.append(f"response_url: {error}")
            entry.reply = {"ok": False, "error": error}
            return web.json_response(entry.reply)
        fake.acting += live(text, blocks)
    entry.reply = {"ok": True}
    original = door.message
    if body.get("delete_original") and original is not None:
        original.deleted = True
    elif body.get("replace_original") and original is not None:
        original.text, original.blocks = text, blocks
        original.history.append(shown(original))
    else:
        whom = None if body.get("response_type") == "in_channel" else door.user
        thread = body.get("thread_ts") or (original.thread if original else None)
        fake.world.put(Message(door.channel, fake.world.next_ts(), BOT, text, blocks, thread, for_user=whom))
    fake.changed(original)
    return web.Response(text="ok")


METHODS: Methods = {
    "views.open": ("", open_view),
    "views.update": ("", update_view),
    "views.publish": ("", publish),
}
