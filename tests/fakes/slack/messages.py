"""`chat.*`: post, update, delete, ephemerals, permalinks, and the streaming methods with their states."""

from tests.fakes.slack import limits
from tests.fakes.slack.calls import Call, JsonObject, Methods, Refused
from tests.fakes.slack.liveness import live, live_markdown
from tests.fakes.slack.world import BOT, TEAM, Channel, Message, shown


def _channel(call: Call) -> Channel:
    channel = call.fake.world.channels.get(call.need("channel"))
    if channel is None:
        raise Refused("channel_not_found")
    if BOT not in channel.members:
        raise Refused("not_in_channel")
    if channel.archived:
        raise Refused("is_archived")
    return channel


def _own(call: Call) -> Message:
    message = call.fake.world.messages.get((call.need("channel"), call.need("ts")))
    if message is None or message.deleted:
        raise Refused("message_not_found")
    if message.user != BOT:
        raise Refused("cant_update_message", ours=True)
    return message


def _checked(call: Call) -> tuple[str, list[JsonObject]]:
    """Text and blocks within the limits; what would act on somebody is written down."""
    text, blocks = call.text(), call.json("blocks") or []
    if error := limits.message_error(text, blocks):
        code, _, why = error.partition(": ")
        raise Refused(code, ours=True, why=why)
    if blocks and not text:
        raise Refused("no_text", ours=True, why="without top-level text a screen reader has nothing to say")
    for block in blocks:
        for part in (block, block.get("accessory", {})):
            file = part.get("slack_file", {}).get("id")
            if file and not call.fake.world.files[file].shared_in:
                raise Refused("invalid_blocks", ours=True, why="a file that was never shared")
    call.fake.acting += live(text, blocks, parse=call.args.get("parse"))
    return text, blocks


async def post(call: Call) -> JsonObject:
    world = call.fake.world
    # A person's id stands for where that person talks with the app alone.
    channel = world.im(call.need("channel")) if call.need("channel") in world.users else _channel(call)
    text, blocks = _checked(call)
    message = world.put(
        Message(
            channel.id,
            world.next_ts(),
            BOT,
            text,
            blocks,
            call.args.get("thread_ts"),
            metadata=call.json("metadata"),
            mrkdwn=bool(call.args.get("mrkdwn", True)),
            parse=call.args.get("parse"),
        )
    )
    call.fake.changed(message)
    return {"channel": channel.id, "ts": message.ts, "message": {"text": text, "user": BOT, "ts": message.ts}}


async def update(call: Call) -> JsonObject:
    _channel(call)
    message = _own(call)
    text, blocks = _checked(call)
    if message.streaming:
        raise Refused("streaming_state_conflict")
    message.text, message.blocks, message.streamed = text, blocks, ""
    message.edits += 1
    message.history.append(shown(message))
    call.fake.changed(message)
    return {"channel": message.channel, "ts": message.ts, "text": text}


async def delete(call: Call) -> JsonObject:
    message = _own(call)
    message.deleted = True
    call.fake.changed(message)
    return {"channel": message.channel, "ts": message.ts}


async def ephemeral(call: Call) -> JsonObject:
    channel = _channel(call)
    user = call.need("user")
    if user not in channel.members:
        raise Refused("user_not_in_channel")
    text, blocks = _checked(call)
    world = call.fake.world
    message = Message(channel.id, world.next_ts(), BOT, text, blocks, call.args.get("thread_ts"), for_user=user)
    call.fake.changed(world.put(message))
    return {"message_ts": message.ts}


async def permalink(call: Call) -> JsonObject:
    channel, ts = call.need("channel"), call.need("message_ts")
    return {"channel": channel, "permalink": f"https://club.slack.example/archives/{channel}/p{ts.replace('.', '')}"}


# Streams


async def start_stream(call: Call) -> JsonObject:
    channel = _channel(call)
    thread = call.need("thread_ts")
    if channel.kind != "im":
        for name in ("recipient_user_id", "recipient_team_id"):
            if not call.args.get(name):
                raise Refused(f"missing_{name}", ours=True)
        if call.args["recipient_team_id"] != TEAM:
            raise Refused("team_not_found", ours=True)
    world = call.fake.world
    message = Message(channel.id, world.next_ts(), BOT, thread=thread, streaming=True)
    message.stream_until = call.fake.clock() + call.fake.stream_life
    _append(call, message)
    call.fake.changed(world.put(message))
    return {"channel": channel.id, "ts": message.ts}


def _streaming(call: Call) -> Message:
    message = _own(call)
    if message.stopped_by_reader:
        message.streaming = False
        raise Refused("stopped_by_user")
    if message.streaming and call.fake.clock() > message.stream_until:
        message.streaming = False
    if not message.streaming:
        raise Refused("message_not_in_streaming_state")
    return message


def _append(call: Call, message: Message) -> None:
    text = call.text("markdown_text")
    for chunk in call.json("chunks") or []:
        if chunk.get("type") == "markdown_text":
            text += chunk["text"]
        elif chunk.get("type") not in ("task_update", "plan_update"):
            raise Refused("invalid_chunks", ours=True)
    if len(text) > limits.MARKDOWN or len(message.streamed) + len(text) > limits.MARKDOWN:
        raise Refused("msg_too_long", ours=True)
    message.streamed += text
    call.fake.acting += live_markdown(message.streamed)


async def append_stream(call: Call) -> JsonObject:
    message = _streaming(call)
    if not call.text("markdown_text") and not call.json("chunks"):
        raise Refused("no_text", ours=True)
    _append(call, message)
    message.history.append(shown(message))
    call.fake.changed(message)
    return {"channel": message.channel, "ts": message.ts}


async def stop_stream(call: Call) -> JsonObject:
    message = _streaming(call)
    blocks = call.json("blocks") or []
    if error := limits.blocks_error(blocks, 50):
        raise Refused("invalid_blocks", ours=True, why=error)
    _append(call, message)
    message.blocks = blocks
    message.streaming = False
    message.history.append(shown(message))
    call.fake.changed(message)
    return {"channel": message.channel, "ts": message.ts}


METHODS: Methods = {
    "chat.postMessage": ("chat:write", post),
    "chat.update": ("chat:write", update),
    "chat.delete": ("chat:write", delete),
    "chat.postEphemeral": ("chat:write", ephemeral),
    "chat.getPermalink": ("", permalink),
    "chat.startStream": ("chat:write", start_stream),
    "chat.appendStream": ("chat:write", append_stream),
    "chat.stopStream": ("chat:write", stop_stream),
}
