"""The door to language models: any OpenAI-compatible provider as a `ChatModel`."""

from core.llm.chat import OpenAIChat
from core.llm.context import ask_context
from core.llm.ledger import request_key
from core.llm.line import Line
from core.llm.probe import Capabilities, describe, probe
from core.llm.provider import DEFAULT_CONTEXT, Provider, Retries, Timeouts

__all__ = [
    "DEFAULT_CONTEXT",
    "Capabilities",
    "Line",
    "OpenAIChat",
    "Provider",
    "Retries",
    "Timeouts",
    "ask_context",
    "describe",
    "probe",
    "request_key",
]
