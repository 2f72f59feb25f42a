"""The settings of one OpenAI-compatible provider, as given by the operator. No network here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from core.errors import OperatorError

DEFAULT_CONTEXT = 128_000
"""Tokens assumed where neither the operator nor the server names the window (DESIGN, issue 4)."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. The first token may take long on a local machine that has to read the whole evidence first."""

    connect: float = 10.0
    first_token: float = 120.0
    between_tokens: float = 45.0
    total: float = 300.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How often, and for how long, a request that failed before its first word is sent again. Seconds."""

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 20.0
    """A Retry-After beyond this is not waited for: the reader is told instead."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where the model is and how it is spoken to. Raises OperatorError (model_address) for what is no address."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    context_tokens: int | None = None
    """The operator's word on the window; None: ask the server."""
    max_in_flight: int = 8
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    no_thinking: Mapping[str, Any] | None = None
    """Fields that switch this provider's thinking off; None: from our table, an empty mapping: leave it alone."""

    def __post_init__(self) -> None:
        try:
            parts = self.address
            known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # brackets that do not close, a port that is no number or too large
            known = False
        if not known or re.search(r"\s", self.base_url.strip()):
            # never repeated: it may hold a password, or be the key itself, set by mistake
            raise OperatorError("model_address")

    @property
    def address(self) -> SplitResult:
        """The parts of the URL."""
        return urlsplit(self.url)

    @property
    def url(self) -> str:
        """The base URL as the client needs it: with `/v1` where only a host was given, without an endpoint's path."""
        url = self.base_url.strip().rstrip("/").removesuffix("/chat/completions")
        return url if urlsplit(url).path else f"{url}/v1"
