"""The offline reader: a ChatModel that writes nothing and quotes what the tools delivered, in any script.

It sees exactly what a language model would see (the same messages, the same tagged text) and answers from that alone.
"""

import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from core import document, tags, words
from core.model import (
    Called,
    ChatEvent,
    ChatRequest,
    Finished,
    Message,
    Paragraph,
    Said,
    Span,
    Text,
    ToolCall,
    Usage,
)
from core.prompts import tools
from core.sentences import sentences

MAX_SENTENCES = 5
MAX_CHARACTERS = 700
NEIGHBOUR = 0.7
"""What a word of the question counts when it stands in the sentence before or after instead of the sentence itself."""
GOOD_ENOUGH = 0.5
"""A sentence is quoted when its score reaches this share of the best one's."""
COVERED = 0.4
"""The best sentence with its neighbours must have this share of the question's words, by weight; else nothing matches."""
_LENGTH = 60
"""Characters below which a sentence tells too little to stand alone as a quotation."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    order: int
    span: Span
    text: str
    stems: frozenset[str]


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
        pieces = _delivered(request.messages)
        quoted = openings(pieces) if _last_call(request.messages) == tools.FULL.name else quote(question, pieces)
        tried = {call.name for message in request.messages for call in message.tool_calls}
        if not quoted and request.tools and tools.RELATED.name not in tried:
            arguments = json.dumps({"question": question}, ensure_ascii=False)
            yield Called(ToolCall("offline-1", tools.RELATED.name, arguments))
            yield Finished("tool_calls", nothing)
            return
        for span, text in quoted:
            yield Said(f"> {_literal(text)} {tags.tag(span)}\n\n")
        yield Finished("stop", nothing)


def openings(pieces: Sequence[tuple[Span, str]]) -> list[tuple[Span, str]]:
    """For an overview: the first whole sentence of passages spread over what was delivered, in reading order."""
    firsts = [(span, text[start:end]) for span, text in pieces for start, end in sentences(text)[:1]]
    short = [(span, text) for span, text in firsts if len(text) <= 2 * MAX_CHARACTERS // MAX_SENTENCES]
    most = min(MAX_SENTENCES, len(short))
    chosen: list[tuple[Span, str]] = []
    left = MAX_CHARACTERS
    for span, text in (short[number * len(short) // most] for number in range(most)):
        if len(text) <= left:
            chosen.append((span, text))
            left -= len(text)
    return chosen


def quote(question: str, pieces: Sequence[tuple[Span, str]]) -> list[tuple[Span, str]]:
    """The sentences that say most about the question, in reading order, each with the run it stands in."""
    scored = _telling(question, pieces)
    best = scored[0][0] if scored else 0.0
    chosen: list[_Sentence] = []
    left = MAX_CHARACTERS
    for score, _, sentence in scored:
        if score < best * GOOD_ENOUGH or len(chosen) == MAX_SENTENCES:
            break
        if len(sentence.text) <= left:
            chosen.append(sentence)
            left -= len(sentence.text)
    return [(sentence.span, sentence.text) for sentence in sorted(chosen, key=lambda one: one.order)]


def closest(question: str, pieces: Sequence[tuple[Span, str]]) -> tuple[Span, str] | None:
    """The one sentence that says most about the question, with its run; None when none says enough of it by itself.

    Enough is what a quotation needs together with its neighbours: shown alone, a sentence has none.
    """
    if not _stems(question, words.guess_language(question)):
        return None  # nothing but stop words: every sentence has some of those
    for _, enough, sentence in _telling(question, pieces):
        if enough and len(sentence.text) <= MAX_CHARACTERS:
            return sentence.span, sentence.text
    return None


def _telling(question: str, pieces: Sequence[tuple[Span, str]]) -> list[tuple[float, bool, _Sentence]]:
    """Sentences that share words with the question, best first: (score, whether it says enough by itself, sentence).

    None unless the best one says enough together with its neighbours.
    """
    language = words.guess_language(question)
    asked = frozenset(_stems(question, language, clear=True) or _stems(question, language) or words.words(question))
    found = _sentences(pieces)
    if not asked or not found:
        return []
    having = Counter(stem for sentence in found for stem in sentence.stems & asked)
    weight = {stem: math.log(1 + len(found) / (1 + having[stem])) for stem in asked}
    near = [_beside(found, at) for at in range(len(found))]
    own = [sum(weight[stem] for stem in sentence.stems & asked) for sentence in found]
    around = [sum(weight[stem] for stem in (near[at] & asked) - found[at].stems) for at in range(len(found))]
    needed = COVERED / 2 if any(words.is_cjk(stem[0]) for stem in asked) else COVERED  # half its pairs part two words
    needed *= sum(weight.values())
    if max(map(sum, zip(own, around, strict=True))) < needed:
        return []
    scores = [
        (mine + NEIGHBOUR * beside) * min(1.0, 0.5 + len(sentence.text) / (2 * _LENGTH)) if mine else 0.0
        for mine, beside, sentence in zip(own, around, found, strict=True)
    ]
    order = sorted(range(len(found)), key=lambda at: (-scores[at], at))
    return [(scores[at], own[at] >= needed, found[at]) for at in order if scores[at]]


def _question(messages: Sequence[Message]) -> str:
    return next((message.content for message in reversed(messages) if message.role == "user"), "")


def _last_call(messages: Sequence[Message]) -> str:
    """The tool that was run last before this request."""
    return next((call.name for message in reversed(messages) for call in message.tool_calls), "")


def _delivered(messages: Sequence[Message]) -> list[tuple[Span, str]]:
    """Every tagged run of this turn: tool results after the last question, or text given with the question."""
    since = max((at for at, message in enumerate(messages) if message.role == "user"), default=0)
    found: dict[Span, str] = {}
    for message in messages[since:]:
        if message.role in ("tool", "user"):
            found.update(tags.read_tagged(message.content))
    return sorted(found.items())


def _sentences(pieces: Sequence[tuple[Span, str]]) -> list[_Sentence]:
    language = words.guess_language(" ".join(text for _, text in pieces[:20]))
    found: list[_Sentence] = []
    for span, text in pieces:
        for start, end in sentences(text):
            stems = frozenset(_stems(text[start:end], language)) | frozenset(words.words(text[start:end]))
            found.append(_Sentence(len(found), span, text[start:end], stems))
    return found


def _beside(found: Sequence[_Sentence], at: int) -> frozenset[str]:
    """The words of the sentences before and after, where they stand close by in the same file."""
    stems: frozenset[str] = frozenset()
    for other in (at - 1, at + 1):
        if 0 <= other < len(found):
            mine, theirs = found[at].span, found[other].span
            close = max(mine.start, theirs.start) - min(mine.end, theirs.end)
            if mine.file == theirs.file and close < 3:
                stems |= found[other].stems
    return stems


def _stems(text: str, language: str, *, clear: bool = False) -> list[str]:
    """Comparable word beginnings: five letters forgive most endings; unspaced scripts come as pairs already."""
    return [term if words.is_cjk(term[0]) else term[:5] for term in words.terms(text, language, clear=clear)]


def _pick(messages: Sequence[Message]) -> str:
    """Choose at most five catalogue entries that share most words with the question."""
    catalogue, _, question = messages[-1].content.rpartition("\n\nQuestion: ")
    asked = set(_stems(question, words.guess_language(question)))
    language = words.guess_language(catalogue[:4_000])
    scored = []
    for line in catalogue.splitlines():
        if not line.startswith('{"id"'):
            continue
        entry = json.loads(line)
        common = asked & set(_stems(f"{entry['title']} {entry['summary']}", language))
        if common:
            scored.append((-len(common), str(entry["id"])))
    return json.dumps({"Thinking": "", "answer": [number for _, number in sorted(scored)[:5]]})


def _literal(text: str) -> str:
    """A sentence as Markdown that reads as itself; line breaks become spaces, look-alikes of tags stay what they are."""
    return document.markdown((Paragraph((Text(tags.defuse(" ".join(text.split()))),)),))
