"""What models write where a tool call or a choice was meant: read leniently, run strictly. Pure."""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from core.model.chat import ToolCall

_ATTEMPTS = 100
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
    return data


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


# --- calls written as text ---

_TAGGED = re.compile(
    r"<(?P<tag>tool_call|function_call|toolcall)>(?P<body>.*?)(?:</(?P=tag)>|\Z)"
    r"|<function=(?P<name>[\w.-]+)>(?P<given>.*?)(?:</function>|\Z)"
    r"|(?:\[TOOL_CALLS\]|<\|python_tag\|>)\s*(?P<list>.*?)(?:</s>|<\|eo[tm]_id\|>|\Z)",
    re.S,
)
_FUNCTION = re.compile(r"\s*<function=([\w.-]+)>(.*?)(?:</function>\s*|\Z)", re.S)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\s*(.*?)\s*</parameter>", re.S)
_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[ARGS\]|\[CALL_ID\][^\[{]*\[ARGS\])?\s*(\{.*)", re.S)
_OBJECT_LINE = re.compile(r"^[ \t]*(?:```[\w-]*[ \t]*\n[ \t]*)?(?=[{\[]\s*[{\"'“])", re.M)
_FENCE_END = re.compile(r"\s*```[ \t]*(?:\n|\Z)")
_SHAPES = (("name", ("arguments", "parameters", "args", "input")), ("tool", ("arguments", "parameters", "args", "input")), ("function", ("arguments", "parameters", "args")))  # fmt: skip

Call = tuple[str, str]


def find_calls(content: str, offered: Collection[str], *, id_prefix: str = "text_") -> tuple[list[ToolCall], str]:
    """Tool calls that a model wrote into its text, and the text without them.

    What merely looks like a call (an object, a fence, `name(question="…")` on its own line) counts only when its name
    was offered; anything else stays text. A call inside a model's own marks (`<tool_call>`, `[TOOL_CALLS]`, ...) is
    always taken out of the text and given back whatever its name: the loop answers an unknown one with the names
    that were offered, it never runs.
    """
    if "{" not in content and "(" not in content and "<" not in content:
        return [], content
    found: list[tuple[int, int, list[Call]]] = []
    for match in _TAGGED.finditer(content):
        if calls := _tagged(match):
            found.append((match.start(), match.end(), calls))
    taken = [(begin, end) for begin, end, _ in found]
    untagged = [*_object_calls(content, offered), *_python_calls(content, offered)]
    found += [item for item in untagged if not any(item[0] < end and begin < item[1] for begin, end in taken)]
    rest, last, calls = [], 0, []
    for begin, end, some in sorted(found):
        if begin < last:
            continue
        rest.append(content[last:begin])
        last = end
        calls += some
    rest.append(content[last:])
    if not calls:
        return [], content
    shaped = [ToolCall(f"{id_prefix}{number}", name, arguments) for number, (name, arguments) in enumerate(calls)]
    return shaped, "".join(rest).strip()


def _tagged(match: re.Match[str]) -> list[Call]:
    if match["name"]:
        return [_function_call(match["name"], match["given"])]
    body = match["body"] if match["tag"] else match["list"]
    if functions := _FUNCTION.findall(body):
        return [_function_call(name, given) for name, given in functions]
    data = _loose(body)
    if data is not None and (calls := list(_calls_in(data))):
        return calls
    if named := _NAMED.match(body):
        return [(named[1], named[2].strip())]
    return _python_call(body.strip())


def _function_call(name: str, given: str) -> Call:
    if parameters := dict(_PARAMETER.findall(given)):
        return name, json.dumps(parameters, ensure_ascii=False)
    return name, given.strip() or "{}"


def _loose(text: str) -> Any:
    """The JSON value that `text` begins with, mended if need be; None when there is none."""
    text = text.lstrip()
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except ValueError:
        pass
    try:
        return json.loads(_normalise(text)[0], strict=False)
    except ValueError:
        return None


def _calls_in(data: Any) -> Iterator[Call]:
    if isinstance(data, list):
        for item in data:
            yield from _calls_in(item)
        return
    if not isinstance(data, Mapping):
        return
    for nested in ("tool_calls", "function"):
        if isinstance(data.get(nested), list | Mapping):
            yield from _calls_in(data[nested])
            return
    for key, argument_keys in _SHAPES:
        name = data.get(key)
        if not isinstance(name, str):
            continue
        for argument_key in argument_keys:
            given = data.get(argument_key)
            if isinstance(given, Mapping):
                yield name, json.dumps(given, ensure_ascii=False)
                return
            if isinstance(given, str):
                yield name, given
                return
        if set(data) <= {key, "id", "type"}:
            yield name, "{}"
        return


def _object_calls(content: str, offered: Collection[str]) -> Iterator[tuple[int, int, list[Call]]]:
    """Objects and lists that begin a line, fenced or bare."""
    at = 0
    for _ in range(_ATTEMPTS):
        match = _OBJECT_LINE.search(content, at)
        if match is None:
            return
        at = max(match.end(), match.start() + 1)
        parsed = _parse_at(content, match.end())
        if parsed is None:
            continue
        data, end = parsed
        calls = list(_calls_in(data))
        if not calls or any(name not in offered for name, _ in calls):
            continue
        if "```" in match.group() and (fence := _FENCE_END.match(content, end)):
            end = fence.end()
        yield match.start(), end, calls
        at = end


def _parse_at(content: str, at: int) -> tuple[Any, int] | None:
    try:
        return json.JSONDecoder(strict=False).raw_decode(content, at)
    except ValueError:
        pass
    try:
        mended, length = _normalise(content[at:])
        return json.loads(mended, strict=False), at + length
    except ValueError:
        return None


def _python_calls(content: str, offered: Collection[str]) -> Iterator[tuple[int, int, list[Call]]]:
    if not offered:
        return
    names = "|".join(re.escape(name) for name in sorted(offered))
    for match in re.finditer(rf"^[ \t]*(?:{names})\([^\n]*\)[ \t]*;?$", content, re.M):
        if calls := _python_call(match.group().strip().rstrip(";")):
            yield match.start(), match.end(), calls


def _python_call(text: str) -> list[Call]:
    """`name(question="…")` with plain keyword values; nothing is ever evaluated."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        return []
    given: dict[str, Any] = {}
    for keyword in tree.keywords:
        if keyword.arg is None or not isinstance(keyword.value, ast.Constant):
            return []
        given[keyword.arg] = keyword.value.value
    try:
        return [(tree.func.id, json.dumps(given, ensure_ascii=False))]
    except TypeError:
        return []


# --- the picker's choice ---


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


def _unfence(content: str) -> str:
    fenced = _FENCE.match(content) if content.lstrip().startswith("```") else None
    return fenced.group(1) if fenced else content


def _objects(content: str) -> Iterator[Any]:
    at = 0
    for _ in range(_ATTEMPTS):
        at = content.find("{", at)
        if at < 0:
            return
        parsed = _parse_at(content, at)
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
