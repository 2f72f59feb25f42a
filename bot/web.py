"""The web page as this run serves it: its settings, its key, and the links into its reading view."""

from collections.abc import Callable
from functools import partial

from adapters.host import Host
from adapters.web import app
from adapters.web.links import Links, signing_key
from bot.config import WEB_PORT, Config
from bot.figures import read_figures
from bot.wiring import now
from core.club import Club
from core.desk import LinkFor


class Web:
    """`page`: the chat page is served, as it is when no chat platform is set up. Raises OperatorError for a broken key."""

    def __init__(self, config: Config, *, page: bool) -> None:
        self._config = config
        key = signing_key(config.data)
        self._links = Links(key, config.public_url, now) if config.public_url else None
        self._settings = app.Settings(
            port=WEB_PORT if config.web_port is None else config.web_port,
            public_port=config.public_port,
            key=key,
            links=self._links,
            page=page,
            insistent=page or config.web_port is not None,
        )

    @property
    def link_for(self) -> LinkFor | None:
        """What chat platforms put under passages; None without a public address."""
        return None if self._links is None else self._links.link_for

    async def serve(self, club: Club, *, host: Host, platforms: Callable[[], dict[str, bool]]) -> None:
        """Serve until cancelled; see `adapters.web.app.serve`."""
        figures = partial(read_figures, self._config)
        await app.serve(club, self._settings, host, figures=figures, platforms=platforms)
