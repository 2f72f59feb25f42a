"""Failures of a provider: each its own sentence, waits that are honoured, logs without secrets."""

import logging
from datetime import UTC, datetime

import pytest

from core.errors import LoccitError, OperatorError, UpstreamError
from core.llm import OpenAIChat, Provider, Retries, Timeouts
from core.llm.failures import classify, read_retry_after, redact
from core.strings import LOCALES, say
from tests.core.llm_calls import Naps, connect, fail_once, hear, hear_once
from tests.fakes.openai import FakeOpenAI, Fault, JsonObject, Reply, Step, Timing

SIX = [
    (Fault(503, "overloaded"), "model_down", UpstreamError),
    (Fault(0), "model_down", UpstreamError),
    (Fault(502, body=b"<html>Bad gateway</html>"), "model_down", UpstreamError),
    (Fault(401, "Incorrect API key", "invalid_api_key"), "model_key_refused", OperatorError),
    (Fault(403, "Forbidden"), "model_key_refused", OperatorError),
    (Fault(400, "API key not valid. Please pass a valid API key."), "model_key_refused", OperatorError),
    (Fault(429, "You exceeded your current quota", "insufficient_quota"), "model_quota", OperatorError),
    (Fault(402, "Insufficient credits"), "model_quota", OperatorError),
    (Fault(404, "The model `x` does not exist", "model_not_found"), "model_unknown", OperatorError),
    (Fault(400, "x is not a valid model ID"), "model_unknown", OperatorError),
    (Fault(404, body=b"404 page not found"), "model_unknown", OperatorError),
    (Fault(429, "Rate limit reached for requests"), "model_rate_limited", UpstreamError),
    (Fault(504, "upstream request timeout"), "model_timeout", UpstreamError),
    (Fault(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded"), "model_context_exceeded", OperatorError),
    (Fault(400, "the request exceeds the available context size", "exceed_context_size_error"), "model_context_exceeded", OperatorError),
    (Fault(400, "The response was filtered due to the prompt triggering content management policy", "content_filter"), "model_filtered", UpstreamError),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "key", "kind"), SIX)
async def test_each_failure_has_its_own_key_and_a_sentence_without_internals(
    fault: Fault, key: str, kind: type[LoccitError]
) -> None:
    error = await fail_once([fault] * (4 if key in ("model_down", "model_rate_limited") else 1))
    assert (error.key, type(error)) == (key, kind)
    for locale in LOCALES:
        sentence = say(error.key, locale, **error.params)
        assert sentence.endswith(".")
        assert fault.message not in sentence


def test_the_six_sentences_differ_in_every_language() -> None:
    keys = {key for _, key, _ in SIX} | {"model_refused", "model_address"}
    for locale in LOCALES:
        assert len({say(key, locale, model="m", address="a") for key in keys}) == len(keys)


async def test_a_server_that_is_not_there_and_an_address_that_is_none() -> None:
    async with FakeOpenAI([]) as fake:
        url = fake.url
    chat = OpenAIChat(Provider(url, "m"), sleep=Naps(), jitter=lambda: 0.0)
    with pytest.raises(LoccitError) as caught:
        await hear(chat)
    assert caught.value.key == "model_down"
    await chat.close()
    for address in ("localhost:1234", ""):
        with pytest.raises(OperatorError, match="model_address"):
            Provider(address, "m")


async def test_a_page_in_place_of_an_api_points_at_the_address() -> None:
    assert (await fail_once([Fault(200, body=b"<html>Welcome</html>")])).key == "model_unknown"


async def test_an_error_inside_the_stream_is_an_error_and_after_words_a_cut() -> None:
    error: JsonObject = {"error": {"code": 429, "message": "Rate limit reached"}}
    assert (await fail_once([Reply(chunks=[error])] * 4)).key == "model_rate_limited"
    words: JsonObject = {"choices": [{"delta": {"content": "Green ink"}}]}
    said, _, finished = await hear_once([Reply(chunks=[words, error])])
    assert (said, finished.reason) == ("Green ink", "")


async def test_a_stream_with_nothing_in_it_is_tried_again() -> None:
    assert (await hear_once([Reply(chunks=[]), Reply("Ink.", disconnect_after=0), Reply("Ink.")]))[0] == "Ink."


async def test_retry_after_is_honoured_and_other_waits_grow() -> None:
    naps = Naps()
    faults: list[Step] = [Fault(429, retry_after=3), Fault(503), Fault(503), Reply("Ink.")]
    async with FakeOpenAI(faults) as fake:
        chat = connect(fake, naps=naps)
        assert (await hear(chat))[0] == "Ink."
        await chat.close()
    assert naps.taken == [3.0, 0.5, 1.0]


async def test_a_wait_too_long_for_a_reader_is_not_waited_but_told() -> None:
    error = await fail_once([Fault(429, retry_after=3_600)])
    assert isinstance(error, UpstreamError)
    assert error.retry_after == 3_600
    error = await fail_once([Fault(503)] * 2, retries=Retries(attempts=2))
    assert error.key == "model_down"


def test_retry_after_is_read_as_seconds_as_milliseconds_and_as_a_date() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert read_retry_after({"retry-after": "2.5"}, now) == 2.5
    assert read_retry_after({"retry-after-ms": "250", "retry-after": "9"}, now) == 0.25
    assert read_retry_after({"retry-after": "Thu, 01 Jan 2026 00:00:07 GMT"}, now) == 7
    assert read_retry_after({"retry-after": "Thu, 01 Jan 2026 00:00:07"}, now) is None
    assert read_retry_after({"retry-after": "soon"}, now) is None
    assert read_retry_after({}, now) is None


async def test_a_first_word_that_does_not_come_is_a_timeout_and_is_asked_once() -> None:
    error = await fail_once([Reply("Ink.", stall_after=0)], timeouts=Timeouts(first_token=0.2))
    assert error.key == "model_timeout"
    error = await fail_once([Reply("Ink.", timing=Timing(first=5))], timeouts=Timeouts(total=0.2))
    assert error.key == "model_timeout"


async def test_the_providers_words_reach_the_log_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await fail_once([Fault(401, "Incorrect API key provided: sk-secret-of-ours")])
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("core"))
    assert "Incorrect API key" in ours
    assert "secret-of-ours" not in caplog.text


def test_redaction_takes_keys_credentials_and_long_quotations() -> None:
    dirty = "Bearer abcdefghijk; key=abc123456; sk-proj-abcdef; http://me:pass@host/; 'Mara kept the lighthouse log in green ink, and nobody in Carrow spoke of it'"
    clean = redact(dirty)
    for secret in ("abcdefghijk", "abc123456", "sk-proj", "pass", "lighthouse"):
        assert secret not in clean
    assert len(redact("word " * 1_000)) <= 300
    assert redact("the credential hunter22 is wrong", "hunter22") == "the credential *** is wrong"


def test_every_status_has_a_key_with_a_sentence() -> None:
    for status in range(400, 600):
        error = classify(status, "", model="m")
        assert say(error.key, "en", **error.params)
