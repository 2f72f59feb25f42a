"""Markdown files: made HTML by markdown-it, read by the pass that reads every page; headings become contents."""

import re

from markdown_it import MarkdownIt

from core.formats.decode import clean, decode
from core.formats.extracted import Extracted
from core.formats.pieces import cut_files
from core.formats.xhtml import parse, read_page

_FRONT_MATTER = re.compile(r"\A---[^\S\n]*\n(.*?)\n(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(title|author|authors|lang|language):[^\S\n]*(.*?)[^\S\n]*$", re.MULTILINE | re.IGNORECASE)
_ITEM = re.compile(r"^\s*-\s+(.+)$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NOTE = re.compile(r"^ {0,3}\[\^([^\]\s]{1,40})\]:[^\S\n]*")
_NOTE_MARK = re.compile(r"(?P<code>(`+)(?!`).*?(?<!`)\2(?!`))|\[\^[^\]\s]{1,40}\]")
"""A note marker, or a piece of code in the line, which is left alone."""


def read_markdown(data: bytes) -> Extracted:
    """The book of a Markdown file: emphasis and link marks gone, lists, tables and code as lines, headings as contents.

    Title, author and language come from a front matter block. Note markers are left out, the notes stay as paragraphs.
    """
    text = clean(decode(data))
    found = _FRONT_MATTER.match(text)
    fields: dict[str, str] = {}
    if found:
        text = text[found.end() :]
        fields = {name.lower(): value.strip("\"' ") for name, value in _FIELD.findall(found[1])}
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(_without_marks(text))
    root = parse(f"<html><body>{html}</body></html>", html=True)
    page = read_page(root) if root is not None else None
    headings = [(heading.level, heading.title, heading.offset) for heading in page.headings] if page else []
    files, marks, _ = cut_files(page.text if page else "", headings)
    author = fields.get("author") or fields.get("authors", "")
    listed = _ITEM.findall(found[1].split("author", 1)[-1]) if found and not author and "author" in found[1] else []
    names = listed or re.split(r"\s*[;,&]\s*", author.strip("[]"))
    return Extracted(
        format="md",
        files=files,
        title=fields.get("title", ""),
        authors=tuple(name.strip("\"' ") for name in names if name.strip("\"' ")),
        language=fields.get("lang") or fields.get("language", ""),
        headings=marks,
    )


def _without_marks(text: str) -> str:
    """Note markers gone, notes turned to paragraphs: CommonMark would take a one-word note for a link's address."""
    if "[^" not in text:
        return text
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if found := _FENCE.match(line):
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence):
                fence = ""
        elif not fence:
            line = _NOTE.sub(r"\n\\[\1\\] ", line)
            line = _NOTE_MARK.sub(lambda mark: mark["code"] or "", line)
        lines.append(line)
    return "\n".join(lines)
