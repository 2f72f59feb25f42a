"""Copies of EPUBs with a word of our own planted at every place the contents point to, and what each entry must find.

Contents are read here by other means than the reader under test uses, so that both cannot be wrong alike.
"""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote

from lxml import etree

_TYPE = "{http://www.idpf.org/2007/ops}type"


class Expected(NamedTuple):
    """One entry of the contents in printed order, and the word that stands where it points."""

    title: str
    depth: int
    sentinel: str


def plant(source: Path, target: Path) -> list[Expected]:
    """Copy `source` to `target` with a sentinel at every target of its contents; entries that lead nowhere are left out."""
    with zipfile.ZipFile(source) as archive:
        contents = {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}
    tocs, base = _contents(contents)
    words: dict[tuple[str, str], str] = {}
    for _, _, href in tocs:
        name, fragment = _target(href, base)
        if name in contents:
            words.setdefault((name, fragment), f"Qz{len(words)}zQ")
    for (name, fragment), word in words.items():
        text = contents[name].decode("utf-8-sig")
        at = _after(text, fragment)
        contents[name] = (text[:at] + word + " " + text[at:]).encode("utf-8")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    found = [words.get(_target(href, base), "") if href else "" for _, _, href in tocs]
    # A heading without a link stands where the first entry below it does.
    for at in reversed(range(len(tocs))):
        if not tocs[at][2] and at + 1 < len(tocs) and tocs[at + 1][1] > tocs[at][1]:
            found[at] = found[at + 1]
    return [Expected(title, depth, word) for (title, depth, _), word in zip(tocs, found, strict=True) if word and title]


def _target(href: str, base: str) -> tuple[str, str]:
    path, _, fragment = href.partition("#")
    return normpath(join(base, unquote(path))), unquote(fragment)


def _after(text: str, fragment: str) -> int:
    """Just inside the element with this id (after it, when it is empty); inside the body without one."""
    body = re.search(r"<body\b[^>]*>", text)
    start = body.end() if body else 0
    if not fragment:
        return start
    key = re.escape(fragment)
    found = re.search(rf"""<[a-zA-Z][^<>]*?\s(?:id|name)\s*=\s*["']{key}["'][^<>]*>""", text)
    return found.end() if found else start


def _contents(entries: dict[str, bytes]) -> tuple[list[tuple[str, int, str]], str]:
    """(title, depth, reference) in printed order, and the folder references start from."""
    container = etree.fromstring(entries["META-INF/container.xml"])
    package_name = str(container.xpath("string(//*[local-name()='rootfile']/@full-path)"))
    package = etree.fromstring(entries[package_name])
    folder = dirname(package_name)
    for item in package.iter("{*}item"):
        name = normpath(join(folder, unquote(item.get("href") or "")))
        if "nav" in (item.get("properties") or "").split():
            for nav in etree.fromstring(entries[name]).iter("{*}nav"):
                if "toc" in (nav.get(_TYPE) or "").split():
                    return list(_nav_lines(nav, 0)), dirname(name)
    for item in package.iter("{*}item"):
        if item.get("media-type") == "application/x-dtbncx+xml":
            name = normpath(join(folder, unquote(item.get("href") or "")))
            top = next(etree.fromstring(entries[name]).iter("{*}navMap"))
            return list(_ncx_lines(top, 1)), dirname(name)
    return [], folder


def _nav_lines(node: etree._Element, depth: int) -> Iterator[tuple[str, int, str]]:
    for child in node.iterchildren("{*}ol"):
        for item in child.iterchildren("{*}li"):
            label = next(item.iterchildren("{*}a", "{*}span"))
            etree.strip_elements(label, "{*}rt", "{*}rp", with_tail=False)
            yield _words(label), depth + 1, label.get("href") or ""
            yield from _nav_lines(item, depth + 1)


def _ncx_lines(node: etree._Element, depth: int) -> Iterator[tuple[str, int, str]]:
    for point in node.iterchildren("{*}navPoint"):
        label = next(point.iterchildren("{*}navLabel"))
        content = next(point.iterchildren("{*}content"))
        yield _words(label), depth, content.get("src") or ""
        yield from _ncx_lines(point, depth + 1)


def _words(node: etree._Element) -> str:
    return " ".join("".join(map(str, node.itertext())).split())
