"""A workspace on the loopback for the unmodified Slack libraries; see `server` for the wire, `driver` for the people."""

from tests.fakes.slack.calls import Entry
from tests.fakes.slack.driver import Done, Driver
from tests.fakes.slack.server import SCOPES, FakeSlack
from tests.fakes.slack.sockets import Attempt, Envelope
from tests.fakes.slack.tokens import APP_TOKEN, CLIENT, SECRET
from tests.fakes.slack.world import BOT, TEAM, File, Message, View, buttons, label, shown

__all__ = [
    "APP_TOKEN",
    "BOT",
    "CLIENT",
    "SCOPES",
    "SECRET",
    "TEAM",
    "Attempt",
    "Done",
    "Driver",
    "Entry",
    "Envelope",
    "FakeSlack",
    "File",
    "Message",
    "View",
    "buttons",
    "label",
    "shown",
]
