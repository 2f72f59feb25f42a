"""Exports read back: every note's position and exact passage, in Markdown and in one HTML file; nothing past the limit."""

import re
from html.parser import HTMLParser
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from core.document import plain
from core.exports import Form
from core.model import Passage, Span
from core.tags import references
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, long_book, open_club

ASKED = (
    "What did Mara keep the log in?",
    "Whose coat was in the suitcase?",
    "Who vanished?",
    "<script>alert(1)</script> & *what* does [f1-0-42] say of the **ferry**?",
)


def address(passage: Passage) -> str:
    return f"http://127.0.0.1:8321/read/{passage.book}/{passage.text_version}/{passage.tag.strip('[]')}#mark"


async def asked(club: TestClub) -> list[Span]:
    """The positions of every note of the chat, in order."""
    await club.shelve(lantern_house())
    spans: list[Span] = []
    for question in ASKED:
        turn = await club.ask(question, evidence_tokens=None)
        spans += [note.span for note in turn.answer.footnotes]
    assert len(spans) >= 4
    return spans


def read_back(exported: str, form: Form) -> list[Span]:
    if form == "html":
        tags = re.findall(r'data-tag="\[([^"\]]+)\]"', exported)
    else:
        tags = re.findall(r"`\[(f[\d-]+)\]`", exported)
    return [span for tag in tags for reference in references(tag) or () if (span := reference.span)]


async def test_the_positions_in_both_forms_read_back_as_the_same_spans_with_the_same_text(tmp_path: Path) -> None:
    book = lantern_house()
    async with open_club(tmp_path) as club:
        spans = await asked(club)
        for form in ("md", "html"):
            exported = await club.club.passages.export(ROOM, "en", form=form, link=address)
            assert read_back(exported, form) == spans
            links = re.findall(r"http://127\.0\.0\.1:8321/read/\w+/test-1/(f[\d-]+)#mark", exported)
            assert [references(link) for link in links] == [references(f"f{s.file}-{s.start}-{s.end}") for s in spans]
        quoted = [node.text() for node in LexborHTMLParser(exported).css(".note blockquote")]
        assert quoted == [book.files[span.file].text[span.start : span.end] for span in spans]


class Tags(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


async def test_the_html_file_needs_nothing_else_and_runs_nothing(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await asked(club)
        exported = await club.club.passages.export(ROOM, "en", form="html", link=address)
    for name, attributes in Tags(exported).found:
        assert name not in ("script", "img", "iframe", "object", "embed", "link", "base", "form", "svg"), name
        assert not [attribute for attribute in attributes if attribute.startswith("on") or attribute == "src"]
        href = attributes.get("href") or "#"
        assert href.startswith(("#", "http://127.0.0.1:8321/read/")), href
    ids = {attributes["id"] for _, attributes in Tags(exported).found if "id" in attributes}
    inside = {str(a["href"])[1:] for _, a in Tags(exported).found if str(a.get("href", "")).startswith("#")}
    assert inside <= ids
    assert "<script>alert(1)</script>" in LexborHTMLParser(exported).text()


async def test_both_forms_end_at_the_clubs_limit(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await asked(club)
        await club.club.progress(ROOM, MEMBER, words="finished 1")
        for form in ("md", "html"):
            exported = await club.club.passages.export(ROOM, "en", form=form, link=address)
            assert "green ink" in exported
            for later in ("oilskin", "suitcase held", "Tuesday ferry"):
                assert later not in exported.replace(ASKED[1], ""), (form, later)
            assert all(span.file == 1 for span in read_back(exported, form))


async def test_what_an_answer_says_stands_in_the_html_letter_for_letter(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(long_book(chapters=2))
        turn = await club.ask("What happened on the day of the storm?")
        exported = LexborHTMLParser(await club.club.passages.export(ROOM, "es", form="html"))
    shown = " ".join(exported.text().split())
    for line in plain(turn.answer.document).splitlines():
        words = " ".join(line.removeprefix("> ").split())
        assert words in shown
