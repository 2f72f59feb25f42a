"""Reading limits from people's words: what each spelling means, what is asked back, and never a position past the meaning."""

import re
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ReaderError
from core.limits import read_limit, say_limit, strictest
from core.model import WHOLE_BOOK, Chapter, Contents, Limit, PageMark, Position, TocEntry
from core.strings import LOCALES, say


def contents_of(
    lines: list[tuple[str, int, int, int]],
    chapters: list[tuple[str, tuple[int, int], tuple[int, int]]],
    lengths: tuple[int, ...],
    pages: list[tuple[str, int, int]] | None = None,
    labels: tuple[str, ...] | None = None,
) -> Contents:
    return Contents(
        "0" * 64,
        "1",
        lengths,
        labels or ("",) * len(lengths),
        (None,) * len(lengths),
        tuple(TocEntry(*line) for line in lines),
        tuple(
            Chapter(number, title, Position(*start), Position(*end))
            for number, (title, start, end) in enumerate(chapters, 1)
        ),
        tuple(PageMark(*page) for page in pages or []),
    )


# Two parts with a leaf of their own before the first chapter; the parts number their chapters anew.
BOOK = contents_of(
    [
        ("Preface", 1, 0, 0),
        ("Part One", 1, 1, 0),
        ("I. The Ferry", 2, 1, 10),
        ("II. Storm", 2, 2, 0),
        ("Part Two: The Betrayal", 1, 3, 0),
        ("I. The Return", 2, 3, 20),
        ("II. Storm", 2, 4, 0),
        ("Afterword", 1, 5, 0),
    ],
    [
        ("I. The Ferry", (1, 10), (2, 0)),
        ("II. Storm", (2, 0), (3, 0)),
        ("I. The Return", (3, 20), (4, 0)),
        ("II. Storm", (4, 0), (5, 0)),
    ],
    (100, 110, 200, 120, 200, 50),
    [("ix", 0, 0), ("1", 1, 0), ("2", 1, 60), ("3", 2, 0), ("4", 3, 0)],
)
PDF = contents_of([], [], (50, 50, 50, 50), labels=("i", "ii", "1", "2"))

MEANT: list[tuple[str, str, Position | None]] = [
    ("start", "start", Position(0, 0)),
    ("el inicio", "start", Position(0, 0)),
    ("Início", "start", Position(0, 0)),
    ("all", "all", None),
    ("Todo el libro", "all", None),
    ("tudo", "all", None),
    ("finished", "all", None),
    ("finished the book", "all", None),
    ("terminado el libro", "all", None),
    ("in 1", "in 1", Position(1, 10)),
    ("in 3", "in 3", Position(3, 0)),  # the heading of Part Two, which lies between, is not read yet
    ("in chapter 3", "in 3", Position(3, 0)),
    ("en el capítulo 3", "in 3", Position(3, 0)),
    ("no capítulo 3", "in 3", Position(3, 0)),
    ("em 3", "in 3", Position(3, 0)),
    ("before chapter 3", "in 3", Position(3, 0)),
    ("finished 2", "finished 2", Position(3, 0)),
    ("Finished chapter 2.", "finished 2", Position(3, 0)),
    ("up to the end of chapter 2", "finished 2", Position(3, 0)),
    ("hasta el capítulo 2", "finished 2", Position(3, 0)),
    ("terminado 2", "finished 2", Position(3, 0)),
    ("acabado el capítulo 2", "finished 2", Position(3, 0)),
    ("até ao capítulo 2", "finished 2", Position(3, 0)),
    ("terminei o capítulo 2", "finished 2", Position(3, 0)),
    ("2", "finished 2", Position(3, 0)),
    ("chapter 2", "finished 2", Position(3, 0)),
    ("cap. 2", "finished 2", Position(3, 0)),
    ("#2", "finished 2", Position(3, 0)),
    ("finished 0", "start", Position(0, 0)),
    ("finished chapter III", "finished 3", Position(4, 0)),
    ("en el capítulo III", "in 3", Position(3, 0)),
    ("terminei o capítulo terceiro", "finished 3", Position(4, 0)),
    ("acabado el cuarto capítulo", "finished 4", Position(5, 0)),
    ("in the third chapter", "in 3", Position(3, 0)),
    ("in The Ferry", "in 1", Position(1, 10)),
    ("finished “the ferry”", "finished 1", Position(2, 0)),
    ("finished I. The Return", "finished 3", Position(4, 0)),
    ("in Return", "in 3", Position(3, 0)),
    ("finished Part One", "finished 2", Position(3, 0)),
    ("in Part Two", "in 3", Position(3, 0)),
    ("finished Part Two: The Betrayal", "finished 4", Position(5, 0)),
    ("finished Part Two › II", "finished 4", Position(5, 0)),
    ("finished Part Two > Storm", "finished 4", Position(5, 0)),
    ("in part one / 2", "in 2", Position(2, 0)),
    ("finished Preface", "finished Preface", Position(1, 0)),
    ("in Preface", "start", Position(0, 0)),
    ("in Afterword", "finished 4", Position(5, 0)),
    ("finished Afterword", "finished Afterword", Position(5, 50)),
    ("page 2", "page 2", Position(2, 0)),
    ("p. 2", "page 2", Position(2, 0)),
    ("hasta la página 2", "page 2", Position(2, 0)),
    ("até a página 2", "page 2", Position(2, 0)),
    ("on page 2", "page 1", Position(1, 60)),
    ("page ix", "page ix", Position(1, 0)),
    ("on page ix", "start", Position(0, 0)),
    ("page 4", "page 4", Position(5, 50)),
    ("50%", "50%", Position(2, 180)),
    ("50 %", "50%", Position(2, 180)),
    ("finished 50 percent", "50%", Position(2, 180)),
    ("hasta el 50 por ciento", "50%", Position(2, 180)),
    ("12,5 %", "12.5%", Position(0, 97)),
    ("12.50 %", "12.5%", Position(0, 97)),
    ("0 %", "start", Position(0, 0)),
    ("100 %", "all", None),
]


@pytest.mark.parametrize(("words", "kept", "position"), MEANT, ids=[words for words, _, _ in MEANT])
def test_words_mean_a_position_and_are_kept_in_one_spelling(words: str, kept: str, position: Position | None) -> None:
    assert read_limit(words, BOOK) == Limit(kept, position)


@pytest.mark.parametrize(("words", "kept", "position"), MEANT, ids=[words for words, _, _ in MEANT])
def test_the_kept_spelling_means_the_same_when_it_is_read_again(
    words: str, kept: str, position: Position | None
) -> None:
    assert read_limit(kept, BOOK) == Limit(kept, position)


def test_pages_go_by_the_printed_label_first_and_else_by_the_file() -> None:
    assert read_limit("page 1", PDF, paged=True).position == Position(3, 0)
    assert read_limit("page ii", PDF, paged=True).position == Position(2, 0)
    assert read_limit("page 3", PDF, paged=True) == Limit("page 3", Position(3, 0))
    assert read_limit("on page 1", PDF, paged=True) == Limit("page ii", Position(2, 0))
    unnumbered = contents_of([], [], (50, 50, 50))
    assert read_limit("page 2", unnumbered, paged=True) == Limit("page 2", Position(2, 0))


REFUSED = [
    ("", "limit_unreadable"),
    ("   ", "limit_unreadable"),
    ("finished 9", "limit_no_such_chapter"),
    ("in chapter 5", "limit_no_such_chapter"),
    ("finished chapter II", "limit_which"),
    ("in chapter IX", "limit_no_such_title"),
    ("finished The Murder", "limit_no_such_title"),
    ("banana", "limit_no_such_title"),
    ("finished the", "limit_no_such_title"),
    ("in T", "limit_no_such_title"),
    ("page 77", "limit_no_such_page"),
    ("101 %", "limit_past_hundred"),
    ("finished Storm", "limit_which"),
    ("in II", "limit_which"),
]


@pytest.mark.parametrize(("words", "key"), REFUSED)
def test_what_names_no_place_is_refused_with_one_sentence_in_each_language(words: str, key: str) -> None:
    with pytest.raises(ReaderError) as refused:
        read_limit(words, BOOK)
    assert refused.value.key == key
    for locale in LOCALES:
        sentence = say(key, locale, **refused.value.params)
        assert sentence.endswith(".")
        assert "{" not in sentence


def test_a_book_without_pages_or_chapters_says_so() -> None:
    with pytest.raises(ReaderError, match="limit_no_pages"):
        read_limit("page 3", contents_of([], [], (50,)))
    with pytest.raises(ReaderError, match="limit_no_chapters"):
        read_limit("finished 3", contents_of([], [], (50,)))


def test_an_ambiguous_title_is_asked_back_without_the_titles_past_the_limit_of_now() -> None:
    with pytest.raises(ReaderError) as whole:
        read_limit("finished Storm", BOOK)
    assert whole.value.params["choices"] == "2. Part One › II. Storm · 4. Part Two: The Betrayal › II. Storm"
    with pytest.raises(ReaderError) as limited:
        read_limit("finished Storm", BOOK, shown=Position(3, 0))
    assert limited.value.params["choices"] == "2. Part One › II. Storm · 4"
    with pytest.raises(ReaderError) as at_start:
        read_limit("finished Storm", BOOK, shown=Position(0, 0))
    assert at_start.value.params["choices"] == "2 · 4"


def test_a_chapter_number_that_the_book_prints_on_another_chapter_is_asked_back() -> None:
    book = contents_of(
        [("Prologue", 1, 0, 0), ("Chapter 1", 1, 1, 0), ("Chapter 2", 1, 2, 0)],
        [("Prologue", (0, 0), (1, 0)), ("Chapter 1", (1, 0), (2, 0)), ("Chapter 2", (2, 0), (3, 0))],
        (50, 50, 50, 1),
    )
    with pytest.raises(ReaderError) as refused:
        read_limit("finished chapter 2", book)
    assert refused.value.params["choices"] == "2. Chapter 1 · 3. Chapter 2"
    assert read_limit("finished 2", book).position == Position(2, 0)


@pytest.mark.parametrize(
    "words", ["finished Capítulo IX", "finished capítulo noveno", "terminé el noveno capítulo", "in Capítulo IX"]
)
def test_a_spelled_out_number_that_is_another_chapters_title_as_well_is_asked_back(words: str) -> None:
    """It used to mean the later line that says it word for word, and so more than the club has read."""
    numbered = [f"{number}. Día {number}" for number in range(1, 12)]
    titles = [*numbered, "Capítulo IX", "Capítulo noveno"]
    book = contents_of(
        [(title, 1, file, 0) for file, title in enumerate(titles)],
        [(title, (file, 0), (file + 1, 0)) for file, title in enumerate(titles)],
        (50,) * 14,
    )
    with pytest.raises(ReaderError, match="limit_which") as refused:
        read_limit(words, book, shown=Position(9, 0))
    assert str(refused.value.params["choices"]).startswith("9. 9. Día 9 · 1")
    assert "IX" not in str(refused.value.params["choices"])
    assert read_limit("finished capítulo octavo", book).position == Position(8, 0)
    assert read_limit("finished 9", book).position == Position(9, 0)


def test_a_numeral_the_book_prints_on_the_chapter_itself_is_that_chapter() -> None:
    titles = ["Capítulo primeiro: A barca", "Capítulo II", "Capítulo terceiro"]
    book = contents_of(
        [(title, 1, file, 0) for file, title in enumerate(titles)],
        [(title, (file, 0), (file + 1, 0)) for file, title in enumerate(titles)],
        (50,) * 4,
    )
    for words in ("finished Capítulo I", "terminei o primeiro capítulo", "finished chapter one"):
        assert read_limit(words, book) == Limit("finished 1", Position(1, 0))
    for words in ("finished Capítulo II", "finished capítulo segundo", "chapter two"):
        assert read_limit(words, book) == Limit("finished 2", Position(2, 0))
    assert read_limit("in capítulo III", book) == Limit("in 3", Position(2, 0))


def test_a_part_that_begins_where_its_first_chapter_does_is_not_the_chapter() -> None:
    book = contents_of(
        [("Part One", 1, 0, 0), ("The Ferry", 2, 0, 0), ("Storm", 2, 1, 0)],
        [("The Ferry", (0, 0), (1, 0)), ("Storm", (1, 0), (2, 0))],
        (50, 50, 1),
    )
    assert read_limit("finished The Ferry", book).position == Position(1, 0)
    assert read_limit("finished Part One", book).position == Position(2, 0)


def test_a_chapter_that_the_file_puts_before_its_turn_stays_hidden() -> None:
    """Contents that do not follow the text: the end of chapter 1 lies past the start of chapter 3."""
    book = contents_of(
        [("One", 1, 0, 0), ("Two", 1, 2, 0), ("Three", 1, 1, 0)],
        [("One", (0, 0), (2, 0)), ("Two", (2, 0), (3, 0)), ("Three", (1, 0), (2, 0))],
        (50, 50, 50, 1),
    )
    assert read_limit("finished 1", book).position == Position(1, 0)
    assert read_limit("finished 2", book).position == Position(1, 0)


def test_kept_words_never_hold_a_title_past_the_limit() -> None:
    for entry in BOOK.toc:
        for words in (f"in {entry.title}", f"finished {entry.title}"):
            try:
                limit = read_limit(words, BOOK)
            except ReaderError:
                continue
            for other in BOOK.toc:
                later = limit.position is not None and Position(other.file, other.offset) >= limit.position
                assert not (later and other.title in limit.words), (words, limit)


def test_the_strictest_of_several_limits_holds() -> None:
    early, late = Limit("finished 1", Position(1, 5)), Limit("50%", Position(2, 0))
    assert strictest([late, WHOLE_BOOK, early]) == early
    assert strictest([WHOLE_BOOK]) == WHOLE_BOOK
    assert strictest([]) == WHOLE_BOOK


SAID = [
    ("start", ("the start", "el inicio", "o início")),
    ("in 1", ("the start", "el inicio", "o início")),
    ("in 3", ("chapter 2", "el capítulo 2", "o capítulo 2")),
    ("finished 3", ("chapter 3", "el capítulo 3", "o capítulo 3")),
    ("page 12", ("page 12", "la página 12", "a página 12")),
    ("40%", ("40 %", "40 %", "40 %")),
    ("finished Part One › Preface", ("Preface", "Preface", "Preface")),
    ("all", ("the end", "el final", "o fim")),
]


@pytest.mark.parametrize(("words", "said"), SAID)
def test_a_limit_is_said_by_how_far_one_has_read(words: str, said: tuple[str, str, str]) -> None:
    assert tuple(say_limit(Limit(words, Position(0, 0)), locale) for locale in LOCALES) == said


# Whatever the book


@st.composite
def books(draw: st.DrawFn) -> Contents:
    lengths = draw(st.lists(st.integers(0, 30), min_size=1, max_size=6).filter(sum))
    titles = st.sampled_from(["I", "II", "The Ferry", "Storm", "3", "Chapter 2", "Page 1", "all", "Finished 1", "50%"])
    places = [Position(file, offset) for file, length in enumerate(lengths) for offset in range(0, length, 5)]
    chosen = sorted(draw(st.lists(st.sampled_from(places), unique=True, max_size=8)))
    lines = [(draw(titles), draw(st.integers(1, 3)), *place) for place in chosen]
    end = Position(len(lengths) - 1, lengths[-1])
    chapters = [
        (title, (file, offset), tuple(after))
        for (title, _, file, offset), after in zip(lines, [*chosen[1:], end], strict=False)
        if draw(st.booleans())
    ]
    pages = [(str(number), *place) for number, place in enumerate(sorted(draw(st.lists(st.sampled_from(places)))), 1)]
    return contents_of(
        lines, [(title, start, (after[0], after[1])) for title, start, after in chapters], tuple(lengths), pages
    )


WORDS = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["in", "finished", "en", "hasta", "up to"]), st.integers(0, 9)),
    st.builds(
        "{} {}".format, st.sampled_from(["in", "finished"]), st.sampled_from(["I", "Storm", "The Ferry", "Chapter 2"])
    ),
    st.builds("page {}".format, st.integers(0, 9)),
    st.builds("{} %".format, st.integers(0, 120)),
    st.text(max_size=30),
)


@given(books(), WORDS)
def test_a_position_never_lies_past_what_the_words_mean(book: Contents, words: str) -> None:
    try:
        limit = read_limit(words, book)
    except ReaderError as refused:
        say(refused.key, "en", **refused.params)
        return
    starts = [0, *accumulate(book.lengths)]
    position = limit.position
    if position is None:
        assert limit.words == "all"
        return
    assert 0 <= position.offset <= book.lengths[position.file]
    read = starts[position.file] + position.offset
    if number := re.fullmatch(r"(?:in|en) (\d+)", words):
        assert all(chapter.start >= position for chapter in book.chapters[max(int(number[1]) - 1, 0) :])
    elif number := re.fullmatch(r"(?:finished|hasta|up to) (\d+)", words):
        assert all(chapter.start >= position for chapter in book.chapters[int(number[1]) :])
    elif share := re.fullmatch(r"(\d+) %", words):
        assert read <= starts[-1] * int(share[1]) / 100
    elif page := re.fullmatch(r"page (\d+)", words):
        later = [Position(mark.file, mark.offset) for mark in book.pages if int(mark.label) > int(page[1])]
        of_page = next((Position(mark.file, mark.offset) for mark in book.pages if mark.label == page[1]), None)
        assert of_page is None or all(place >= position or place <= of_page for place in later)
    again = read_limit(limit.words, book)
    assert again == limit, "kept words mean the same when they are read again"
    say_limit(limit, "en")
