"""Ranking: the reading limit, determinism, budgets, damaged files, and recall on questions with known evidence."""

import random
import re
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from core import ranking, tags
from core.formats.runs import cut_runs
from core.model import ParsedBook, Position, Span, SpineFile
from core.ranking.windows import WINDOW, cut_windows, mark, weight
from core.words import tokens
from tests.bench.qa import TARGETS, covered, delivered, parsed, records
from tests.parts import SHARED, needs_shared

_WORDS = re.findall(
    r"\w+",
    """river mountain lantern captain window silver garden winter letter bridge sailor kettle shadow market village doctor
    candle orchard stranger thunder harbour feather castle journey mirror blanket tunnel whistle pocket ladder""",
)


def _book(texts: list[str], language: str = "en", joins: dict[int, str] | None = None) -> ParsedBook:
    files = tuple(SpineFile(number, "", text, (joins or {}).get(number)) for number, text in enumerate(texts))
    runs = tuple(run for file in files for run in cut_runs(file))
    return ParsedBook("A book", (), language, "txt", "1", files, runs, (), (), ())


def _story(seed: int = 1, files: int = 5, paragraphs: int = 30) -> list[str]:
    chance = random.Random(seed)

    def sentence() -> str:
        return " ".join(chance.choices(_WORDS, k=chance.randrange(6, 18))).capitalize() + "."

    return [
        "\n\n".join(" ".join(sentence() for _ in range(chance.randrange(1, 7))) for _ in range(paragraphs))
        for _ in range(files)
    ]


def _open(path: Path, book: ParsedBook) -> ranking.RankTable:
    ranking.build(path, book)
    return ranking.RankTable.open(path)


def _text(book: ParsedBook, run: Span) -> str:
    return book.files[run.file].text[run.start : run.end]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book's #1 %20?.rank"


def test_windows_hold_every_run_overlap_and_stay_inside_their_size() -> None:
    book = _book([*_story(), "One endless paragraph. " * 400, ""])
    weights = [weight(_text(book, run)) for run in book.runs]
    windows = cut_windows(mark(book), weights)
    assert {run for begin, end in windows for run in range(begin, end)} == set(range(len(book.runs)))
    assert windows == sorted(windows)
    for begin, end in windows:
        assert sum(weights[begin:end]) <= 2 * WINDOW
        assert len({book.runs[run].file for run in range(begin, end)}) == 1
    assert sum(following[0] < before[1] for before, following in pairwise(windows)) > len(windows) * 0.8


def test_a_window_goes_over_a_page_only_where_the_paragraph_runs_on() -> None:
    pages = ["It began here and", "ended on this page.", "A new page."]
    joined = _book(pages, joins={0: " "})
    assert cut_windows(mark(joined), [20, 20, 20]) == [(0, 2), (2, 3)]
    assert cut_windows(mark(_book(pages)), [20, 20, 20]) == [(0, 1), (1, 2), (2, 3)]


def test_the_passage_with_the_words_comes_first(path: Path) -> None:
    texts = _story()
    texts[3] += "\n\nThe astronomer polished her brass telescope before the eclipse."
    book = _book(texts)
    table = _open(path, book)
    ranked = table.search("What did the astronomer polish?", "en")
    assert any("telescope" in _text(book, run) for run in ranked.windows[0].runs)
    assert ranked.terms == ("astronomer", "polish")
    assert ranked.missing == ()
    assert ranked.windows[0].share == pytest.approx(1.0)
    assert table.search("Which zeppelin?", "en").missing == ("zeppelin",)
    table.close()


@pytest.mark.parametrize("question", ["", "What is it about?", "???", '" OR NEAR( *', "\U0001f409", "ⅷ ²", "a" * 5000])
def test_odd_questions_find_nothing_and_break_nothing(path: Path, question: str) -> None:
    table = _open(path, _book(_story()))
    assert table.search(question, "en").windows == ()
    table.close()


def test_an_empty_book_can_be_asked(path: Path) -> None:
    table = _open(path, _book([""]))
    assert table.search("anything", "en").windows == ()
    table.close()


@pytest.mark.parametrize(
    ("language", "text", "question"),
    [
        ("es", "Las hermanas cantaban canciones.", "¿Qué cantó la hermana? canción"),
        ("de", "Die Mädchen sangen fröhliche Lieder.", "Wer singt das fröhlichste Lied? Mädchen"),
        ("ru", "Счастливые ёжики бежали домой.", "Куда бежал счастливый ежик?"),
        ("ar", "ذهبَ المَلِكُ إلى المدينة مع أصحابه.", "الى اين ذهب الملك ومدينة"),
        ("zh", "孔子的弟子非常敬重老师。", "谁敬重老师？"),
        ("ja", "吾輩は猫である。名前はまだ無い。", "猫の名前は何ですか"),
        ("ko", "행복한 가정은 서로 닮았다.", "어떤 가정이 행복한가?"),
        ("th", "แมวนอนอยู่บนหลังคา", "แมวนอน"),
        ("el", "Ο λόγος του βασιλιά", "λογος;"),
    ],
)
def test_every_script_is_searched(path: Path, language: str, text: str, question: str) -> None:
    fillers = [f"{word} {word}" for word in _WORDS]
    book = _book(["\n\n".join([*fillers, text])], language)
    table = _open(path, book)
    windows = table.search(question, language).windows
    assert windows
    assert any(text[:6] in _text(book, run) for run in windows[0].runs)
    table.close()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_what_the_index_folds_by_itself_is_folded_as_questions_are(path: Path, language: str) -> None:
    """A Chinese sign in every paragraph has them all folded here, and the index holds the same words but for it."""
    texts = [f"a{c}b {c}ing on{c} {c} {c.upper()}st{c}es" for c in map(chr, range(0x80, 0x2100))]

    def held(texts: list[str]) -> list[tuple[str, int]]:
        ranking.build(path, _book(["\n\n".join(texts)], language))
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE VIRTUAL TABLE temp.held USING fts5vocab(main, words, row)")
            return database.execute("SELECT term, doc FROM held WHERE term <> '字'").fetchall()

    assert held(texts) == held([f"{text} 字" for text in texts])


def test_no_run_past_the_limit_is_ever_returned(path: Path) -> None:
    texts = _story(seed=2)
    planted = "The forbidden pomegranate lies here."
    texts = [text.replace("\n\n", f" {planted}\n\n") for text in texts]
    book = _book(texts)
    table = _open(path, book)
    chance = random.Random(3)
    for _ in range(300):
        file = chance.randrange(len(texts))
        limit = Position(file, chance.randrange(len(texts[file]) + 1))
        question = chance.choice(["forbidden pomegranate", "river and mountain", "candle whistle ladder"])
        permitted = {run for run in book.runs if run.last <= limit}
        ranked = table.search(question, "en", limit=limit, top=10_000)
        runs = {run for window in ranked.windows for run in window.runs}
        assert runs <= permitted
        with_word = {run for run in permitted if "pomegranate" in _text(book, run)}
        if "pomegranate" in question:
            assert with_word <= runs, "the last permitted runs are still found"
    assert table.search("pomegranate", "en", limit=Position(0, 0)).windows == ()
    table.close()


def test_what_lies_beyond_the_limit_changes_nothing(tmp_path: Path) -> None:
    texts = _story(seed=4)
    book = _book(texts)
    limit = next(
        run.first for run in book.runs if run.file == 2 and run.start > 2000 and texts[2][run.start - 1] == "\n"
    )
    beyond = "\n\n".join(f"River mountain lantern {word} captain secret." for word in _WORDS * 9)
    other = _book([*texts[:2], texts[2][: limit.offset] + beyond, beyond])
    assert [run for run in book.runs if run.last <= limit] == [run for run in other.runs if run.last <= limit]
    one, two = _open(tmp_path / "one", book), _open(tmp_path / "two", other)
    for question in ("the captain's silver lantern", "river", "stranger with a feather, and secret", "candle mirror"):
        assert one.search(question, "en", limit=limit) == two.search(question, "en", limit=limit)
        assert one.search(question, "en") != two.search(question, "en")
    one.close()
    two.close()


def test_the_same_question_gives_the_same_windows_every_time(tmp_path: Path) -> None:
    book = _book(_story(seed=5))
    tables = [_open(tmp_path / name, book) for name in ("a", "b")]
    for question in ("river mountain", "the captain's letter to the village doctor"):
        answers = [table.search(question, "en") for table in (*tables, *tables)]
        assert all(answer == answers[0] for answer in answers)
        scores = [window.score for window in answers[0].windows]
        assert scores == sorted(scores, reverse=True)
    for table in tables:
        table.close()


def test_filling_never_exceeds_the_budget_and_never_repeats_a_run(path: Path) -> None:
    book = _book(_story(seed=6))
    table = _open(path, book)
    chance = random.Random(7)
    for _ in range(300):
        windows = table.search(" ".join(chance.sample(_WORDS, 3)), "en", top=1000).windows
        before = set(chance.sample(book.runs, 40))
        budget = chance.randrange(0, 3000)
        filled = ranking.fill(windows, budget, before)
        runs = [run for window in filled for run in window]
        assert len(runs) == len(set(runs))
        assert not before.intersection(runs)
        assert all(window == tuple(sorted(window)) for window in filled)
        prompt = "".join(f"{_text(book, run)} {tags.tag(run)}" for run in runs)
        assert tokens(prompt) <= budget
        if budget > 400:
            assert tokens(prompt) > budget - 200, "the last room is filled with single runs"
    table.close()


def test_a_run_costs_its_text_and_its_tag() -> None:
    assert ranking.cost("abcd" * 10, Span(0, 0, 40)) == (40 + 1 + len("[f0-0-40]") + 3) // 4
    assert ranking.cost("你好", Span(12, 100, 102)) == (8 + 1 + len("[f12-100-102]") + 3) // 4


@pytest.mark.parametrize("damage", ["missing", "empty", "text", "cut", "torn", "version", "folder"])
def test_a_damaged_table_says_so_and_can_be_built_again(path: Path, damage: str) -> None:
    book = _book(_story())
    ranking.build(path, book)
    whole = path.read_bytes()
    match damage:
        case "missing":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_text("not a database", encoding="utf-8")
        case "cut":
            path.write_bytes(whole[: len(whole) // 2])
        case "torn":
            path.write_bytes(whole[:8192] + b"\x07" * (len(whole) - 8192))
        case "version":
            with sqlite3.connect(path) as database:
                database.execute("DELETE FROM arrays WHERE name = 'version'")
            database.close()
        case _:
            path.unlink()
            path.mkdir()
    with pytest.raises(ranking.BrokenTable):
        ranking.RankTable.open(path).search("river mountain", "en")
    if damage == "folder":
        path.rmdir()
    table = _open(path, book)
    assert table.search("river mountain", "en").windows
    table.close()


def test_building_leaves_one_file(path: Path) -> None:
    _open(path, _book(_story())).close()
    _open(path, _book(_story(seed=9))).close()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@needs_shared
def test_known_evidence_is_delivered_for_most_questions(tmp_path: Path) -> None:
    assert SHARED is not None
    chance = random.Random(10)
    asked = found = 0
    for number, record in enumerate(records(SHARED / "qa")):
        book = parsed(record)
        table = _open(tmp_path / str(number), book)
        budget = TARGETS[record["set"]][0]
        for question in chance.sample(record["questions"], 40):
            windows = ranking.fill(table.search(question["q"], book.language).windows, budget)
            found += covered(book, question["evidence"], delivered(book, windows, budget))
            asked += 1
        table.close()
    assert found / asked >= 0.95
