"""A Discord for tests, on loopback, strict where the vendor is: see `server.FakeDiscord`."""

from tests.fakes.discord.interactions import Invocation
from tests.fakes.discord.people import Member, buttons, labels
from tests.fakes.discord.server import TOKEN, FakeDiscord, discord
from tests.fakes.discord.world import Channel, Payload, Server

__all__ = [
    "TOKEN",
    "Channel",
    "FakeDiscord",
    "Invocation",
    "Member",
    "Payload",
    "Server",
    "buttons",
    "discord",
    "labels",
]
