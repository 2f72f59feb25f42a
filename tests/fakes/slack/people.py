"""`auth.*`, `apps.*`, `users.*`, `conversations.*`, `assistant.*`, `reactions.*`, `oauth.*`: who, where, and the door."""

from tests.fakes.slack.calls import Call, JsonObject, Methods, Refused
from tests.fakes.slack.world import APP, BOT, BOT_ID, TEAM, Channel


async def auth_test(call: Call) -> JsonObject:
    return {
        "url": "https://club.slack.example/",
        "team": "Club",
        "user": "loccit",
        "team_id": TEAM,
        "user_id": BOT,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


async def open_connection(call: Call) -> JsonObject:
    return {"url": call.fake.sockets.issue()}


async def user_info(call: Call) -> JsonObject:
    user = call.fake.world.users.get(call.need("user"))
    if user is None:
        raise Refused("user_not_found")
    facts: JsonObject = {
        "id": user.id,
        "team_id": TEAM,
        "name": user.id.lower(),
        "is_bot": user.bot,
        "is_admin": user.admin,
        "is_owner": False,
        "tz": "Europe/Lisbon",
    }
    if str(call.args.get("include_locale", "")).lower() in ("1", "true"):
        facts["locale"] = user.locale
    return {"user": facts}


def _channel(call: Call) -> Channel:
    channel = call.fake.world.channels.get(call.need("channel"))
    if channel is None or (channel.kind != "channel" and BOT not in channel.members):
        raise Refused("channel_not_found")
    return channel


async def channel_info(call: Call) -> JsonObject:
    channel = _channel(call)
    return {
        "channel": {
            "id": channel.id,
            "name": channel.id.lower(),
            "creator": channel.creator,
            "is_im": channel.kind == "im",
            "is_private": channel.kind == "group",
            "is_member": BOT in channel.members,
            "is_archived": channel.archived,
        }
    }


async def members(call: Call) -> JsonObject:
    return {"members": sorted(_channel(call).members), "response_metadata": {"next_cursor": ""}}


async def conversations_of(call: Call) -> JsonObject:
    """The channels a person is in, as far as the app may know them."""
    user = call.need("user")
    found = [
        {"id": channel.id, "is_private": channel.kind == "group"}
        for channel in call.fake.world.channels.values()
        if user in channel.members and (channel.kind == "channel" or BOT in channel.members) and channel.kind != "im"
    ]
    return {"channels": found, "response_metadata": {"next_cursor": ""}}


async def replies(call: Call) -> JsonObject:
    channel, root = _channel(call), call.need("ts")
    found = [
        message
        for message in call.fake.world.messages.values()
        if message.channel == channel.id and message.root == root and not message.deleted
    ]
    return {
        "messages": [
            {
                "ts": message.ts,
                "user": message.user,
                "text": message.text or message.streamed,
                "thread_ts": root,
                **({"metadata": message.metadata} if message.metadata else {}),
                **({"app_id": APP, "bot_id": BOT_ID} if message.user == BOT else {}),
                **(
                    {"files": [{"id": id, "name": call.fake.world.files[id].name} for id in message.files]}
                    if message.files
                    else {}
                ),
            }
            for message in sorted(found, key=lambda message: message.ts)
        ],
        "has_more": False,
    }


async def group_members(call: Call) -> JsonObject:
    group = call.fake.world.groups.get(call.need("usergroup"))
    if group is None:
        raise Refused("no_such_subteam")
    return {"users": group}


async def set_status(call: Call) -> JsonObject:
    call.fake.world.status[call.need("channel_id"), call.need("thread_ts")] = call.text("status")
    return {}


async def set_prompts(call: Call) -> JsonObject:
    prompts = call.json("prompts") or []
    if not 1 <= len(prompts) <= 4 or not all(prompt.get("title") and prompt.get("message") for prompt in prompts):
        raise Refused("invalid_arguments", ours=True, why="one to four prompts with title and message")
    call.fake.world.prompts = prompts
    return {}


async def react(call: Call) -> JsonObject:
    key = (call.need("channel"), call.need("timestamp"), call.need("name"))
    if key in call.fake.world.reactions:
        raise Refused("already_reacted")
    call.fake.world.reactions.append(key)
    return {}


async def refresh(call: Call) -> JsonObject:
    """`oauth.v2.access` with a refresh token: each serves once, and the tokens of the pair before die with it."""
    if call.args.get("grant_type") != "refresh_token":
        raise Refused("invalid_grant_type", ours=True)
    return call.fake.tokens.refresh(call.need("client_id"), call.need("client_secret"), call.need("refresh_token"))


METHODS: Methods = {
    "auth.test": ("", auth_test),
    "apps.connections.open": ("", open_connection),
    "users.info": ("users:read", user_info),
    "users.conversations": ("channels:read", conversations_of),
    "conversations.info": ("channels:read", channel_info),
    "conversations.members": ("channels:read", members),
    "conversations.replies": ("channels:history", replies),
    "usergroups.users.list": ("usergroups:read", group_members),
    "assistant.threads.setStatus": ("assistant:write", set_status),
    "assistant.threads.setSuggestedPrompts": ("assistant:write", set_prompts),
    "reactions.add": ("reactions:write", react),
    "oauth.v2.access": ("", refresh),
}
