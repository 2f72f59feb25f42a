"""What `loccit doctor` and `setup` say about Slack: whether the tokens work, what is missing, whether we are in a channel."""

from collections.abc import Sequence

from adapters.slack.door import Door, Rejected, Settings, Unreachable
from adapters.slack.tokens import Token
from core.errors import OperatorError
from core.model import Check, Conversation, Notice
from core.strings import say

SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "usergroups:read",
    "users:read",
)
"""What the bot's token needs; deploy/slack-manifest.yaml asks for exactly these."""
EVENTS = (
    "app_home_opened",
    "app_mention",
    "assistant_thread_started",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
)
"""What the app has to be told."""


async def examine(settings: Settings) -> tuple[list[Notice], bool]:
    """Sentences for whoever runs the bot, and whether all is well. Refreshes no token: a refresh token serves once."""
    door = Door(settings, Token(settings.token))
    await door.open()
    try:
        found, well = await _examine(door)
        if not well and settings.rotation is not None and found[0].key == "token_refused":
            return [Notice("doctor_slack_rotated")], True  # what stands in the settings has served its twelve hours
        return found, well
    finally:
        await door.close()


async def _examine(door: Door) -> tuple[list[Notice], bool]:
    try:
        me = await door.whoami()
        if not door.settings.port:
            await door.connection()
    except (OperatorError, Unreachable) as error:
        return [Notice(error.key, error.params)], False
    except Rejected as rejected:
        return [Notice("doctor_slack_refused", {"code": rejected.error})], False
    up = Notice("doctor_slack", {"team": str(me.get("team") or ""), "name": str(me.get("user") or "")})
    if missing := missing_scopes(str(me["_scopes"])):
        return [up, Notice("doctor_slack_scopes", {"scopes": ", ".join(missing)})], False
    return [up], True


def missing_scopes(granted: str) -> list[str]:
    """The needed ones that are not among those Slack names with each answer."""
    have = {scope.strip() for scope in granted.split(",")}
    return [scope for scope in SCOPES if scope not in have]


async def checks(door: Door, where: Conversation, locale: str | None) -> Sequence[Check]:
    """What the app may do as Slack tells it now, and whether it is in this channel."""
    missing = missing_scopes(str((await door.whoami())["_scopes"]))
    found = [Check(False, say("doctor_slack_scopes", locale, scopes=", ".join(missing)))] if missing else []
    if not await _inside(door, where.channel):
        found.append(Check(False, say("slack_invite", locale)))
    return found or (Check(True, say("slack_setup_rights", locale)),)


async def _inside(door: Door, channel: str) -> bool:
    """Whether we are in a channel; a direct conversation is always one of ours."""
    if channel.startswith("D"):
        return True
    try:
        told = await door.call("conversations.info", channel=channel)
    except Rejected as rejected:
        return rejected.error != "channel_not_found"  # without the permission to look, that is what is missing
    return bool((told.get("channel") or {}).get("is_member"))
