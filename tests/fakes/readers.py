"""Ready-made behaviours for `FakeOpenAI`: models that read what they were given, honestly or not."""

import json
import random
import re
from collections.abc import Sequence

from tests.fakes.openai import JsonObject, Reply

TAG = re.compile(r"\[f\d+-\d+-\d+\]")
_SENTENCE = re.compile(r"([^\n\[\]]*?)\s*(\[f\d+-\d+-\d+\])")


def given_text(request: JsonObject) -> str:
    """What this turn gave the model to read: everything after the last word of the assistant's, tool results included."""
    messages = request["messages"]
    last = max((n for n, m in enumerate(messages) if m["role"] == "assistant" and not m.get("tool_calls")), default=-1)
    return "\n".join(str(m.get("content") or "") for m in messages[last + 1 :] if m["role"] in ("tool", "user"))


def delivered(request: JsonObject) -> list[tuple[str, str]]:
    """(text, tag) of every run the model was given in this turn, each tag once, in order."""
    runs = {tag: text.strip() for text, tag in _SENTENCE.findall(given_text(request))}
    return [(text, tag) for tag, text in runs.items()]


def is_pick(request: JsonObject) -> bool:
    """Whether the request is the picker's: its system text fixes the shape of the reply."""
    return '"Thinking"' in str(request["messages"][0].get("content"))


def is_summary(request: JsonObject) -> bool:
    """Whether the request is for the summary of a segment."""
    return str(request["messages"][0].get("content")).startswith("Summarise")


def pick(request: JsonObject, wanted: int = 2) -> Reply:
    """Choose the first ids that stand in the catalogue."""
    ids = re.findall(r'"id":\s*"?(\d+)"?', given_text(request))
    return Reply(json.dumps({"Thinking": "the first ones", "answer": list(dict.fromkeys(ids))[:wanted]}))


def summarise(request: JsonObject) -> Reply:
    """The first two runs, tags kept."""
    runs = delivered(request)[:2]
    return Reply(" ".join(f"{text} {tag}" for text, tag in runs) or "Nothing happens here.")


class Honest:
    """Answers with the first runs it was given, word for word, each with its own tag; says so when there are none."""

    def __init__(self, notes: int = 2, cut: int | None = None) -> None:
        self.notes, self.cut = notes, cut

    def __call__(self, request: JsonObject) -> Reply:
        if is_pick(request):
            return pick(request)
        if is_summary(request):
            return summarise(request)
        runs = delivered(request)[: self.notes]
        if not runs:
            return Reply("The book does not say.", cut=self.cut)
        return Reply(" ".join(f"“{text}” {tag}." for text, tag in runs), cut=self.cut)


def forgeries(tag: str, rng: random.Random) -> Sequence[str]:
    """One forged or damaged sibling of a true tag of each kind that was seen in the wild."""
    file, start, end = (int(number) for number in re.findall(r"\d+", tag))
    far = rng.randint(1, 9)
    return (
        f"[f{file}-{start}-{end + far}]",
        f"[f{file}-{start + far}-{end}]",
        f"[f{file + 90}-{start}-{end}]",
        f"[f{file}-{end}-{start}]",
        f"[f{file}-{start}]",
        f"[{file}-{start}-{end + far}]",
        f"[f{file}-{start}-{end}-{far}]",
        f"[f{file}-{start}-",
        f"[f_{file}-{start}-{end + far}]",
        f"[f{file}-{start}-{end + far}, f{file}-{start + far}-{end}]",
        f"[F {file} – {start} – {end + far}]",
        f"[ｆ{file}-{start}-{end + far}]",
        f"[f{file}-{start}-{end + far}? perhaps]",
        f"[f999-0-{far}]",
        f"[f{file}-{start}0-{end}0]",
    )


class Adversary:
    """Answers with true runs and true tags, and between them forged tags and invented quotations."""

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)

    def __call__(self, request: JsonObject) -> Reply:
        if is_pick(request):
            return Reply('{"Thinking":"{a}","answer":["999","x"]}', cut=0)
        if is_summary(request):
            return Reply("Invented [f999-1-2]. " + str(summarise(request).text), cut=0)
        runs = delivered(request) or [("Green ink", "[f1-0-42]")]
        parts = []
        for _ in range(self.random.randint(2, 5)):
            text, tag = self.random.choice(runs)
            words = text.split()
            self.random.shuffle(words)
            forged = self.random.choice(forgeries(tag, self.random))
            parts += [f"“{text}” {tag}.", f"So it is {forged}.", f"“{' '.join(words)} forsooth” {tag}."]
        return Reply(" ".join(parts), cut=0)
