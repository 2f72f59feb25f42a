"""How large a model's window is: the operator's word, else the server's, else an assumption."""

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlunsplit

from core.llm.chat import OpenAIChat
from core.llm.provider import DEFAULT_CONTEXT

log = logging.getLogger(__name__)

_OLLAMA_DEFAULT = 4_096
"""What Ollama gives a model for which nobody set `num_ctx`; it cuts longer prompts silently, so never assume more."""

# From the most to the least binding: what the server loaded, what it serves, what the model was trained for.
_FIELDS = (
    "loaded_context_length", "n_ctx", "max_model_len", "context_length", "context_window", "max_context_length",
    "max_input_tokens", "input_token_limit", "inputTokenLimit", "n_ctx_train",
)  # fmt: skip


async def ask_context(chat: OpenAIChat) -> int:
    """The window in tokens. Never raises: a server that is down or says nothing leaves 128,000 standing."""
    if chat.provider.context_tokens is not None:
        return chat.provider.context_tokens
    model = await _listed(chat)
    if model.get("owned_by") == "library" or chat.provider.address.port == 11434:
        return await _ask_ollama(chat)
    if model.get("owned_by") == "llamacpp" or "meta" in model:
        properties = await _get(chat, _beside(chat, "/props"))
        settings = properties.get("default_generation_settings") if isinstance(properties, Mapping) else None
        if isinstance(settings, Mapping) and (told := _first(settings)):
            return told
    return _first(model) or DEFAULT_CONTEXT


async def _listed(chat: OpenAIChat) -> Mapping[str, Any]:
    """The entry of this model in the server's list; the only entry when there is just one."""
    listed = await _get(chat, "/models")
    entries = listed.get("data") if isinstance(listed, Mapping) else listed
    models = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    for entry in models:
        if chat.name in (entry.get("id"), entry.get("name")):
            return entry
    return models[0] if len(models) == 1 else {}


async def _ask_ollama(chat: OpenAIChat) -> int:
    running = await _get(chat, _beside(chat, "/api/ps"))
    models = running.get("models") if isinstance(running, Mapping) else None
    for entry in models if isinstance(models, list) else ():
        if (
            isinstance(entry, Mapping)
            and chat.name in (entry.get("name"), entry.get("model"))
            and (told := _first(entry))
        ):
            return told
    shown = await _get(chat, _beside(chat, "/api/show"), post={"model": chat.name})
    parameters = shown.get("parameters") if isinstance(shown, Mapping) else None
    if isinstance(parameters, str) and (given := re.search(r"^num_ctx\s+(\d+)", parameters, re.M)):
        return int(given[1])
    return _OLLAMA_DEFAULT


def _first(entry: Mapping[str, Any]) -> int | None:
    places = list(_places(entry))
    for field in _FIELDS:
        for place in places:
            value = place.get(field)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 256:
                return value
    return None


def _places(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield entry
    for nested in ("meta", "top_provider", "limits", "capabilities", "model_spec", "params"):
        if isinstance(entry.get(nested), Mapping):
            yield entry[nested]


def _beside(chat: OpenAIChat, path: str) -> str:
    """An address of the same server outside the API's own path."""
    return urlunsplit((*chat.provider.address[:2], path, "", ""))


async def _get(chat: OpenAIChat, path: str, *, post: Mapping[str, Any] | None = None) -> Any:
    """The JSON at an address, or an empty mapping when it cannot be had for whatever reason."""
    client = await chat.line.client()
    failures: tuple[type[Exception], ...] = (*chat.line.refusals, *chat.line.broken, ValueError)
    try:
        if post is not None:
            return await client.post(path, body=dict(post), cast_to=object, options={"timeout": 10.0})
        return await client.get(path, cast_to=object, options={"timeout": 10.0})
    except failures as error:
        log.info("model %s: %s tells nothing (%s)", chat.name, path, type(error).__name__)
        return {}
