"""The offline reader: a ChatModel that writes nothing and quotes what the tools delivered, in any script.

It sees exactly what a language model would see (the same messages, the same tagged text) and answers from that alone.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from core import document, tags, words
from core.model import Called, ChatEvent, ChatRequest, Finished, Message, Paragraph, Said, Span, Text, ToolCall, Usage
from core.sentences import sentences

MAX_SENTENCES = 5
MAX_CHARACTERS = 700
GOOD_ENOUGH = 0.55
"""A sentence is quoted when its score reaches this share of the best one's."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    order: int
    span: Span
    text: str
    score: float


class OfflineReader:
    """Answers by quoting at most five whole sentences, 700 characters in all, in reading order, each with its tag."""

    name = "offline"

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        nothing = Usage()
        if request.purpose == "pick":
            yield Said(_pick(request.messages))
            yield Finished("stop", nothing)
            return
        question = _question(request.messages)
        quoted = _quote(question, _delivered(request.messages))
        tried = {call.name for message in request.messages for call in message.tool_calls}
        if not quoted and request.tools and "get_related_segment_summaries" not in tried:
            arguments = json.dumps({"question": question}, ensure_ascii=False)
            yield Called(ToolCall("offline-1", "get_related_segment_summaries", arguments))
            yield Finished("tool_calls", nothing)
            return
        for sentence in quoted:
            yield Said(sentence)
        yield Finished("stop", nothing)


def _question(messages: Sequence[Message]) -> str:
    return next((message.content for message in reversed(messages) if message.role == "user"), "")


def _delivered(messages: Sequence[Message]) -> list[tuple[Span, str]]:
    """Every tagged run of this turn: tool results after the last question, or text given with the question."""
    since = max((at for at, message in enumerate(messages) if message.role == "user"), default=0)
    found: dict[Span, str] = {}
    for message in messages[since:]:
        if message.role in ("tool", "user"):
            found.update(tags.read_tagged(message.content))
    return sorted(found.items())


def _stems(text: str) -> list[str]:
    """Comparable word beginnings: five letters forgive most endings; CJK terms come as bigrams already."""
    return [term if words.is_cjk(term[0]) else term[:5] for term in words.terms(text, words.guess_language(text))]


def _quote(question: str, pieces: Sequence[tuple[Span, str]]) -> list[str]:
    asked = set(_stems(question))
    if not asked:
        return []
    candidates = []
    for span, text in pieces:
        for start, end in sentences(text):
            candidates.append((span, text[start:end], set(_stems(text[start:end]))))
    seen = Counter(stem for _, _, stems in candidates for stem in stems & asked)
    if not seen:
        return []
    rarity = {stem: 1 / (1 + count) ** 0.5 for stem, count in seen.items()}
    scored = [
        _Candidate(order, span, text, sum(rarity[stem] for stem in stems & asked) / (12 + len(stems)) ** 0.25)
        for order, (span, text, stems) in enumerate(candidates)
    ]
    best = max(candidate.score for candidate in scored)
    chosen: list[_Candidate] = []
    left = MAX_CHARACTERS
    for candidate in sorted(scored, key=lambda one: (-one.score, one.order)):
        if candidate.score < best * GOOD_ENOUGH or len(chosen) == MAX_SENTENCES:
            break
        if len(candidate.text) <= left:
            chosen.append(candidate)
            left -= len(candidate.text)
    chosen.sort(key=lambda one: one.order)
    return [f"> {_literal(one.text)} {tags.tag(one.span)}\n\n" for one in chosen]


def _pick(messages: Sequence[Message]) -> str:
    """Choose at most five catalogue entries that share most words with the question."""
    catalogue, _, question = messages[-1].content.rpartition("\n\nQuestion: ")
    asked = set(_stems(question))
    scored = []
    for line in catalogue.splitlines():
        if not line.startswith('{"id"'):
            continue
        entry = json.loads(line)
        common = asked & set(_stems(f"{entry['title']} {entry['summary']}"))
        if common:
            scored.append((-len(common), str(entry["id"])))
    return json.dumps({"Thinking": "", "answer": [number for _, number in sorted(scored)[:5]]})


def _literal(text: str) -> str:
    """A sentence as Markdown that reads as itself; its line breaks become spaces inside the quote."""
    return document.markdown((Paragraph((Text(" ".join(text.split())),)),))
