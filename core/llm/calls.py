"""Tool calls that models write into their text, in the dozen spellings they were taught; nothing is evaluated. Pure."""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from core.llm.arguments import ATTEMPTS, parse_at
from core.model.chat import ToolCall

_TAGGED = re.compile(
    r"<(?P<tag>tool_call|function_call|toolcall)>(?P<body>.*?)(?:</(?P=tag)>|\Z)"
    r"|<function=(?P<name>[\w.-]+)>(?P<given>.*?)(?:</function>|\Z)"
    r"|(?:\[TOOL_CALLS\]|<\|python_tag\|>)\s*(?P<list>.*?)(?:</s>|<\|eo[tm]_id\|>|\Z)",
    re.S,
)
_FUNCTION = re.compile(r"\s*<function=([\w.-]+)>(.*?)(?:</function>\s*|\Z)", re.S)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\s*(.*?)\s*</parameter>", re.S)
_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[ARGS\]|\[CALL_ID\][^\[{]*\[ARGS\])?\s*(\{.*)", re.S)
_BEGIN = r"(?:^|(?<=</think>)|(?<=</thinking>))"
"""Where a call may begin: a line, or where a thought ends."""
_OBJECT_LINE = re.compile(rf"{_BEGIN}[ \t]*(?:```[\w-]*[ \t]*\n[ \t]*)?(?=[{{\[]\s*[{{\"'“])", re.M)
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
    found = [(match.start(), match.end(), marked) for match in _TAGGED.finditer(content) if (marked := _tagged(match))]
    taken = [(begin, end) for begin, end, _ in found]
    untagged = [*_object_calls(content, offered), *_python_calls(content, offered)]
    found += [item for item in untagged if not any(item[0] < end and begin < item[1] for begin, end in taken)]
    rest: list[str] = []
    calls: list[Call] = []
    last = 0
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
    """The JSON value that `text` begins with; None when it begins with something else."""
    text = text.lstrip()
    parsed = parse_at(text, 0) if text.startswith(("{", "[")) else None
    return None if parsed is None else parsed[0]


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
    for _ in range(ATTEMPTS):
        match = _OBJECT_LINE.search(content, at)
        if match is None:
            return
        at = max(match.end(), match.start() + 1)
        parsed = parse_at(content, match.end())
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


def _python_calls(content: str, offered: Collection[str]) -> Iterator[tuple[int, int, list[Call]]]:
    if not offered:
        return
    names = "|".join(re.escape(name) for name in sorted(offered))
    fenced = rf"{_BEGIN}[ \t]*(?P<open>```[\w-]*[ \t]*\n[ \t]*)?(?P<call>(?:{names})\([^\n]*\))[ \t]*;?(?(open)\s*```[ \t]*|)$"
    for match in re.finditer(fenced, content, re.M):
        if calls := _python_call(match["call"]):
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


_MARKS = ("<tool_call>", "<function_call>", "<toolcall>", "<function=", "[TOOL_CALLS]", "<|python_tag|>")
_KEYS = ("name", "tool", "function", "tool_calls", "id", "type", "arguments", "parameters", "args", "input")
_CANDIDATE = re.compile(rf"{_BEGIN}[ \t]*|[<\[]", re.M)
_FENCED = re.compile(r"```[\w-]*[ \t]*(?:\n[ \t]*|\Z)")
_FIRST_KEY = re.compile(r"(?:\[\s*)?(?:\{\s*(?:[\"'“](\w*))?)?")
_LONGEST_CALL = 4_000
"""Characters after which an object that does not end is no call: the reader waits for nothing."""


def hold_from(text: str, offered: Collection[str], begin: int = 0) -> int:
    """From where on `text`, still arriving, may turn out to be a tool call and must not be shown yet.

    `begin` is what the last look gave back (all before it was released); so a whole stream costs linear time.
    Gives `len(text)` when everything may be shown. At the end of the stream `find_calls` decides.
    """
    for match in _CANDIDATE.finditer(text, begin):
        at = match.start()
        if match.group() in ("<", "["):
            if any(mark.startswith(text[at : at + len(mark)]) for mark in _MARKS):
                return at
        elif _may_be_call(text[match.end() :], offered):
            return at
    return len(text)


def _may_be_call(line: str, offered: Collection[str]) -> bool:
    """Whether a text that begins a line can still become one of the untagged calls."""
    if "```".startswith(line):
        return True
    if fence := _FENCED.match(line):
        line = line[fence.end() :]
        if not line:
            return True
    if line[0] in "{[":
        return _may_be_object(line, offered)
    whole, _, more = line.partition("\n")
    for name in offered:
        if name.startswith(line) or (whole.startswith(f"{name}(") and (not more or bool(_python_call(whole.strip())))):
            return True
    return False


def _may_be_object(text: str, offered: Collection[str]) -> bool:
    begun = _FIRST_KEY.match(text)
    if begun is None or len(text) > _LONGEST_CALL:
        return False
    key = begun.group(1)
    if begun.end() == len(text):
        return key is None or any(known.startswith(key) for known in _KEYS)
    if key not in _KEYS:
        return False
    parsed = parse_at(text, 0)
    if parsed is None:
        return True
    calls = list(_calls_in(parsed[0]))
    return bool(calls) and all(name in offered for name, _ in calls)
