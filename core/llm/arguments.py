"""JSON as models write it: tool arguments and the picker's choice, read leniently and never guessed. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.llm.halves import paired

ATTEMPTS = 100
"""Openings of an object looked at in one text; more are noise, and each look costs a scan."""

_FENCE = re.compile(r"\A\s*```[\w-]*[ \t]*\n?(.*?)(?:```\s*)?\Z", re.S)
_LITERALS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "NaN": "null"}
_CLOSERS = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


def is_complete(arguments: str) -> bool:
    """Whether these arguments are a whole JSON object."""
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


def read_arguments(raw: str) -> dict[str, Any]:
    """The arguments a model meant. Valid JSON is taken as it is; only what is not gets repaired.

    Mended: code fences, single and curly quotation marks, Python literals, trailing commas, bare keys, raw line
    breaks, an object sent as a string. Nothing is completed: arguments that were cut off raise ValueError.
    """
    if not raw.strip():
        return {}
    try:
        return _as_object(json.loads(raw))
    except ValueError:
        pass
    text = raw.strip()
    if text.startswith("```") and (fenced := _FENCE.match(text)):
        text = fenced.group(1).strip()
    begin = text.find("{")
    if begin < 0:
        raise ValueError("no object in the arguments")
    return _as_object(json.loads(_normalise(text[begin:])[0], strict=False))


def _as_object(data: Any) -> dict[str, Any]:
    if isinstance(data, str):
        data = json.loads(data) if data.strip() else {}
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ValueError("the arguments are not an object")
    return {key: paired(value) if isinstance(value, str) else value for key, value in data.items()}


def _normalise(text: str) -> tuple[str, int]:
    """The first object of `text` as JSON, and where it ends. Raises ValueError when it does not end."""
    out: list[str] = []
    at, depth = 0, 0
    while at < len(text):
        char = text[at]
        if char in _CLOSERS:
            content, at = _string(text, at)
            out.append(content)
            continue
        if char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if out and out[-1] == ",":
                out.pop()
            if depth == 0:
                return "".join([*out, char]), at + 1
        elif word := _WORD.match(text, at):
            at = word.end()
            bare = word.group()
            key = text[at:].lstrip()[:1] == ":" if depth else False
            out.append(json.dumps(bare) if key else _LITERALS.get(bare, bare))
            continue
        if not char.isspace():
            out.append(char)
        at += 1
    raise ValueError("the object does not end")


def _string(text: str, at: int) -> tuple[str, int]:
    """The string that opens at `at`, as JSON. It closes where a mark is followed by what may follow a string."""
    closer = _CLOSERS[text[at]]
    content: list[str] = []
    at += 1
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            pair = text[at : at + 2]
            content.append(pair if pair[1] in '"\\/bfnrtu' else json.dumps(pair[1])[1:-1])
            at += 2
            continue
        if char == closer:
            after = at + 1
            while after < len(text) and text[after].isspace():
                after += 1
            if after == len(text) or text[after] in ",:}]":
                return f'"{"".join(content)}"', at + 1
        content.append(json.dumps(char, ensure_ascii=False)[1:-1])
        at += 1
    raise ValueError("a string does not end")


def parse_at(content: str, at: int) -> tuple[Any, int] | None:
    """The JSON value that begins at `at`, mended if need be, and where it ends; None when there is none."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(content, at)
    except ValueError:
        pass
    try:
        mended, length = _normalise(content[at:])
        return json.loads(mended, strict=False), at + length
    except ValueError:
        return None


def strip_reasoning(content: str) -> str:
    """The text without what the model thought aloud: everything up to a last closing mark, whole marked stretches."""
    content = re.sub(r"<(think|thinking|reasoning)>.*?</\1>", "", content, flags=re.S | re.I)
    closings = list(re.finditer(r"</(?:think|thinking|reasoning)>", content, re.I))
    if closings:
        content = content[closings[-1].end() :]
    return re.sub(r"<(?:think|thinking|reasoning)>.*\Z", "", content, flags=re.S | re.I).strip()


def read_choice(content: str) -> list[str]:
    """The ids of `{"Thinking": "...", "answer": ["1","3"]}`, wherever in the reply it stands; the last one counts.

    Ids are taken only as whole numbers, in order, each once. An empty list is a choice too.
    Raises ValueError when there is no readable choice.
    """
    content = strip_reasoning(content)
    answers = [answer for data in _objects(content) if (answer := _answer(data)) is not None]
    if answers:
        return answers[-1]
    try:
        bare = json.loads(_unfence(content))
    except ValueError:
        bare = None
    if isinstance(bare, list) and (ids := _ids(bare)) is not None:
        return ids
    raise ValueError("no choice in the reply")


WORDS = 200
"""Characters of `words` that are looked for: a few words were asked for, not a chapter."""


def read_words(content: str) -> str:
    """The `words` of a picker's reply, as one line; empty when it names none. A list of words is one too."""
    found = ""
    for data in _objects(strip_reasoning(content)):
        value = data.get("words") if isinstance(data, Mapping) else None
        if isinstance(value, list):
            value = " ".join(part for part in value if isinstance(part, str))
        if isinstance(value, str):
            found = " ".join(value.split())[:WORDS]
    return found


def _unfence(content: str) -> str:
    fenced = _FENCE.match(content) if content.lstrip().startswith("```") else None
    return fenced.group(1) if fenced else content


def _objects(content: str) -> Iterator[Any]:
    at = 0
    for _ in range(ATTEMPTS):
        at = content.find("{", at)
        if at < 0:
            return
        parsed = parse_at(content, at)
        if parsed is None:
            at += 1
            continue
        yield parsed[0]
        at = parsed[1]


def _answer(data: Any) -> list[str] | None:
    if not isinstance(data, Mapping):
        return None
    for key, value in data.items():
        if str(key).lower() in ("answer", "answers"):
            if isinstance(value, str):
                value = [part for part in re.split(r"[,;\s]+", value.strip("[] ")) if part]
            return _ids(value if isinstance(value, list) else [value])
    return None


def _ids(values: list[Any]) -> list[str] | None:
    ids: list[str] = []
    for value in values:
        text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
        if not re.fullmatch(r"[0-9]+", text):
            return None
        ids.append(text)
    return list(dict.fromkeys(ids))
