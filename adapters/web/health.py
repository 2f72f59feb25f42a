"""For whoever watches over the bot: `/healthz` says whether it works, `/metrics` counts, in Prometheus's text format."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from core.errors import LoccitError

_FRESH = 5.0
"""Seconds for which figures from the database are told again without asking it."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What the database says of all platforms together, since the data folder was made."""

    answers: Counter[str]
    """By outcome."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    dropped: int = 0


class Health:
    """`figures` asks the database; an error of it means that the bot cannot work."""

    def __init__(
        self,
        figures: Callable[[], Awaitable[Figures]],
        platforms: Callable[[], dict[str, bool]],
        clock: Callable[[], float],
    ) -> None:
        self._figures = figures
        self._platforms = platforms
        self._clock = clock
        self._known: tuple[float, Figures] | None = None
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._taken = Histogram(
            "loccit_http_request_seconds", "Requests to the web page.", ["route", "status"], registry=self._registry
        )

    def add_to(self, app: web.Application) -> None:
        app.router.add_get("/healthz", self.healthz)
        app.router.add_get("/metrics", self.metrics)

    @web.middleware
    async def timed(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Count a request under its route's pattern: no address, and so nothing of a book, becomes a label."""
        begun = self._clock()
        response = await handler(request)
        resource = request.match_info.route.resource
        route = "other" if resource is None else resource.canonical
        self._taken.labels(route, str(response.status)).observe(self._clock() - begun)
        return response

    async def healthz(self, _: web.Request) -> web.Response:
        """200 while the database answers and no platform has given up; else 503. The body names what is down."""
        down = [name for name, up in self._platforms().items() if not up]
        try:
            await self._fresh()
        except (LoccitError, OSError):
            down.insert(0, "database")
        if down:
            return web.Response(text=f"down: {', '.join(down)}\n", status=503)
        return web.Response(text="ok\n")

    async def metrics(self, _: web.Request) -> web.Response:
        figures = await self._fresh()
        registry = CollectorRegistry()
        registry.register(_Told(figures, self._platforms()))
        text = generate_latest(self._registry) + generate_latest(registry)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _fresh(self) -> Figures:
        if self._known is None or self._clock() - self._known[0] > _FRESH:
            self._known = (self._clock(), await self._figures())
        return self._known[1]


class _Told(Collector):
    def __init__(self, figures: Figures, platforms: dict[str, bool]) -> None:
        self._figures = figures
        self._platforms = platforms

    def collect(self) -> Iterator[Metric]:
        figures = self._figures
        answers = CounterMetricFamily("loccit_answers", "Answers given, by outcome.", labels=["outcome"])
        for outcome, count in sorted(figures.answers.items()):
            answers.add_metric([outcome], count)
        yield answers
        yield CounterMetricFamily("loccit_model_calls", "Calls to the language model.", value=figures.calls)
        tokens = CounterMetricFamily("loccit_model_tokens", "Tokens read and written.", labels=["direction"])
        tokens.add_metric(["read"], figures.input_tokens)
        tokens.add_metric(["written"], figures.output_tokens)
        yield tokens
        yield CounterMetricFamily("loccit_model_money", "Spent, in the unit of the caps.", value=figures.money)
        yield CounterMetricFamily("loccit_dropped_tags", "Tags that did not become footnotes.", value=figures.dropped)
        up = GaugeMetricFamily("loccit_platform_up", "1 while the platform is served.", labels=["platform"])
        for name, is_up in sorted(self._platforms.items()):
            up.add_metric([name], float(is_up))
        yield up
