"""One call of the Web API: its arguments as they came, the journal's entry for it, and how it is refused."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack

JsonObject = dict[str, Any]


class Refused(Exception):
    """`{"ok": false, "error": …}`. `ours`: the caller broke a rule of the API, which fails the test."""

    def __init__(self, error: str, *, ours: bool = False, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.ours = ours
        self.more = more


@dataclass
class Entry:
    """One request of the app. Times are seconds since the fake started."""

    method: str
    args: JsonObject
    at: float
    status: int = 200
    reply: JsonObject = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return bool(self.reply.get("ok"))


@dataclass
class Call:
    fake: "FakeSlack"
    entry: Entry
    token: str

    @property
    def args(self) -> JsonObject:
        return self.entry.args

    def need(self, name: str) -> str:
        value = self.args.get(name)
        if value in (None, ""):
            raise Refused("invalid_arguments", ours=True, missing=name)
        return str(value)

    def text(self, name: str = "text") -> str:
        return str(self.args.get(name) or "")

    def json(self, name: str) -> Any:
        """An argument that may be JSON text (forms) or a value (JSON bodies)."""
        value = self.args.get(name)
        return json.loads(value) if isinstance(value, str) else value


Method = Callable[[Call], Awaitable[JsonObject]]
Methods = Mapping[str, tuple[str, Method]]
"""Method name -> (the scope it needs, "" for none; what it does)."""
