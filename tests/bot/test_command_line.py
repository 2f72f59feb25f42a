"""The headless commands: exact JSON shapes, exit codes, one sentence for every failure, nothing imported too early."""

import os
import re
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest

from tests.books.lantern_epub import CHAPTERS, lantern_house
from tests.bot.running import CHECKOUT, PATIENCE, command, environment, loccit

QUESTION = "What did Mara keep the log in?"
LATE = {
    "aiohttp", "aiosqlite", "alembic", "asyncio", "bs4", "charset_normalizer", "core.club", "core.store", "discord", "ebooklib",
    "httpx", "httpx2", "lxml", "mammoth", "markdown_it", "openai", "procrastinate", "psycopg", "pymupdf", "selectolax",
    "slack_bolt", "slack_sdk", "sqlalchemy", "sqlite3", "telegram",
}  # fmt: skip
"""What costs time to import and is not needed before a command runs."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return lantern_house(tmp_path)


# Start


def test_help_imports_no_platform_no_pdf_library_and_no_provider_client() -> None:
    program = "import sys\nfrom bot.__main__ import main\ntry:\n main(['--help'])\nexcept SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), check=True, cwd=CHECKOUT
    )
    assert "usage: loccit" in ran.stdout
    assert LATE & set(ran.stderr.split()) == set()


@pytest.mark.parametrize(
    "words", [[], ["nonsense"], ["ask"], ["ask", "book"], ["text"], ["ask", "b", "q", "--evidence-tokens", "0"]]
)
def test_wrong_usage_exits_with_two(words: list[str], data: Path) -> None:
    ran = loccit(*words, data=data)
    assert ran.code == 2
    assert "usage:" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["stats", "--json"],
        ["doctor"],
        ["backup", "saved.zip"],
        ["forget", "reader", "telegram:1", "--yes"],
        ["index", "0" * 64],
        ["passage", "0" * 64, "[f0-0-1]"],
        ["run"],
    ],
    ids=lambda words: words[0],
)
def test_a_program_started_from_nothing_does_what_one_does_that_was_forked(
    words: list[str], data: Path, tmp_path: Path
) -> None:
    """Most tests fork theirs (tests/programs.py)."""
    forked = loccit(*words, data=data, cwd=tmp_path, SLACK_BOT_TOKEN="xoxb-1")
    settings = environment(LOCCIT_DATA=str(data), SLACK_BOT_TOKEN="xoxb-1")
    started = subprocess.run(command(*words), capture_output=True, text=True, env=settings, cwd=tmp_path, check=False)
    assert (started.returncode, started.stdout, started.stderr) == (forked.code, forked.out, forked.err)
    assert forked.out or forked.err


# Shapes


def test_text_prints_exactly_the_promised_shape(book: Path, data: Path) -> None:
    ran = loccit("text", book, "--json", data=data)
    assert (ran.code, ran.err) == (0, "")
    [shape] = ran.objects
    assert list(shape) == ["book", "files", "toc", "chapters", "runs", "segments", "warnings"]
    assert list(shape["book"]) == ["sha256", "title", "authors", "language", "format", "text_version"]
    assert shape["book"]["sha256"] == sha256(book.read_bytes()).hexdigest()
    assert shape["book"]["title"] == "The Lantern House"
    for file in shape["files"]:
        assert list(file) == ["index", "label", "text", "sha256", "join"]
        assert file["sha256"] == sha256(file["text"].encode()).hexdigest()
    assert [list(entry) for entry in shape["toc"]] == [["title", "depth", "file", "offset"]] * 3
    assert [chapter["title"] for chapter in shape["chapters"]] == [title for title, _ in CHAPTERS]
    for chapter in shape["chapters"]:
        assert list(chapter) == ["number", "title", "start", "end"]
        assert len(chapter["start"]) == len(chapter["end"]) == 2
    for segment in shape["segments"]:
        assert list(segment) == ["sequence", "title", "start", "end", "summary"]
    texts = [file["text"] for file in shape["files"]]
    covered = [texts[file][start:end] for file, start, end in shape["runs"]]
    assert "".join("".join(covered).split()) == "".join("".join(texts).split())


def test_ask_prints_exactly_the_promised_shape_and_its_notes_are_the_books_text(book: Path, data: Path) -> None:
    [shape] = loccit("ask", book, QUESTION, "--json", data=data).objects
    assert list(shape) == [
        "question", "outcome", "text", "footnotes", "evidence", "dropped", "notices", "usage", "model", "limit",
    ]  # fmt: skip
    assert (shape["question"], shape["model"], shape["outcome"], shape["limit"]) == (
        QUESTION,
        "offline",
        "grounded",
        None,
    )
    assert list(shape["usage"]) == ["calls", "input_tokens", "output_tokens"]
    assert all(list(notice) == ["key", "message"] for notice in shape["notices"])
    [text] = loccit("text", book, "--json", data=data).objects
    assert shape["footnotes"]
    for note in shape["footnotes"]:
        assert list(note) == ["number", "tag", "file", "start", "end", "quote", "heading", "label"]
        assert note["quote"] == text["files"][note["file"]]["text"][note["start"] : note["end"]]
        assert note["tag"] == f"[f{note['file']}-{note['start']}-{note['end']}]"
        assert f"[{note['number']}]" in shape["text"]
        assert [note["file"], note["start"], note["end"]] in shape["evidence"]
    assert all(run in text["runs"] for run in shape["evidence"])


def test_passage_prints_exactly_the_promised_shape(book: Path, data: Path) -> None:
    [answer] = loccit("ask", book, QUESTION, "--json", data=data).objects
    note = answer["footnotes"][0]
    [shape] = loccit("passage", book, note["tag"], "--json", data=data).objects
    assert list(shape) == ["tag", "file", "start", "end", "quote", "before", "after", "heading", "label"]
    assert shape["quote"] == note["quote"]
    [text] = loccit("text", book, "--json", data=data).objects
    joined = "\n\n".join(file["text"] for file in text["files"])
    assert shape["before"] + shape["quote"] + shape["after"] in joined


def test_quote_prints_exactly_the_promised_shape(book: Path, data: Path) -> None:
    [shape] = loccit("quote", book, "The green ink in the log was not Mara's", "--json", data=data).objects
    assert list(shape) == ["match", "hits"]
    assert shape["match"] == "verbatim"
    assert list(shape["hits"][0]) == ["file", "start", "end", "quote", "heading"]
    [near] = loccit("quote", book, "it still smells like salt", "--json", data=data).objects
    assert near["match"] == "near"
    [none] = loccit("quote", book, "zebras paint submarines at noon", "--json", data=data).objects
    assert none == {"match": "none", "hits": []}


def test_without_json_people_read_the_same_facts(book: Path, data: Path) -> None:
    ran = loccit("ask", book, QUESTION, data=data)
    assert ran.code == 0
    assert "[1] The Lantern House · Green Ink" in ran.out
    assert "lighthouse log in green ink" in ran.out
    assert "\x1b" not in ran.out
    assert "Nobody in Carrow spoke of it." in loccit("text", book, data=data).out


# Which book


def test_a_book_is_added_once_and_found_by_its_id(book: Path, data: Path) -> None:
    [first] = loccit("text", book, "--json", data=data).objects
    sha = first["book"]["sha256"]
    copy = book.with_name("copy.bin")
    copy.write_bytes(book.read_bytes())
    assert loccit("text", copy, "--json", data=data).objects == [first]
    for name in (sha, sha[:8], sha[:12].upper()):
        assert loccit("text", name, "--json", data=data).objects == [first]


def test_a_name_that_is_no_book_is_one_sentence(book: Path, data: Path) -> None:
    [first] = loccit("text", book, "--json", data=data).objects
    for name in ("nowhere.epub", first["book"]["sha256"][:7], "0" * 64, "x" * 5000, ""):
        ran = loccit("text", name, "--json", data=data)
        assert ran.code == 1, name
        assert list(ran.objects[0]) == ["error"]
        assert list(ran.objects[0]["error"]) == ["key", "message"]
        assert ran.objects[0]["error"]["message"] == ran.sentence


def test_several_books_print_one_object_a_line_and_one_that_fails_stops_no_other(book: Path, data: Path) -> None:
    second = lantern_house(book.parent, title="The Second House")
    ran = loccit("text", book, "nowhere.epub", second, "--json", data=data)
    assert ran.code == 1
    assert [next(iter(shape)) for shape in ran.objects] == ["book", "error", "book"]
    asked = loccit("ask", book, second, QUESTION, "--json", data=data)
    assert asked.code == 0
    assert [shape["question"] for shape in asked.objects] == [QUESTION, QUESTION]


# Questions


def test_questions_from_stdin_are_answered_a_line_each_and_a_failed_one_stops_no_other(book: Path, data: Path) -> None:
    ran = loccit("ask", book, "-", "--json", data=data, stdin=f"{QUESTION}\n\nWho came by ferry?\r\n")
    assert ran.code == 1
    assert [next(iter(shape)) for shape in ran.objects] == ["question", "error", "question"]
    assert ran.objects[1]["error"]["key"] == "question_empty"
    assert ran.objects[2]["question"] == "Who came by ferry?"


def test_a_smaller_budget_consults_less_of_the_book(tmp_path: Path, data: Path) -> None:
    book = lantern_house(tmp_path, filler=200)
    words = "Which line of the harbour book names a boat?"
    [large] = loccit("ask", book, words, "--json", "--evidence-tokens", "4000", data=data).objects
    [small] = loccit("ask", book, words, "--json", "--evidence-tokens", "300", data=data).objects
    assert 0 < len(small["evidence"]) < len(large["evidence"])


def test_a_question_on_the_command_line_leaves_the_latest_answer_of_the_chat_alone(book: Path, data: Path) -> None:
    loccit("chat", book, data=data, stdin="What did Ivo bring on the ferry?\n")
    before = loccit("chat", data=data, stdin="1\n").out
    assert "[1] The Lantern House" in before
    loccit("ask", book, "Who kept the log in green ink?", data=data)
    assert loccit("chat", data=data, stdin="1\n").out == before


# Failures


@pytest.mark.parametrize("tag", ["[f1-0-3]", "[f99-0-10]", "nonsense", ""])
def test_a_tag_that_is_no_run_is_an_error(book: Path, data: Path, tag: str) -> None:
    ran = loccit("passage", book, tag, "--json", data=data)
    assert ran.code == 1
    assert ran.objects[0]["error"]["key"] == "not_a_run"
    assert ran.sentence


def test_bad_files_are_one_sentence_each_and_nothing_of_them_is_kept(tmp_path: Path, data: Path, book: Path) -> None:
    whole = book.read_bytes()
    for name, content in {"empty": b"", "cut.epub": whole[:700], "noise.pdf": bytes(range(256)) * 8}.items():
        (tmp_path / name).write_bytes(content)
        ran = loccit("text", tmp_path / name, "--json", data=data)
        assert ran.code == 1, name
        assert "reference" not in ran.sentence, name
    for place in (tmp_path, Path("/dev/zero")):
        ran = loccit("text", place, "--json", data=data)
        assert ran.objects[0]["error"]["key"] == "console_not_a_file"
    for content in (b"", whole[:700]):
        assert loccit("text", sha256(content).hexdigest(), data=data).code == 1
    assert "There is no book here yet" in loccit("chat", data=data).out


def test_a_data_folder_that_cannot_be_written_is_one_sentence(book: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "inside", Path("/proc/nowhere")):
        ran = loccit("ask", book, QUESTION, "--json", "--data", folder)
        assert ran.code == 1
        assert ran.objects[0]["error"]["key"] == "data_folder_unusable"
        assert str(folder) in ran.sentence


def test_a_full_disk_under_stdout_is_one_sentence(book: Path, data: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("text", book, "--json"),
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(LOCCIT_DATA=str(data)),
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 1
    assert len(done.stderr.decode().splitlines()) == 1
    assert loccit("text", book, data=data).code == 0


def test_a_reader_that_goes_away_is_no_failure(book: Path, data: Path) -> None:
    loccit("text", book, data=data)
    with subprocess.Popen(
        command("text", book, book, book, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(LOCCIT_DATA=str(data)),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 141


def test_ctrl_c_ends_a_command_that_waits_for_questions(book: Path, data: Path) -> None:
    with subprocess.Popen(
        command("ask", book, "-", "--json"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(LOCCIT_DATA=str(data)),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(f"{QUESTION}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline().startswith(b'{"question"')
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read() == b""
    assert loccit("ask", book, QUESTION, data=data).code == 0


def test_sentences_come_in_the_language_of_the_system(book: Path, data: Path) -> None:
    ran = loccit("text", "nada.epub", data=data, LC_ALL="", LANG="es_ES.UTF-8")
    assert ran.sentence.startswith("nada.epub no es un archivo")


def test_an_unknown_setting_is_one_sentence(tmp_path: Path, book: Path) -> None:
    (tmp_path / "loccit.toml").write_text('dta = "x"\n')
    ran = loccit("text", book, LOCCIT_CONFIG=str(tmp_path / "loccit.toml"))
    assert ran.code == 1
    assert "dta" in ran.sentence


# Sharing the folder


def test_while_a_chat_is_open_writing_commands_are_refused_and_reading_ones_work(book: Path, data: Path) -> None:
    [text] = loccit("text", book, "--json", data=data).objects
    with subprocess.Popen(
        command("chat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(LOCCIT_DATA=str(data))
    ) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        chat.stdout.readline()
        for words in (["chat"], ["ask", book, QUESTION], ["text", book]):
            ran = loccit(*words, data=data)
            assert ran.code == 1
            assert "Loccit is running on the data folder" in ran.sentence
        assert loccit("text", text["book"]["sha256"], "--json", data=data).objects == [text]
        chat.stdin.close()
        assert chat.wait(PATIENCE) == 0


def test_commands_that_write_at_once_wait_for_each_other(book: Path, data: Path) -> None:
    running = [
        subprocess.Popen(
            command("ask", book, QUESTION, "--json"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(LOCCIT_DATA=str(data)),
        )
        for _ in range(3)
    ]
    for process in running:
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, b"")
        assert out.count(b"\n") == 1


def test_a_command_killed_at_any_moment_leaves_a_folder_that_works(tmp_path: Path, data: Path) -> None:
    book = lantern_house(tmp_path, filler=300)
    for delay in (0.1, 0.3, 0.5, 0.7, 0.9):
        with subprocess.Popen(
            command("ask", book, QUESTION),
            stdout=subprocess.DEVNULL,
            env=environment(LOCCIT_DATA=str(data)),
            start_new_session=True,
        ) as process:
            time.sleep(delay)
            os.killpg(process.pid, signal.SIGKILL)
    ran = loccit("ask", book, QUESTION, "--json", data=data)
    assert (ran.code, ran.err) == (0, "")
    assert ran.objects[0]["footnotes"]


# The demo


def test_the_demo_adds_the_bundled_book_asks_twice_and_opens_a_footnote(data: Path) -> None:
    ran = loccit("demo", data=data, stdin="never read\n")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("Footnote") >= 2
    assert re.search(r"»[^«]*Mr\. Collins[^«]*Longbourn", ran.out)
    assert "never read" not in ran.out
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- transcript -->")[2].partition("<!-- /transcript -->")[0]
    assert _words(ran.out).endswith(_words(shown.strip().strip("`"))), "the README shows another tour"
    again = loccit("demo", data=data)
    assert "nothing was read twice" in again.out


def _words(text: str) -> str:
    """Without the lines and bars of a page of some width."""
    return " ".join(text.replace("│", " ").split())
