"""Under which key the aiohttp application holds the fake."""

from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack

FAKE: web.AppKey["FakeSlack"] = web.AppKey("fake")
