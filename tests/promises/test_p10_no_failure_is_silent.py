"""P10: every failure is one plain sentence in the reader's language, and none shows what is inside."""

import ast
import random
import re
import string
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from bot.config import SETTINGS
from core.errors import LoccitError
from core.model import Answered, Question, Upload
from core.strings import LOCALES, say
from tests.books.lantern_epub import lantern_house as lantern_file
from tests.books.pdfs import Sheet, prose
from tests.bot.running import CHECKOUT, PATIENCE, Ran, environment, loccit
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, lantern_house, open_club
from tests.fakes.model import ScriptedModel

ERRORS = {
    "BadBook",
    "Missing",
    "ReaderError",
    "OperatorError",
    "UpstreamError",
    "BrokenPromise",
    "LoccitError",
    "Notice",
}
INSIDE = re.compile(
    r"Traceback|\b\w+(?:Error|Exception|Warning)\b|\bSELECT\b|\bINSERT\b|\bUPDATE\b|sqlite|sqlalchemy|lxml|mupdf|aiosqlite|\.py\b"
    r"|\bNone\b|\bobject at 0x|site-packages|<class|[{}]|\bnot_a_run\b|\b[a-z]+_[a-z]+_[a-z]+\b",
    re.IGNORECASE,
)
"""What a reader must never see: our class names, tools, statements, keys, and places nothing filled."""


def sentences(locale: str) -> dict[str, Any]:
    return tomllib.loads((CHECKOUT / "core" / "strings" / f"{locale}.toml").read_text(encoding="utf-8"))


def shows_inside(text: str, *typed: str) -> list[str]:
    """What of a message is not for people; words the reader typed may come back."""
    example = ": /" in text  # an example of a command may stand last
    for words in typed:
        text = text.replace(words, "")
    found = [match[0] for match in INSIDE.finditer(text)]
    if str(CHECKOUT) in text or sys.prefix in text:
        found.append("a path of the program")
    if len(text.splitlines()) != 1:
        found.append(f"{len(text.splitlines())} lines")
    if not (example or text.strip().endswith((".", "!", "?", ")", "”"))):
        found.append("not a sentence")
    return found


# Every error in the code has its sentence, and fills it


def raised() -> Iterator[tuple[str, int, str, set[str] | None]]:
    """(file, line, key, names of the parameters or None when they are passed on whole) of each error or notice made."""
    for folder in ("core", "bot", "adapters"):
        for path in sorted((CHECKOUT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS):
                    continue
                for key in _keys(node.args[0]) if node.args else ():
                    yield str(path.relative_to(CHECKOUT)), node.lineno, key, _parameters(node)


def _keys(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*_keys(node.body), *_keys(node.orelse)]
    return []  # passed on from another error, or from a table of keys


def _parameters(node: ast.Call) -> set[str] | None:
    given = {keyword.arg for keyword in node.keywords}
    if len(node.args) > 1:
        second = node.args[1]
        if not isinstance(second, ast.Dict):
            return None
        given |= {str(key.value) if isinstance(key, ast.Constant) else None for key in second.keys}
    return None if None in given else {str(name) for name in given}


def places(sentence: str | dict[str, str]) -> set[str]:
    forms = sentence.values() if isinstance(sentence, dict) else [sentence]
    found = {name for form in forms for _, name, _, _ in string.Formatter().parse(form) if name is not None}
    return found | ({"count"} if isinstance(sentence, dict) else set())


@pytest.mark.parametrize("locale", LOCALES)
def test_every_error_made_anywhere_has_a_sentence_and_fills_all_its_places(locale: str) -> None:
    known = sentences(locale)
    made = list(raised())
    assert len(made) > 80
    faults = []
    for file, line, key, given in made:
        if key not in known:
            faults.append(f"{file}:{line} {key} has no sentence")
        elif given is not None and not places(known[key]) <= given:
            faults.append(f"{file}:{line} {key} leaves {places(known[key]) - given} empty")
    assert faults == []


@pytest.mark.parametrize("locale", LOCALES)
def test_a_sentence_stays_one_line_whatever_is_put_into_it(locale: str) -> None:
    """File names, titles and choices come from strangers: a line break in one must not make a second line of ours."""
    hostile = "a\nb\r\nc\u2028d\x85e\x0bf\tg"
    for key, sentence in sentences(locale).items():
        words = {name: hostile if name != "count" else 2 for name in places(sentence)}
        texts = sentence.values() if isinstance(sentence, dict) else [sentence]
        own = max(len(text.strip("\n").splitlines()) for text in texts)
        assert own == 1 or key in ("console_help", "desk_help", "desk_help_empty")  # these fill a screen
        assert len(say(key, locale, **words).strip("\n").splitlines()) == own, key


# The club: hostile inputs through every door


WORDS = (
    "", " ", "\x00", "\ud800", "\u202e", "a\nb", "'; DROP TABLE rights; --", "%s %d {0} {title}", "../../etc/passwd", "x" * 5_000,
    "[f1-0-42]", "[f99999999999-0-1]", "[f1-42-0]", "[f-1-0-5]", "🧥" * 500, "*", "None", "-1", "1e9", "٣", "0x10", "\\", '"',
)  # fmt: skip


def doors(club: TestClub, words: str, number: int) -> dict[str, Callable[[], Awaitable[object]]]:
    async def answered() -> object:
        question = Question(f"q-{number}-{len(words)}", ROOM, MEMBER, words or "?", book=words)
        return [step.turn async for step in club.club.questions.ask(question) if isinstance(step, Answered)]

    async def added() -> object:
        upload = Upload(f"u-{number}", ROOM, MEMBER, Path("/nowhere") / "x.epub", words or "x")
        return [step async for step in club.club.add_book(upload)]

    return {
        "use": lambda: club.club.use(ROOM, MEMBER, words),
        "remove": lambda: club.club.remove(ELSEWHERE, MEMBER, words),
        "undo": lambda: club.club.undo(ELSEWHERE, MEMBER),
        "contents": lambda: club.club.contents(ROOM, words),
        "dump": lambda: club.club.dump(ROOM, words),
        "press": lambda: club.club.passages.press(ROOM, words),
        "open_tag": lambda: club.club.passages.open_tag(ROOM, None, words),
        "open_tag of a book": lambda: club.club.passages.open_tag(ROOM, words, "[f1-0-42]"),
        "find_quote": lambda: club.club.passages.find_quote(ROOM, words),
        "find_quote in a book": lambda: club.club.passages.find_quote(ROOM, "ink", words),
        "export": lambda: club.club.passages.export(ELSEWHERE),
        "ask": answered,
        "add_book": added,
    }


async def test_three_hundred_hostile_inputs_end_in_a_result_or_in_one_sentence(tmp_path: Path) -> None:
    told: set[str] = set()
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        for number, words in enumerate(WORDS):
            for name, door in doors(club, words, number).items():
                try:
                    await door()
                except LoccitError as error:
                    for locale in LOCALES:
                        message = say(error.key, locale, **error.params)
                        faults = shows_inside(message, words, " ".join(words.split()), "/nowhere")
                        assert faults == [], (name, words[:40], message)
                    told.add(error.key)
        assert [card.title for card in await club.club.shelf(ROOM)] == ["The Lantern House"]
    assert told >= {"no_such_book", "unknown_note", "not_a_run", "nothing_to_undo", "file_not_found", "quote_empty"}


async def test_an_answer_kept_whole_shows_no_internals_of_a_model_that_fails_in_odd_ways(tmp_path: Path) -> None:
    """Whatever the settled answer is, it is made of sentences; a picker that raves is not shown."""
    rng = random.Random(10)
    raves = (
        "{",
        "null",
        "[]",
        '{"answer": null}',
        "Traceback (most recent call last):",
        "\x00\x1b[31m",
        "<think>",
        "![](x)",
    )

    async with open_club(
        tmp_path, ScriptedModel(lambda request: rng.choice(raves) if request.purpose == "pick" else "")
    ) as club:
        await club.shelve(lantern_house())
        for number in range(40):
            turn = await club.ask("zxqv", event=str(number))
            assert turn.answer.outcome == "not_in_book"
            [paragraph] = turn.answer.document
            assert "Traceback" not in str(paragraph)


# The command line: a table of bad inputs


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return lantern_file(tmp_path)


def bad_files(folder: Path) -> dict[str, Path]:
    whole = lantern_file(folder).read_bytes()
    content = {
        "empty.epub": b"",
        "cut.epub": whole[: len(whole) // 2],
        "noise.pdf": bytes(range(256)) * 8,
        "cut.pdf": b"%PDF-1.7\n1 0 obj\n<<",
        "picture.epub": b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        "program.txt": b"\x7fELF" + b"\0" * 400,
        "blank.txt": b" \n\n\t \n",
        "a\nTraceback of a name.epub": b"",
    }
    for name, data in content.items():
        (folder / name).write_bytes(data)
    sheet = Sheet()
    sheet.page()
    sheet.paragraph(prose(30))
    locked = sheet.save(
        folder / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="sesame", owner_pw="owner"
    )
    return {name: folder / name for name in content} | {"locked.pdf": locked}


def one_sentence(ran: Ran, *typed: str) -> str:
    """The failure's one line; fails when it shows more, or the JSON says something else."""
    assert ran.code == 1, (ran.out, ran.err)
    assert shows_inside(ran.sentence, *typed) == [], ran.sentence
    if ran.out:
        [shape] = ran.objects
        assert shape["error"]["message"] == ran.sentence
        assert re.fullmatch(r"[a-z_]+", shape["error"]["key"])
    return ran.sentence


def test_every_bad_file_is_one_sentence_of_its_own_and_leaves_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    said = {}
    for name, path in bad_files(tmp_path).items():
        said[name] = one_sentence(loccit("text", path, "--json", data=data), path.name)
    said["wrong password"] = one_sentence(
        loccit("text", tmp_path / "locked.pdf", "--password", "wrong", "--json", data=data)
    )
    assert said["empty.epub"] == "This file is empty; download it again and add that copy."
    assert said["locked.pdf"].startswith("This PDF needs a password")
    assert said["wrong password"].startswith("That password does not open")
    assert len(set(said.values())) >= 7
    assert list((data / "ranks").glob("*")) == []
    assert loccit("chat", data=data, stdin="/books\n").out.count("no book here") >= 1


ARGUMENTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("ask", "nowhere.epub", "What ink?"), "book_not_found"),
    (("text", "no\nsuch\nbook"), "book_not_found"),
    (("text", "0" * 64), "book_not_found"),
    (("text", "x" * 5_000), "book_not_found"),
    (("text", ""), "console_not_a_file"),
    (("ask", "BOOK", " "), "question_empty"),
    (("quote", "BOOK", "  "), "quote_empty"),
    (("passage", "BOOK", "[f1-0-3]"), "not_a_run"),
    (("passage", "BOOK", "[f99-0-10]"), "not_a_run"),
    (("passage", "BOOK", "drop table"), "not_a_run"),
    (("passage", "BOOK", "a\nb"), "not_a_run"),
    (("text", "/dev/zero"), "console_not_a_file"),
    (("text", "/"), "console_not_a_file"),
)


def test_every_bad_argument_is_one_sentence(tmp_path: Path, book: Path) -> None:
    data = tmp_path / "data"
    for words, key in ARGUMENTS:
        ran = loccit(*(str(book) if word == "BOOK" else word for word in words), "--json", data=data)
        one_sentence(ran, *words, *(" ".join(word.split()) for word in words))
        assert ran.objects[0]["error"]["key"] == key, words


def test_a_data_folder_that_cannot_be_used_and_settings_that_cannot_be_read_are_one_sentence(
    tmp_path: Path, book: Path
) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "inside", Path("/proc/nowhere")):
        one_sentence(loccit("ask", book, "What ink?", "--json", "--data", folder), str(folder))
    settings = {
        "broken": "data = [",
        "unknown": "dta = 'x'",
        "wrong": "data = 3",
        "binary": "\x00\x01",
    }
    for name, text in settings.items():
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        one_sentence(loccit("text", book, LOCCIT_CONFIG=str(path)), str(path), *SETTINGS)
    one_sentence(loccit("text", book, LOCCIT_CONFIG=str(tmp_path)), str(tmp_path), "LOCCIT_")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "loccit.db").write_bytes(b"this is no database " * 500)
    one_sentence(loccit("text", book, "--json", "--data", damaged))
    assert (damaged / "loccit.db").read_bytes().startswith(b"this is no database")


def test_a_disk_that_takes_no_more_is_one_sentence_and_nothing_is_half_stored(tmp_path: Path) -> None:
    """The kernel lets no file of the process grow past a size, at every step of the way: start, original, text, index."""
    big = lantern_file(tmp_path, filler=2_000)
    data = tmp_path / "data"
    assert loccit("chat", data=data).code == 0
    said = []
    for kilobytes in (0, 4, 64, 300, 600, 800, 1_000):
        done = subprocess.run(
            [
                *("bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "sh"),
                *(sys.executable, "-m", "bot", "text", str(big), "--json"),
            ],
            capture_output=True,
            env=environment(LOCCIT_DATA=str(data)),
            timeout=PATIENCE,
            check=False,
        )
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        if ran.code:
            said.append(one_sentence(ran, str(data)))
    assert len(said) >= 4
    assert any("disk" in sentence.casefold() for sentence in said)
    ran = loccit("ask", big, "What ink was the log kept in?", "--json", data=data)
    assert ran.code == 0
    assert ran.objects[0]["footnotes"]


DIALOGUE: tuple[tuple[str, str], ...] = (
    ("What ink?", "no book here"),
    ("7", "7"),
    ("/nonsense", "/nonsense"),
    ("/add nowhere.epub", "nowhere.epub"),
    ("/add", "/add"),
    ("/use 9", "no book here"),
    ("/remove 9", "no book here"),
    ("/undo", "nothing to bring back"),
    ("/export", "nothing to export"),
    ("/quote", "/quote"),
    (">", "No passage is open"),
    ("\x1b[31m\x00\x07", "no book here"),
)
"""Lines typed into an empty folder, and what the one sentence that answers must hold."""


def test_the_dialogue_answers_every_bad_line_with_one_sentence_and_goes_on(tmp_path: Path) -> None:
    ran = loccit("chat", data=tmp_path / "data", cwd=tmp_path, stdin="".join(f"{line}\n" for line, _ in DIALOGUE))
    assert (ran.code, ran.err) == (0, "")
    said = [line for line in ran.out.splitlines() if line][2:]  # after the greeting
    assert len(said) == len(DIALOGUE), said
    for (line, wanted), sentence in zip(DIALOGUE, said, strict=True):
        assert wanted in sentence, line
        assert shows_inside(sentence, line, "nowhere.epub") == [], sentence
        assert sentence.isprintable()


def test_the_dialogue_with_a_book_answers_unknown_and_removed_notes_and_bad_places(tmp_path: Path, book: Path) -> None:
    (tmp_path / "there.md").write_text("kept")
    lines = {
        "99": "99",
        "/export there.md": "exists already",
        "/export there.md/inside.md": "could not be written",
        "/use nothing like it": "nothing like it",
        "/quote zebras paint submarines": "Nothing like that stands",
        "/remove 1": "was removed",
        "1": "was removed from here",
        "What ink?": "no book here",
    }
    script = "What did Mara keep the log in?\n" + "".join(f"{line}\n" for line in lines)
    ran = loccit("chat", book, data=tmp_path / "data", cwd=tmp_path, stdin=script)
    assert (ran.code, ran.err) == (0, "")
    said = [line for line in ran.out.splitlines() if line][-len(lines) :]
    for (line, wanted), sentence in zip(lines.items(), said, strict=True):
        assert wanted in sentence, (line, said)
        assert shows_inside(sentence, line, str(tmp_path)) == [], sentence
    assert (tmp_path / "there.md").read_text() == "kept"
