"""The one place that picks the real things: clock, ids, store, model. Imports what it needs when it is needed."""

import asyncio
import gc
import random
import secrets
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from bot.config import Config
from core.errors import OperatorError

if TYPE_CHECKING:
    from core.club import Club
    from core.lifecycle import Keeping
    from core.llm import OpenAIChat
    from core.spending import Terms

_ID_BYTES = 16
"""128 bits: nobody guesses one, and its 22 characters fit into every platform's button (40 bytes in DESIGN section 6)."""


def new_id() -> str:
    """An opaque id that is safe in a URL."""
    return secrets.token_urlsafe(_ID_BYTES)


def now() -> datetime:
    return datetime.now(UTC)


async def open_club(config: Config, *, works: bool | None = None) -> "Club":
    """The club on the configured store; `works`: whether this process makes summaries, whatever the settings say.

    Raises OperatorError when the store cannot be opened.
    """
    from core.club import Club
    from core.offline import OfflineReader
    from core.store import Store

    reader = OfflineReader()
    model = open_model(config)
    store = await Store.open(config.database_url or "", config.data)

    if model is None:
        return Club(
            store,
            reader,
            reader,
            config.data,
            recognise=config.ocr,
            now=now,
            clock=monotonic,
            new_id=new_id,
            terms=_terms(config),
            keeping=_keeping(config),
        )
    from core.llm import ask_context

    return Club(
        store,
        model,
        reader,
        config.data,
        models={name: model if name == model.name else model.with_model(name) for name in config.llm_models},
        recognise=config.ocr,
        now=now,
        clock=monotonic,
        new_id=new_id,
        window=partial(ask_context, model),
        works=config.summaries if works is None else works,
        terms=_terms(config),
        keeping=_keeping(config),
    )


def _keeping(config: Config) -> "Keeping":
    from core.lifecycle import Keeping

    questions, history = (
        None if days is None else timedelta(days=days)
        for days in (config.keep_questions_days, config.keep_history_days)
    )
    return Keeping(questions, history)


def _terms(config: Config) -> "Terms":
    from core.spending import Caps, Prices, Terms

    return Terms(
        Prices(config.price_input, config.price_output),
        Caps(config.cap_reader_day, config.cap_channel_day, config.cap_server_month, config.cap_total_month),
        config.cap_passages_day,
        config.allow_chats,
        config.allow_uploaders,
        config.ask_above,
    )


def open_model(config: Config) -> "OpenAIChat | None":
    """The configured language model; None when neither an address nor a key is set: then answers are quotations.

    Connects to nothing yet. Raises OperatorError when the model's name is missing or its address is none.
    """
    if not config.llm_base_url and not config.llm_api_key:
        return None
    if not config.llm_model:
        raise OperatorError("config_no_model")
    from core.llm import Line, OpenAIChat, Provider

    provider = Provider(
        base_url=config.llm_base_url or "https://api.openai.com/v1",
        model=config.llm_model,
        api_key=config.llm_api_key or "",
        context_tokens=config.llm_context,
    )
    # What was imported by then stays for good. Without this the collector goes through all of it now and then, and
    # everybody's stream stands still for 90 ms.
    line = Line(provider, opened=gc.freeze)
    return OpenAIChat(provider, sleep=asyncio.sleep, jitter=random.random, now=now, line=line)
