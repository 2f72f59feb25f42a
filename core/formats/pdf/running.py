"""Running heads and feet, and page numbers: found over the whole book, so that they never stand inside a paragraph."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from core.formats.pdf.lines import Line, Page

ZONE = 0.1
"""Share of the page height at the top and at the bottom where a running head can stand."""
REPEATED = 0.2
"""Share of the pages a line has to stand on, digits masked, to be a running head."""

_DIGITS = re.compile(r"\d+|^[ivxlc]+(?=\s)|(?<=\s)[ivxlc]+$")
_NUMBER = re.compile(
    r"\W*(?:(?:p|pp|pg|page|página|pagina|seite|стр)\b\W*)?(?P<number>\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:/|\||of|de|von|sur|из)\s*\d{1,4})?\W*",
    re.IGNORECASE,
)
_LEADING = re.compile(r"(\d{1,4})(?=\s|$)")
_TRAILING = re.compile(r"(?:(?<=\s)|^)(\d{1,4})$")
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)


def drop_running(pages: Sequence[Page], body: float) -> tuple[list[set[int]], dict[int, str]]:
    """For each page the numbers of the lines that are no part of the text; and the page numbers printed there.

    `body` is the size of the book's letters in points.
    """
    edges = [_edge_lines(page) for page in pages]
    masked = [{n: _DIGITS.sub("#", page.lines[n].text) for n in edge} for page, edge in zip(pages, edges, strict=True)]
    repeated = _repeated(pages, masked)
    counting = _counting(pages, edges)
    heads: list[set[int]] = []
    numbers: list[set[int]] = []
    printed: dict[int, str] = {}
    for index, page in enumerate(pages):
        found = {n for n, words in masked[index].items() if (index, n) in repeated or words in repeated}
        alone = set()
        if index in counting:
            n, number = counting[index]
            alone.add(n)
            printed[index] = number
        for n in edges[index]:
            line = page.lines[n]
            match = _NUMBER.fullmatch(line.text)
            if match and line.size <= 1.15 * body:
                number = match["number"]
                if _ROMAN.fullmatch(number) and (number != number.lower() and n not in found):
                    continue  # a chapter's bare numeral at the top of a page
                if _ROMAN.fullmatch(number) and not any(c in "ivxlc" for c in number.lower()):
                    continue
                alone.add(n)
                printed.setdefault(index, number)
        heads.append({n for n in found - alone if _stands_off(page, n, found | alone)})
        numbers.append({n for n in alone if n in found or _stands_off(page, n, found | alone)})
    emptied = [i for i, page in enumerate(pages) if page.lines and len(heads[i] | numbers[i]) == len(page.lines)]
    if len(emptied) > max(1, REPEATED * len(pages)):
        for index in emptied:  # then these lines are the text
            heads[index] = set()
    return [head | number for head, number in zip(heads, numbers, strict=True)], printed


def _counting(pages: Sequence[Page], edges: Sequence[list[int]]) -> dict[int, tuple[int, str]]:
    """The outermost line of each page that begins or ends with a number, where these count up with the pages.

    Sections that change on every page ("5.6. Uploads  33") and numbers far from the edge are found by this alone.
    """
    found: dict[int, list[tuple[int, str]]] = {}
    for index, page in enumerate(pages):
        if not page.lines:
            continue
        highest = min(range(len(page.lines)), key=lambda n: page.lines[n].y0)
        lowest = max(range(len(page.lines)), key=lambda n: page.lines[n].y1)
        for n in (lowest, highest):
            match = _LEADING.match(page.lines[n].text) or _TRAILING.search(page.lines[n].text)
            if match and (n in edges[index] or match[0] == page.lines[n].text) and _stands_off(page, n, {n}):
                found.setdefault(index, []).append((n, match[1]))
    shifts = Counter(int(number) - index for index, entries in found.items() for _, number in entries)
    shift, count = shifts.most_common(1)[0] if shifts else (0, 0)
    if count < max(3, REPEATED * len(pages)):
        return {}
    return {
        index: (n, number)
        for index, entries in found.items()
        for n, number in reversed(entries)
        if int(number) - index == shift
    }


def running_labels(printed: dict[int, str], pages: int) -> list[str]:
    """Page labels from the printed numbers, where most pages carry one and they count up; else none."""
    shifts = Counter(int(number) - index for index, number in printed.items() if number.isdecimal())
    if not shifts:
        return []
    shift, count = shifts.most_common(1)[0]
    if count < 0.6 * pages or count < 3:
        return []
    return [
        printed[index]
        if index in printed and (not printed[index].isdecimal() or int(printed[index]) - index == shift)
        else ""
        for index in range(pages)
    ]


def may_run(page: Page, line: Line) -> bool:
    """True when the line stands where running heads and feet do."""
    middle = (line.y0 + line.y1) / 2
    return middle < ZONE * page.height or middle > (1 - ZONE) * page.height


def _edge_lines(page: Page) -> list[int]:
    return [n for n, line in enumerate(page.lines) if may_run(page, line)]


def _repeated(pages: Sequence[Page], masked: Sequence[dict[int, str]]) -> set[str | tuple[int, int]]:
    """Masked texts that repeat on enough pages, and (page, line) of heads that change from chapter to chapter."""
    if len(pages) < 3:
        return set()
    enough = max(2, REPEATED * len(pages))
    counts = Counter(words for page in masked for words in set(page.values()))
    repeated: set[str | tuple[int, int]] = {words for words, count in counts.items() if count >= enough}
    # A head with the chapter's title stands at one height throughout the book and repeats on neighbouring pages only.
    heights: Counter[int] = Counter()
    places: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for index, page in enumerate(masked):
        for n, words in page.items():
            height = round(pages[index].lines[n].base)
            places[words, height].append((index, n))
        heights.update({round(pages[index].lines[n].base) for n in page})
    for (_, height), found in places.items():
        if len(found) > 1 and sum(heights[height + off] for off in (-1, 0, 1)) >= enough:
            for before, after in pairwise(found):
                if after[0] - before[0] <= 2:
                    repeated |= {before, after}
    return repeated


def _stands_off(page: Page, number: int, candidates: set[int]) -> bool:
    """True when the text keeps its distance from the line, as it does from a head but not from a line of its own."""
    line = page.lines[number]
    gaps = []
    for n, other in enumerate(page.lines):
        if n in candidates or other.x1 < line.x0 - 200 or other.x0 > line.x1 + 200:
            continue
        gaps.append(max(other.y0 - line.y1, line.y0 - other.y1))
    return not gaps or min(gaps) >= 0.5 * line.size
