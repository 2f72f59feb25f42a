"""The whole chat program: over a pipe, and on a pseudo-terminal with prompts, colours, redrawing and Ctrl-C."""

import re
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from adapters.console.text import columns
from tests.adapters.pseudo_terminal import PseudoTerminal
from tests.books.lantern_epub import lantern_house
from tests.books.pdfs import locked
from tests.bot.running import command, environment, loccit

QUESTION = "What did Mara keep the log in?"
GREEN_INK = "lighthouse log in green ink"
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return lantern_house(tmp_path, filler=40)


# Over a pipe


def test_over_a_pipe_there_is_no_prompt_no_colour_and_the_end_of_input_is_a_good_end(book: Path, data: Path) -> None:
    ran = loccit("chat", book, data=data, stdin=f"{QUESTION}\n1\n/nonsense\n")
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out
    assert "> " not in [line[:2] for line in ran.out.splitlines()]
    assert f"»Mara kept the {GREEN_INK}" in ran.out
    assert "There is no command /nonsense; /help lists them." in ran.out


def test_a_last_line_without_a_line_end_is_heard(book: Path, data: Path) -> None:
    assert GREEN_INK in loccit("chat", book, data=data, stdin=QUESTION).out


def test_quit_leaves_the_rest_of_the_input_unread(data: Path) -> None:
    ran = loccit("chat", data=data, stdin="/quit\n/books\n")
    assert ran.code == 0
    assert ran.out.count("There is no book here yet") == 1


def test_a_locked_book_says_how_it_is_opened_here(tmp_path: Path, data: Path) -> None:
    path = locked(tmp_path / "locked.pdf")
    ran = loccit("chat", data=data, stdin=f"/add {path}\n")
    assert "needs a password" in ran.out
    assert "loccit chat --password" in " ".join(ran.out.split())
    assert "is ready" in loccit("chat", "--password", "sesame", data=data, stdin=f"/add {path}\n").out


def test_wrong_usage_is_one_helpful_sentence_each(book: Path, data: Path) -> None:
    lines = [
        "/add",
        "/use",
        "/quote",
        "/use 7",
        "/toc nothing like it",
        "<",
        "after",
        "/undo",
        "/export /nowhere/at/all.md",
    ]
    ran = loccit("chat", book, data=data, stdin="\n".join(lines))
    assert ran.code == 0
    said = ran.out.split("/help.\n")[1].strip().split("\n\n")
    assert len(said) == len(lines), said
    for line, sentence in zip(lines, said, strict=True):
        assert sentence.endswith((".", "/use 2", "book.epub", "acknowledged")), (line, sentence)
        assert "reference" not in sentence, (line, sentence)


def test_bytes_that_are_no_text_and_very_long_lines_are_survived(book: Path, data: Path) -> None:
    long = "word " * 4000 + "/" * 300
    ran = loccit("chat", book, data=data, stdin=f"\x00\x1b[2J\ud7ff\n{long}\n{QUESTION}\n")
    assert ran.code == 0
    assert GREEN_INK in ran.out
    assert "\x1b" not in ran.out
    assert "reference" not in ran.out


def test_a_path_may_have_spaces_quotes_or_backslashes(tmp_path: Path, book: Path, data: Path) -> None:
    odd = book.rename(tmp_path / "it's a book.epub")
    quoted = str(odd).replace(" ", "\\ ").replace("'", "\\'")
    ran = loccit("chat", data=data, cwd=tmp_path, stdin=f"/add {odd}\n/add {quoted}\n/add it's a book.epub\n{odd}\n")
    assert ran.out.count("is ready") == 1
    assert ran.out.count("nothing was read twice") == 3


def test_the_dialogue_speaks_the_readers_language_and_still_knows_the_english_words(book: Path, data: Path) -> None:
    ran = loccit("chat", book, data=data, stdin=f"{QUESTION}\n1\ndepois\nbefore\n1\n", LOCCIT_LOCALE="pt_BR")
    assert "está pronto" in ran.out
    assert ran.out.count("1 fecha") == 3
    assert "A nota 1 está fechada." in ran.out


def test_an_export_is_a_new_file_with_the_answer_and_its_exact_passage(tmp_path: Path, book: Path, data: Path) -> None:
    def chat(line: str) -> str:
        return loccit("chat", data=data, cwd=tmp_path, stdin=f"{line}\n").out

    assert "There is nothing" in chat("/export") or "nothing" in chat("/export").lower()
    loccit("chat", book, data=data, stdin=f"{QUESTION}\n")
    assert f"{tmp_path / 'loccit-export.md'}." in chat("/export")
    text = (tmp_path / "loccit-export.md").read_text(encoding="utf-8")
    assert QUESTION in text
    assert GREEN_INK in text
    assert "loccit-export-2.md" in chat("/export")
    assert "exists already" in chat("/export loccit-export.md")
    assert (tmp_path / "loccit-export.md").read_text(encoding="utf-8") == text
    assert "my own.md" in chat("/export my own.md")
    assert (tmp_path / "my own.md").read_text(encoding="utf-8") == text


# On a terminal


def terminal(data: Path, *words: str | Path, width: int = 80, **settings: str) -> PseudoTerminal:
    return PseudoTerminal(command("chat", *words), environment(LOCCIT_DATA=str(data), **settings), width=width)


def test_on_a_terminal_there_is_a_prompt_and_the_quoted_run_is_bold(book: Path, data: Path) -> None:
    with terminal(data, book) as screen:
        screen.expect("> ")
        screen.enter(QUESTION)
        screen.expect("to see")
        screen.expect("> ")
        screen.enter("1")
        screen.expect("closes it")
        assert "\x1b[1;33mMara" in screen.raw
        assert "»" not in screen.text
        screen.enter("/quit")
        assert screen.wait() == 0


def test_progress_and_drafts_are_rewritten_in_place(book: Path, data: Path) -> None:
    with terminal(data, book) as screen:
        screen.expect("is ready")
        assert re.search(r"\x1b\[\d+A\r\x1b\[J", screen.raw)
        screen.expect("> ")
        screen.send("\x04")
        assert screen.wait() == 0


def test_no_line_is_wider_than_the_window(book: Path, data: Path) -> None:
    with terminal(data, book, width=44) as screen:
        for line in (QUESTION, "1", ">", "/toc", "/books"):
            screen.expect("> ")
            screen.enter(line)
        screen.expect("> ")
        screen.enter("/quit")
        assert screen.wait() == 0
        shown = [line for line in screen.text.splitlines() if not line.startswith("> ")]
        assert max(columns(line) for line in shown) <= 44


def test_no_colour_is_respected(book: Path, data: Path) -> None:
    with terminal(data, book, NO_COLOR="1") as screen:
        screen.expect("> ")
        screen.enter(QUESTION)
        screen.expect("> ")
        screen.enter("1")
        screen.expect("closes it")
        assert SGR.findall(screen.raw) == []
        assert "»Mara" in screen.text


def test_lines_can_be_edited_and_recalled(book: Path, data: Path) -> None:
    with terminal(data, book) as screen:
        screen.expect("> ")
        screen.enter("/bookx\x7fs")
        screen.expect("1. The Lantern House")
        screen.expect("> ")
        screen.send("\x1b[A\n")
        screen.expect("1. The Lantern House")
        screen.enter("/quit")
        assert screen.wait() == 0


def test_ctrl_c_at_the_prompt_leaves_and_nothing_is_lost(book: Path, data: Path) -> None:
    with terminal(data, book) as screen:
        screen.expect("> ")
        screen.enter(QUESTION)
        screen.expect("to see")
        screen.expect("> ")
        assert screen.interrupt() == 130
        assert "Traceback" not in screen.text
    assert GREEN_INK in loccit("chat", data=data, stdin="1\n").out


def patient(data: Path, signal: Path) -> PseudoTerminal:
    program = [sys.executable, "-m", "tests.adapters.patient_chat", str(data), str(signal)]
    return PseudoTerminal(program, environment())


def test_ctrl_c_during_an_answer_stops_the_waiting_and_shows_the_answer_when_it_is_there(
    book: Path, data: Path, tmp_path: Path
) -> None:
    loccit("chat", book, data=data)
    with patient(data, tmp_path / "now") as screen:
        screen.expect("> ")
        screen.enter(QUESTION)
        screen.expect("Looking in the book")
        screen.send("\x03")
        screen.expect("No longer waiting")
        screen.expect("> ")
        (tmp_path / "now").touch()
        while GREEN_INK not in screen.text:
            screen.enter("/books")
            screen.expect("1. The Lantern House")
            screen.expect("> ")
        screen.enter("1")
        screen.expect("closes it")
        screen.enter("/quit")
        assert screen.wait() == 0


def test_a_question_left_open_is_answered_at_the_next_start(book: Path, data: Path, tmp_path: Path) -> None:
    loccit("chat", book, data=data)
    with patient(data, tmp_path / "never") as screen:
        screen.expect("> ")
        screen.enter(QUESTION)
        screen.expect("Looking in the book")
        screen.send("\x03")
        screen.expect("> ")
        screen.enter("/quit")
        screen.expect("when you come back")
        assert screen.wait() == 0
    shown = loccit("chat", data=data, stdin="1\n").out
    assert f"Left open last time: {QUESTION}" in shown
    assert shown.count(f"Left open last time: {QUESTION}") == 1
    assert GREEN_INK in shown
    assert "Left open" not in loccit("chat", data=data).out


def test_an_answer_that_was_made_but_never_seen_is_shown_at_the_next_start_once(
    book: Path, data: Path, tmp_path: Path
) -> None:
    """Ctrl-C, the answer comes in the background, then the machine goes down: nobody has read it."""
    loccit("chat", book, data=data)
    with patient(data, tmp_path / "now") as screen:
        screen.expect("> ")
        screen.enter(QUESTION)
        screen.expect("Looking in the book")
        screen.send("\x03")
        screen.expect("No longer waiting")
        screen.expect("> ")
        (tmp_path / "now").touch()
        wait_for_an_answer(data)
        screen.kill()
    shown = loccit("chat", data=data, stdin="1\n").out
    assert shown.count(f"Left open last time: {QUESTION}") == 1
    assert GREEN_INK in shown
    assert "Left open" not in loccit("chat", data=data).out


def test_a_chat_killed_in_mid_answer_gives_it_at_the_next_start_once(book: Path, data: Path, tmp_path: Path) -> None:
    loccit("chat", book, data=data)
    with patient(data, tmp_path / "never") as screen:
        screen.expect("> ")
        screen.enter(QUESTION)
        screen.expect("Looking in the book")
        screen.kill()
    shown = loccit("chat", data=data, stdin="1\n").out
    assert shown.count(f"Left open last time: {QUESTION}") == 1
    assert GREEN_INK in shown
    assert "Left open" not in loccit("chat", data=data).out


def test_an_answer_that_was_seen_is_not_shown_again(book: Path, data: Path) -> None:
    loccit("chat", book, data=data, stdin=f"{QUESTION}\n")
    assert "Left open" not in loccit("chat", data=data).out


def wait_for_an_answer(data: Path) -> None:
    with closing(sqlite3.connect(data / "loccit.db")) as raw:
        deadline = time.monotonic() + 30
        while not raw.execute("select count(*) from turn").fetchone()[0]:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_new_edition_takes_the_old_ones_place_and_what_is_forgotten_is_counted_after_a_typed_yes(
    book: Path, data: Path, tmp_path: Path
) -> None:
    edition = tmp_path / "edition.txt"
    edition.write_text("Mara kept the lighthouse log in red ink.\n\nNobody in Carrow spoke of it.\n", encoding="utf-8")
    lines = [QUESTION, f"/replace {edition}", QUESTION, "1", "/forget", "/forget book 1", "no", "/forget me", "YES"]
    ran = loccit("chat", book, data=data, stdin="\n".join([*lines, "/forget book 1", "yes", "/books"]))
    assert (ran.code, ran.err) == (0, "")
    assert "It takes the place of The Lantern House" in ran.out
    assert "red ink" in ran.out.split("It takes the place of")[1]
    assert "Write what is to be forgotten" in ran.out
    assert ran.out.count("Type yes to go on") == 3
    assert ran.out.count("Nothing was deleted.") == 1
    assert "Deleted for good: 2 questions, 2 answers" in ran.out
    assert "Deleted for good: 1 book, 1 file." in ran.out
    assert "There is no book here yet" in ran.out.split("1 book, 1 file.")[1]


# Reading together


def test_the_passage_of_an_answer_can_be_saved_and_its_quote_is_marked_wherever_it_is_opened(
    tmp_path: Path, book: Path, data: Path
) -> None:
    lines = [QUESTION, "1", "save the quote", "Save the quote", "/quotes", "1", "/quotes export"]
    ran = loccit("chat", book, data=data, cwd=tmp_path, stdin="\n".join(lines))
    assert ran.out.count("[Save the quote]") == 2
    assert "Saved for everybody here." in ran.out
    assert "This one is saved here already." in ran.out
    assert ran.out.count(f"»Mara kept the {GREEN_INK}") == 2
    assert f"Written to {tmp_path / 'quotes.md'}." in ran.out


def test_a_yes_without_its_accent_is_one(book: Path, data: Path) -> None:
    ran = loccit("chat", book, data=data, stdin=f"{QUESTION}\n/forget me\nsi\n", LOCCIT_LOCALE="es_ES")
    assert "Borrado para siempre" in ran.out, ran.out


def test_a_step_turns_what_was_said_last(book: Path, data: Path) -> None:
    lines = ["/who Mara", "1", ">", "after", "<", QUESTION, "1", ">", "/who Mara", "2", "1", "before"]
    said = loccit("chat", book, data=data, stdin="\n".join(lines)).out
    assert "No passage is open" not in said
    assert "I found nothing" not in said, "a step was asked of the book"
    assert said.count("1 closes it") == 2
    assert said.count("[Save the quote]") == 8


def test_places_of_words_are_turned_over_and_opened(book: Path, data: Path) -> None:
    ran = loccit("chat", book, data=data, stdin="/quote the\n>\nopen 6\n/quote green ink\nopen 2\n")
    said = " ".join(ran.out.split())
    assert "Word for word in The Lantern House; the first 10 places:" in said
    assert "[Open 1]" in said
    assert "[Open 6]" in said
    assert said.count("[Save the quote]") == 2
    assert f"»Mara kept the {GREEN_INK}" in said


def test_the_latest_answer_can_be_called_wrong_and_deleted(book: Path, data: Path) -> None:
    lines = ["/more", QUESTION, "/more", "wrong / not in the book", "/more", "delete", "1"]
    ran = loccit("chat", book, data=data, stdin="\n".join(lines))
    assert "There is no answer yet; ask something first." in ran.out
    assert "[Shorter]" in ran.out
    assert "Thank you; whoever runs this bot" in ran.out
    assert "The answer was deleted." in ran.out
    assert "There is no answer with a footnote 1 yet" in ran.out
