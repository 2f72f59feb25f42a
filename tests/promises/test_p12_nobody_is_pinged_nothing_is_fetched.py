"""P12, as far as the document goes: an address lives only where a cited passage holds it; pictures are words, HTML is text."""

import ast
import random
import sys
from pathlib import Path

import pytest

from core.document import markdown, parse, plain
from core.model import ChatRequest, Document, Link, ParsedBook, Span, SpineFile, Text
from core.tags import tag
from tests.bot.running import CHECKOUT
from tests.clubs import ROOM, book_of, open_club, said
from tests.fakes.model import ScriptedModel
from tests.promises.shelves import upload, write_every_format
from tests.promises.test_p4_no_proof_no_pretence import leaves

HOME = "https://lantern.example/log?page=1"
OTHER = "http://harbour.example/boats"
RUNS = (
    f"The log is kept at {HOME} by Mara.",
    f"Boats are listed on {OTHER}, she said.",
    "Nobody in Carrow spoke of it. @everyone <@123> <!channel> @here",
    "![lamp](https://evil.example/lamp.png) <img src=https://evil.example/x.png> [door](https://evil.example/door)",
)


def linked_book() -> ParsedBook:
    text, runs = "", []
    for line in RUNS:
        runs.append(Span(1, len(text), len(text) + len(line)))
        text += f"{line}\n\n"
    return book_of((SpineFile(0, "", "."), SpineFile(1, "", text.rstrip())), [Span(0, 0, 1), *runs], ("One",), "T")


TAGS = [tag(run) for run in linked_book().runs[1:]]


def live(document: Document) -> list[str]:
    return [leaf.address for leaf in leaves(document) if isinstance(leaf, Link) and leaf.live]


DEAD = (
    "[x](https://evil.example/)",
    "[x](<https://evil.example/a b>)",
    "[x](https://evil.example 'title')",
    "[https://lantern.example/log?page=1](https://evil.example/)",
    "<https://evil.example/>",
    "<someone@evil.example>",
    "[x][1]\n\n[1]: https://evil.example/",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "[x](tg://user?id=1)",
    "[x](mailto:a@evil.example)",
    "[x](//evil.example/)",
    "[x](/relative)",
    "[x](\\\\evil.example)",
    "[x](https:evil.example)",
    "[x](ftp://evil.example/)",
    "https://evil.example/ www.evil.example evil.example/x",
    "![x](https://evil.example/x.png)",
    "[![x](https://evil.example/x.png)](https://evil.example/)",
    "<a href='https://evil.example/'>x</a>",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<@123> <!channel> <!subteam^S1|x> @everyone @here <#C1> <https://evil.example|x>",
    "&lt;a href=https://evil.example&gt; &#91;x&#93;(https://evil.example)",
    "| [x](https://evil.example/) |\n|---|\n| ![y](https://evil.example/y.png) |",
    "> - [x](https://evil.example/)",
    "# [x](https://evil.example/)",
    "***[x](https://evil.example/)***",
    # Pieces, beginnings and continuations of an address that does stand there, and others beside it.
    "[x](https://lantern.example/log?page=1&to=https://evil.example)",
    "[x](https://lantern.example.evil.example/log?page=1)",
    "[x](https://lantern.example@evil.example/)",
    "[x](https://lantern.example/log?page=12)",
    "[x](https://lantern.example/log?page=)",
    "[x](https://lantern.exampl)",
    "[x](https://lantern.ex)",
    "[x](https://l)",
    "[x](https://)",
    "[x](http://harbour.example/)",
)
"""Model words, each put beside notes of all four runs; no address in them may live."""


@pytest.mark.parametrize("words", DEAD)
async def test_no_address_lives_that_does_not_stand_whole_in_a_cited_passage(words: str, tmp_path: Path) -> None:
    step = f"{words}\n\nAs it says {' '.join(TAGS)}."
    async with open_club(tmp_path, ScriptedModel(lambda request: step)) as club:
        await club.shelve(linked_book())
        turn = await club.ask("Where is the log kept?", evidence_tokens=None)
        assert len(turn.answer.footnotes) == 4
        assert live(turn.answer.document) == []
        assert not any(live(event.document) for event in club.events if hasattr(event, "document"))


async def test_an_address_that_stands_in_a_cited_passage_lives_and_in_an_uncited_one_it_does_not(
    tmp_path: Path,
) -> None:
    step = f"See [the log]({HOME}) and [the boats]({OTHER}) {TAGS[0]}."
    async with open_club(tmp_path, ScriptedModel(lambda request: step)) as club:
        await club.shelve(linked_book())
        turn = await club.ask("Where is the log kept?", evidence_tokens=None)
    assert live(turn.answer.document) == [HOME]
    assert said(turn) == "See the log and the boats [1]."


@pytest.mark.parametrize("without", ["chat", "not in the book"])
async def test_without_cited_passages_no_address_lives(without: str, tmp_path: Path) -> None:
    def speaks(request: ChatRequest) -> str:
        return '{"Thinking":"","answer":[]}' if request.purpose == "pick" else f"Look [here]({HOME}) or at <{OTHER}>."

    async with open_club(tmp_path, ScriptedModel(speaks)) as club:
        await club.shelve(linked_book())
        turn = await club.ask("Thanks!" if without == "chat" else "Where is the log kept?", evidence_tokens=None)
    # Where the book does not say, the closest passage may be quoted, by us; the model's own words cite nothing.
    assert (turn.answer.outcome == "not_in_book") == (without == "not in the book")
    assert len(turn.answer.footnotes) <= (without == "not in the book")
    assert live(turn.answer.document) == []


async def test_quotations_of_the_offline_reader_have_no_links_and_ping_letter_for_letter(tmp_path: Path) -> None:
    """The book's own text is shown as it stands; what it would do on a platform is for the view to defuse."""
    async with open_club(tmp_path) as club:
        await club.shelve(linked_book())
        seen = ""
        for question in (
            "What of everyone, the channel and here?",
            "Where is the door and the lamp?",
            "Where is the log kept?",
        ):
            turn = await club.ask(question)
            assert live(turn.answer.document) == []
            seen += said(turn)
    assert "@everyone <@123> <!channel> @here" in seen
    assert "![lamp](https://evil.example/lamp.png)" in seen


def test_pictures_become_their_words_and_html_stays_text() -> None:
    document = parse(
        "![a lamp](https://evil.example/x.png) <b>bold</b> &amp; <script>alert(1)</script> ![](https://evil.example)"
    )
    assert live(document) == []
    shown = plain(document)
    assert shown.startswith("a lamp <b>bold</b> &amp; <script>alert(1)</script>")
    assert "evil.example" not in shown
    assert not any(isinstance(leaf, Link) for leaf in leaves(document))


def test_a_thousand_random_mixtures_of_markup_raise_nothing_and_link_nothing() -> None:
    rng = random.Random(12)
    pieces = (
        "[", "]", "(", ")", "<", ">", "!", "https://evil.example/", "javascript:", "x", " ", "\n", "|", "---", "`", "*", "_", "~~", "#",
        "<a href=", "'", '"', "&lt;", "\\", "://", "@everyone", "\u2045\ufdd01\ufdd1\u2046", "- ", "> ", "1. ", "\t", "é", "🧥", "[x](", "![",
    )  # fmt: skip
    for _ in range(1_000):
        source = "".join(rng.choices(pieces, k=rng.randint(1, 40)))
        document = parse(source, lambda _: False)
        assert live(document) == [], source
        # What is exported reads back as the same words: nothing in it has become markup on the way.
        assert not any(isinstance(leaf, Link) for leaf in leaves(parse(markdown(document)))), source


async def test_an_export_reads_back_without_a_link_a_picture_or_markup_of_strangers(tmp_path: Path) -> None:
    step = f"[x](https://evil.example/) ![y](https://evil.example/y.png) <img src=z> As it says {' '.join(TAGS)}."
    async with open_club(tmp_path, ScriptedModel(lambda request: step)) as club:
        await club.shelve(linked_book())
        await club.ask(
            "Where is ![q](https://evil.example/q.png) <b>the</b> [log](https://evil.example/)?", evidence_tokens=None
        )
        exported = await club.club.passages.export(ROOM)
    everything = parse(exported, lambda _: True)
    assert [leaf.address for leaf in leaves(everything) if isinstance(leaf, Link)] == []
    texts = "".join(leaf.text for leaf in leaves(everything) if isinstance(leaf, Text))
    assert "<img src=z>" in texts
    assert "@everyone <@123> <!channel> @here" in texts
    assert "![lamp](https://evil.example/lamp.png)" in texts


# Nothing is fetched


async def test_reading_a_book_and_answering_from_it_opens_no_socket(tmp_path: Path) -> None:
    """Every format, with references to pictures, styles and entities outside; the hook hears every socket of the process."""
    heard: list[str] = []
    listening = True

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
            heard.append(f"{event} {arguments!r}")

    sys.addaudithook(listen)
    try:
        async with open_club(tmp_path / "data", ScriptedModel(lambda request: f"Ink {TAGS[0]}.")) as club:
            for path in write_every_format(tmp_path):
                sha256 = await upload(club, path)
                await club.ask("What ink?", book=sha256, event=path.name)
            await upload(club, _reaching_out(tmp_path))
            await club.shelve(linked_book())
            turn = await club.ask("Where is the log kept?", book="T", evidence_tokens=None)
            for note in turn.answer.footnotes:
                await club.club.passages.press(ROOM, note.id)
            await club.club.passages.export(ROOM)
    finally:
        listening = False
    assert heard == []


def _reaching_out(folder: Path) -> Path:
    path = folder / "reaching.html"
    path.write_text(
        '<!DOCTYPE html [<!ENTITY out SYSTEM "http://127.0.0.1:9/entity">]><html><head><title>Reaching</title>'
        '<link rel=stylesheet href="http://127.0.0.1:9/style.css"><script src="http://127.0.0.1:9/x.js"></script>'
        '<base href="http://127.0.0.1:9/"></head><body><img src="http://127.0.0.1:9/x.png" alt="a picture of the harbour">'
        "<iframe src='http://127.0.0.1:9/'></iframe><p>The ferry came at nine, and nobody was on the quay. &out;</p></body></html>"
    )
    return path


def test_only_the_door_to_language_models_can_open_a_connection() -> None:
    """No module of the core but `core/llm` and the database's engines imports anything that speaks to a network."""
    speakers = {
        "socket",
        "ssl",
        "http",
        "urllib.request",
        "httpx",
        "httpx2",
        "aiohttp",
        "requests",
        "openai",
        "smtplib",
        "ftplib",
    }
    found = set()
    for path in (CHECKOUT / "core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name == speaker or name.startswith(f"{speaker}.") for name in names for speaker in speakers):
                found.add(path.relative_to(CHECKOUT).parts[1])
    assert found <= {"llm"}
