"""From a provider's refusal to one of our errors. The provider's own words go to the log only, with secrets taken out."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from core.errors import LoccitError, OperatorError, UpstreamError

RETRIED = frozenset({"model_down", "model_rate_limited", "model_timeout"})
"""Keys of failures that may pass when the same request is sent again."""

_QUOTA = re.compile(r"insufficient.{0,3}(?:quota|balance|funds|credit)|exceeded your current quota|billing|credit balance|out of credits|payment required|arrears", re.I)  # fmt: skip
_CONTEXT = re.compile(r"context.?(?:length|window|size)|maximum context|max_model_len|too many tokens|(?:prompt|input|request) (?:is )?too (?:long|large)|exceed\w* .{0,40}(?:context|token)|reduce the length|n_ctx|tokens? .{0,20}limit", re.I)  # fmt: skip
_FILTER = re.compile(r"content.?filter|content.?policy|moderation|flagged|data.?inspection|safety|sensitive content|prohibited", re.I)  # fmt: skip
_UNKNOWN = re.compile(r"model_not_found|(?:no such|unknown|invalid).model|not a valid model|model.{0,80}(?:not.?found|(?:does ?n.t|does not) exist|not exist|no longer|decommissioned|not available)", re.I | re.S)  # fmt: skip
_KEY = re.compile(r"api.?key", re.I)
_SECRET = re.compile(r"(?i)(bearer\s+|(?:api[-_ ]?)?key[\"']?\s*[:=]\s*[\"']?|token[\"']?\s*[:=]\s*[\"']?)[^\s\"',}]{6,}|\b(?:sk|pk|gsk|xai|rk)[-_][\w-]{6,}|[A-Za-z0-9_\-]{32,}|://[^/\s@]+@")  # fmt: skip
_QUOTED = re.compile(r"([\"'“‘«]).{60,}?[\"'”’»]", re.S)


def error_words(body: bytes | Any) -> str:
    """Code, type and message of an error body in one string; the start of the text when it has no such shape."""
    data: Any = body
    if isinstance(body, bytes):
        try:
            data = json.loads(body)
        except ValueError:
            return body[:2_000].decode("utf-8", "replace")
    if isinstance(data, list) and data:  # Google wraps its errors into a list
        data = data[0]
    error = data.get("error", data) if isinstance(data, Mapping) else data
    if not isinstance(error, Mapping):
        return str(error)[:2_000]
    facts = [error.get(name) for name in ("code", "type", "status", "message", "detail", "msg", "param")]
    metadata = error.get("metadata")
    if isinstance(metadata, Mapping):  # OpenRouter passes on what the provider behind it said
        facts.append(metadata.get("raw"))
    return " ".join(str(fact) for fact in facts if fact)[:2_000]


def redact(words: str, api_key: str = "") -> str:
    """A provider's words fit for the log: no secrets, no long quotations (they echo questions and book text), short."""
    if len(api_key) >= 4:
        words = words.replace(api_key, "***")
    words = _QUOTED.sub(r"\1***", _SECRET.sub("***", words))
    return " ".join(words.split())[:300]


def read_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait as `retry-after-ms` or `Retry-After` (seconds or a date) say; None when they say nothing."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1_000)
    except ValueError:
        pass
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(value)
        return max(0.0, (date - now).total_seconds())
    except (ValueError, TypeError):
        return None


def classify(status: int, words: str, *, model: str, retry_after: float | None = None) -> LoccitError:
    """The error of ours for an HTTP status and the words of its body (see `error_words`).

    Keys: model_down, model_key_refused, model_quota, model_unknown, model_rate_limited, model_timeout,
    model_filtered, model_context_exceeded, model_refused.
    """
    if status == 402 or (status in (400, 403, 429) and _QUOTA.search(words)):
        return OperatorError("model_quota")
    if status == 403 and _FILTER.search(words):
        return UpstreamError("model_filtered")
    if status in (401, 403) or (status == 400 and _KEY.search(words)):
        return OperatorError("model_key_refused")
    if status == 429:
        return UpstreamError("model_rate_limited", retry_after=retry_after)
    if status in (408, 504, 524):
        return UpstreamError("model_timeout", retry_after=retry_after)
    if status in (400, 413, 422) and _CONTEXT.search(words) and "max_completion_tokens" not in words:
        return OperatorError("model_context_exceeded")
    if status in (400, 422) and _FILTER.search(words):
        return UpstreamError("model_filtered")
    if status in (404, 405, 410) or (status in (400, 422) and _UNKNOWN.search(words)):
        return OperatorError("model_unknown", model=model)
    if 400 <= status < 500 and status not in (409, 425):
        return OperatorError("model_refused")
    # llama.cpp and its kin answer 500 where the window is too small
    if status == 500 and re.search(r"exceed_context|context.?(?:length|window|size)", words, re.I):
        return OperatorError("model_context_exceeded")
    return UpstreamError("model_down", retry_after=retry_after)
