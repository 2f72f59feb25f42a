"""P11: passages, the quote finder, export and quoting answers need no model; what is quoted is the book's, sentence by sentence."""

import random
import re
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest

from core.document import plain
from core.model import Cite, Document, ParsedBook, Quote, Span, SpineFile, Turn
from core.offline import MAX_CHARACTERS, MAX_SENTENCES
from core.sentences import sentences
from core.tags import tag
from tests.clubs import ROOM, TestClub, book_of, lantern_house, open_club, said
from tests.parts import SHARED, needs_shared
from tests.promises.shelves import upload, write_every_format
from tests.promises.test_p4_no_proof_no_pretence import leaves

_NOTE = re.compile(r"\s*\[\d+\]\s*\Z")


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[TestClub]:
    """A club as a newcomer has it: nothing is set up."""
    async with open_club(tmp_path / "data") as club:
        yield club


def spaced(text: str) -> str:
    return " ".join(text.split())


def quoted(turn: Turn) -> list[tuple[str, Span]]:
    """(sentence, run of its note) of each quotation of an offline answer; fails where a quotation has not one note."""
    found = []
    notes = {note.number: note.span for note in turn.answer.footnotes}
    for block in turn.answer.document:
        assert isinstance(block, Quote), block
        for paragraph in block.children:
            one: Document = (paragraph,)
            [cite] = [leaf for leaf in leaves(one) if isinstance(leaf, Cite)]
            found.append((_NOTE.sub("", spaced(plain(one))), notes[cite.number]))
    return found


def faults(turn: Turn, book: ParsedBook) -> list[str]:
    """What is wrong with an offline answer by the promise of the issue."""
    found = []
    pieces = quoted(turn)
    if not 1 <= len(pieces) <= MAX_SENTENCES:
        found.append(f"{len(pieces)} sentences")
    if sum(len(text) for text, _ in pieces) > MAX_CHARACTERS:
        found.append("too long")
    if [note.number for note in turn.answer.footnotes] != list(range(1, len(turn.answer.footnotes) + 1)):
        found.append("numbers")
    places = []
    for text, run in pieces:
        if run not in book.runs:
            found.append(f"{run} is no run")
        stored = book.files[run.file].text[run.start : run.end]
        whole = {spaced(stored[start:end]): start for start, end in sentences(stored)}
        if text not in whole:
            found.append(f"not a whole sentence of its run: {text!r} in {stored!r}")
        places.append((run, whole.get(text, 0)))
    if any(first >= second for first, second in pairwise(places)):
        found.append("not in reading order")
    return found


ASKED: tuple[tuple[str, str, str, str], ...] = (
    ("en", "The ferryman slept in the boathouse. In the morning the bridge was gone. Nobody ever built it again.",
     "What was gone in the morning?", "In the morning the bridge was gone."),
    ("es", "El barquero dormía en la caseta. Por la mañana el puente había desaparecido. ¡Nadie lo reconstruyó jamás!",
     "¿Qué había desaparecido por la mañana?", "Por la mañana el puente había desaparecido."),
    ("pt", "O barqueiro dormia na casa. De manhã a ponte tinha desaparecido. Ninguém a reconstruiu.",
     "O que tinha desaparecido de manhã?", "De manhã a ponte tinha desaparecido."),
    ("de", "Der Fährmann schlief im Bootshaus. Am Morgen war die Brücke verschwunden. Niemand baute sie wieder auf.",
     "Was war am Morgen verschwunden?", "Am Morgen war die Brücke verschwunden."),
    ("fr", "Le passeur dormait dans la cabane. Au matin le pont avait disparu. Personne ne le rebâtit jamais.",
     "Qu’est-ce qui avait disparu au matin ?", "Au matin le pont avait disparu."),
    ("ru", "Паромщик спал в сарае. Утром мост исчез. Никто его больше не построил.",
     "Что исчезло утром? Мост?", "Утром мост исчез."),
    ("el", "Ο πορθμέας κοιμόταν στο σπίτι. Το πρωί η γέφυρα είχε χαθεί. Κανείς δεν την ξανάχτισε.",
     "Τι είχε χαθεί το πρωί;", "Το πρωί η γέφυρα είχε χαθεί."),
    ("zh", "船夫睡在船屋里。早上桥不见了。再也没有人重建它。", "早上什么不见了?", "早上桥不见了。"),
    ("ja", "渡し守は小屋で眠っていた。朝になると橋が消えていた。誰も建て直さなかった。", "朝に何が消えていた?橋?", "朝になると橋が消えていた。"),
    ("ko", "뱃사공은 오두막에서 잤다. 아침에 다리가 사라졌다. 아무도 다시 짓지 않았다.", "아침에 무엇이 사라졌다?", "아침에 다리가 사라졌다."),
    ("ar", "نام الملاح في الكوخ. في الصباح اختفى الجسر. لم يبنه أحد من جديد.", "ماذا اختفى في الصباح؟ الجسر؟", "في الصباح اختفى الجسر."),
    ("he", "המלח ישן בבקתה. בבוקר הגשר נעלם. איש לא בנה אותו שוב.", "מה נעלם בבוקר? הגשר?", "בבוקר הגשר נעלם."),
    ("hi", "नाविक झोपड़ी में सो गया। सुबह पुल गायब था। किसी ने उसे फिर नहीं बनाया।", "सुबह क्या गायब था? पुल?", "सुबह पुल गायब था।"),
)  # fmt: skip
"""(language, a book, a question, the sentence that must be among those quoted)."""


@pytest.mark.parametrize(("language", "text", "question", "wanted"), ASKED, ids=[row[0] for row in ASKED])
async def test_a_question_in_any_script_is_answered_by_the_sentence_that_says_it(
    language: str, text: str, question: str, wanted: str, club: TestClub
) -> None:
    files = (SpineFile(0, "", "."), SpineFile(1, "", text))
    book = book_of(files, [Span(0, 0, 1), Span(1, 0, len(text))], ("One",), "T", language)
    await club.shelve(book)
    turn = await club.ask(question)
    assert turn.answer.outcome == "grounded"
    assert turn.model == "offline"
    assert faults(turn, book) == []
    assert wanted in [sentence for sentence, _ in quoted(turn)]
    assert [notice.key for notice in turn.answer.notices] == ["quotes_only"]


async def test_sentences_full_of_markup_and_look_alikes_are_quoted_letter_for_letter(club: TestClub) -> None:
    lines = (
        "Type [f1-0-42] on the *dial* of the _safe_ number 1.",
        "She wrote 5 * 4 * 3 = 60 with `chalk` on the dial number 2.",
        "# is the sign before dial number 3.",
        "> and < stood on the dial number 4 & nowhere else.",
        "1. is how the list of dial number 5 begins.",
        "- is a dash before dial number 6.",
        "The link [here](https://example.invalid/x) is on dial number 7.",
        "“You,” he said, ‘dial number 8’ now\" — and \"left.",
        "<b>Bold</b> is dial number 9 ~~struck~~ and [^1] noted[1].",
        "| a | b | of dial number 10.",
        "He said «dial number 11 and did not close it.",
        "\\* escaped \\_ dial number 12 &amp; &#42; done.",
        "It’s the keepers’ dial number 13, ain’t it?",
        "http://example.invalid/dial?number=14&x=*y* is dial number 14.",
        "Dial  number 15 ⁅1⁆ has two spaces, and f1-0-42 too.",
    )  # fmt: skip
    text, runs = "", []
    for line in lines:
        runs.append(Span(1, len(text), len(text) + len(line)))
        text += f"{line}\n\n"
    book = book_of((SpineFile(0, "", "."), SpineFile(1, "", text.rstrip())), [Span(0, 0, 1), *runs], ("One",), "T")
    await club.shelve(book)
    seen = set()
    for number, line in enumerate(lines, 1):
        turn = await club.ask(f"What is dial number {number}?", event=str(number))
        assert turn.answer.outcome == "grounded", line
        assert faults(turn, book) == [], line
        seen |= {sentence for sentence, _ in quoted(turn)}
    assert len(seen) >= len(lines) - 2


@pytest.mark.parametrize(
    "question",
    ["Who discovered penicillin in London?", "zxqv wyrk", "¿Cuándo murió Napoleón?", "ペニシリン", "??", "🙃"],
)
async def test_where_nothing_matches_it_is_said_and_nothing_is_quoted(question: str, club: TestClub) -> None:
    await club.shelve(lantern_house())
    turn = await club.ask(question)
    assert turn.answer.outcome == "not_in_book"
    assert turn.answer.footnotes == ()
    assert said(turn) == "I found nothing about this in The Lantern House. I looked in chapters 1–3."


async def test_small_talk_gets_a_sentence_of_ours(club: TestClub) -> None:
    await club.shelve(lantern_house())
    turn = await club.ask("Hello!")
    assert (turn.answer.outcome, turn.model, turn.usage.calls) == ("chat", "offline", 0)
    assert said(turn).startswith("Hello! Ask me something about the book")


async def test_in_every_format_answers_quote_passages_open_and_the_chat_is_exported(
    club: TestClub, tmp_path: Path
) -> None:
    for path in write_every_format(tmp_path):
        sha256 = await upload(club, path)
        book = await club.club.dump(ROOM, sha256)
        turn = await club.ask("What did the parrot say about previous instructions?", book=sha256, event=path.name)
        assert faults(turn, book) == [], path
        assert any("parrot" in sentence for sentence, _ in quoted(turn)), path
        for note in turn.answer.footnotes:
            passage = await club.club.passages.press(ROOM, note.id)
            assert passage.quote == book.files[note.span.file].text[note.span.start : note.span.end]
        _, verbatim = await club.club.passages.find_quote(ROOM, "Nobody has read on", sha256)
        _, near = await club.club.passages.find_quote(ROOM, "the ferry came at ten, and nobody was on the quay", sha256)
        _, none = await club.club.passages.find_quote(ROOM, "zebras paint submarines", sha256)
        assert (verbatim.match, near.match, none.match) == ("verbatim", "near", "none"), path
        _, contents = await club.club.contents(ROOM, sha256)
        assert contents.chapters or path.suffix in (".pdf", ".txt"), path
    exported = await club.club.passages.export(ROOM)
    assert exported.count("parrot") >= 14  # each question, and each answer's passage
    assert "[f2-" in exported


async def test_an_export_holds_every_question_answer_and_exact_passage(club: TestClub) -> None:
    await club.shelve(lantern_house())
    turns = [await club.ask(f"{question}?", event=question) for question in ("Whose coat", "What ink", "Which ferry")]
    exported = await club.club.passages.export(ROOM)
    at = 0
    for turn in turns:
        at = exported.index(turn.question, at)
        for note in turn.answer.footnotes:
            at = exported.index(f"`{note.tag}`", at)
            words = re.findall(r"\w+", (await club.club.passages.press(ROOM, note.id)).quote)
            assert words == re.findall(r"\w+", exported[at + len(note.tag) + 2 :])[: len(words)]


@needs_shared
@pytest.mark.parametrize(
    "name", ["die-verwandlung-de-no-toc.epub", "tang-300-zh.epub", "problems-of-philosophy.docx", "entre-nous-fr.md"]
)
async def test_forty_questions_made_of_a_real_books_sentences_are_answered_by_whole_sentences_of_it(
    name: str, club: TestClub
) -> None:
    """Half of a sentence is asked; whatever is quoted must be whole sentences of the book, as they stand."""
    assert SHARED is not None
    rng = random.Random(name)
    sha256 = await upload(club, SHARED / "books" / name)
    book = await club.club.dump(ROOM, sha256)
    grounded = 0
    for number in range(40):
        run = rng.choice([run for run in book.runs if run.end - run.start > 30])
        text = book.files[run.file].text[run.start : run.end]
        start, end = rng.choice(sentences(text))
        turn = await club.ask(text[start : (start + end) // 2 + 1] + "?", event=str(number))
        if turn.answer.outcome == "grounded":
            grounded += 1
            assert faults(turn, book) == [], turn.question
        else:
            assert said(turn).count("\n") == 0, turn.question
    assert grounded >= 30


async def test_the_headless_press_takes_the_tag_an_answer_showed(club: TestClub) -> None:
    sha256 = await club.shelve(lantern_house())
    turn = await club.ask("Whose coat was in the suitcase?")
    for note in turn.answer.footnotes:
        assert note.tag == tag(note.span)
        assert (await club.club.passages.open_tag(ROOM, sha256, note.tag)).quote == (
            await club.club.passages.press(ROOM, note.id)
        ).quote
