"""What `loccit doctor` says about Slack: the tokens, and which permission is missing."""

from adapters.slack.door import Door, Rejected, Settings, Unreachable
from core.errors import OperatorError
from core.model import Notice

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
    "message.channels",
    "message.groups",
    "message.im",
)
"""What the app has to be told."""


async def examine(door: Door) -> tuple[list[Notice], bool]:
    """One notice a line, and whether everything needed is there."""
    try:
        me = await door.whoami()
        if not door.settings.port:
            await door.connection()
    except (OperatorError, Unreachable) as error:
        return [Notice(error.key, error.params)], False
    except Rejected as rejected:
        return [Notice("doctor_slack_refused", {"code": rejected.error})], False
    notices = [Notice("doctor_slack", {"team": str(me.get("team") or ""), "name": str(me.get("user") or "")})]
    missing = missing_scopes(str(me["_scopes"]))
    if missing:
        return [*notices, Notice("doctor_slack_scopes", {"scopes": ", ".join(missing)})], False
    return notices, True


def missing_scopes(granted: str) -> list[str]:
    """The needed ones that are not among those Slack names after each call."""
    have = {scope.strip() for scope in granted.split(",")}
    return [scope for scope in SCOPES if scope not in have]


def needs_app_token(settings: Settings) -> bool:
    """True when Socket Mode is meant and its token is not there."""
    return not settings.port and not settings.app_token
