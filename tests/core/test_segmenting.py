"""Segments cover a book in order, follow its contents and keep to their sizes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.formats.runs import cut_runs
from core.model import Position, Segment, SpineFile, TocEntry
from core.segmenting import ALONE, LARGEST, STUB, file_starts, plan

SENTENCE = "The lamp burned low and the keeper went down to the water once more. "


def _prose(size: int, paragraph: int = 700) -> str:
    block = (SENTENCE * (paragraph // len(SENTENCE))).strip()
    return "\n\n".join([block] * max(1, size // (len(block) + 2)))


def _plan(texts: list[str], toc: list[TocEntry]) -> tuple[Segment, ...]:
    files = [SpineFile(index, "", text) for index, text in enumerate(texts)]
    return plan(files, [run for file in files for run in cut_runs(file)], toc)


def _sizes(texts: list[str], segments: tuple[Segment, ...]) -> list[int]:
    starts = file_starts([SpineFile(index, "", text) for index, text in enumerate(texts)])
    return [
        starts[segment.end.file] + segment.end.offset - starts[segment.start.file] - segment.start.offset
        for segment in segments
    ]


_TEXTS = st.lists(
    st.builds(
        lambda size, paragraph: _prose(size, paragraph)[:size], st.integers(0, 60_000), st.sampled_from([80, 700, 9000])
    ),
    min_size=1,
    max_size=5,
)


@given(_TEXTS, st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(0, 60_000)), max_size=12))
def test_segments_cover_the_book_in_order_without_gap_or_overlap(
    texts: list[str], places: list[tuple[int, int, int]]
) -> None:
    toc = sorted(
        (
            TocEntry(f"{file}:{offset}", depth, file, min(offset, len(texts[file])))
            for depth, file, offset in places
            if file < len(texts)
        ),
        key=lambda entry: (entry.file, entry.offset),
    )
    segments = _plan(texts, toc)
    if not any(texts):
        assert segments == ()
        return
    assert segments[0].start == Position(0, 0)
    assert segments[-1].end == Position(len(texts) - 1, len(texts[-1]))
    assert [segment.sequence for segment in segments] == list(range(len(segments)))
    assert all(one.end == other.start for one, other in pairwise(segments))
    assert all(size > 0 for size in _sizes(texts, segments))
    assert max(_sizes(texts, segments)) <= LARGEST + STUB
    assert all(segment.title for segment in segments)
    runs = [run for index, text in enumerate(texts) for run in cut_runs(SpineFile(index, "", text))]
    inner = [segment.start for segment in segments[1:]]
    assert not [at for at in inner for run in runs if run.first < at < run.last], "a segment parts a run"


def test_chapters_of_middle_size_stand_alone_under_their_titles() -> None:
    texts = [_prose(15_000), _prose(18_000), _prose(12_000)]
    segments = _plan(texts, [TocEntry(f"Chapter {n}", 1, n - 1, 0) for n in (1, 2, 3)])
    assert [segment.title for segment in segments] == ["Chapter 1", "Chapter 2", "Chapter 3"]


def test_small_siblings_merge_and_say_from_where_to_where() -> None:
    texts = [_prose(4_000) for _ in range(10)]
    segments = _plan(texts, [TocEntry(f"Chapter {n + 1}", 1, n, 0) for n in range(10)])
    assert [segment.title for segment in segments] == ["Chapter 1 – Chapter 5", "Chapter 6 – Chapter 10"]
    assert all(15_000 <= size <= ALONE for size in _sizes(texts, segments))


def test_chapters_of_different_parts_do_not_merge() -> None:
    texts = [_prose(3_000) for _ in range(16)]
    toc = []
    for index in range(16):
        if index % 8 == 0:
            toc.append(TocEntry(f"Part {index // 8 + 1}", 1, index, 0))
        toc.append(TocEntry(f"Chapter {index + 1}", 2, index, 0))
    segments = _plan(texts, toc)
    assert Position(8, 0) in [segment.start for segment in segments]
    assert segments[0].title == "Part 1 · Chapter 1 – Chapter 7"


def test_a_small_part_is_one_segment_with_all_its_chapters() -> None:
    texts = [_prose(2_000) for _ in range(4)] + [_prose(19_000)]
    toc = [
        TocEntry("Part 1", 1, 0, 0),
        *(TocEntry(f"Chapter {n + 1}", 2, n, 0) for n in range(4)),
        TocEntry("Part 2", 1, 4, 0),
    ]
    assert [segment.title for segment in _plan(texts, toc)] == ["Part 1", "Part 2"]


def test_a_stretch_without_structure_is_cut_at_paragraphs_into_even_pieces() -> None:
    texts = [_prose(200_000)]
    segments = _plan(texts, [])
    sizes = _sizes(texts, segments)
    assert all(30_000 <= size <= 40_000 for size in sizes)
    assert all(texts[0][: segment.start.offset].endswith("\n\n") for segment in segments[1:])
    assert segments[0].title.startswith("The lamp burned low (1/") or "(1/" in segments[0].title


def test_one_endless_paragraph_is_cut_at_runs() -> None:
    texts = [(SENTENCE * 3000).strip()]
    segments = _plan(texts, [])
    assert max(_sizes(texts, segments)) <= LARGEST
    starts = {run.first for run in cut_runs(SpineFile(0, "", texts[0]))}
    assert all(segment.start in starts for segment in segments)


def test_pages_that_run_on_are_no_paragraph_ends() -> None:
    page = (SENTENCE * 20).strip()
    files = [SpineFile(index, "", page, join=" " if index % 5 != 4 else None) for index in range(100)]
    segments = plan(files, [run for file in files for run in cut_runs(file)], [])
    assert len(segments) > 2
    assert all(segment.start.file % 5 == 0 for segment in segments[1:])


def test_limits_are_a_third_in_a_chinese_book() -> None:
    paragraph = "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。" * 8
    texts = ["\n\n".join([paragraph] * 200)]
    assert all(10_000 <= size <= 13_500 for size in _sizes(texts, _plan(texts, [])))


def test_a_parts_heading_joins_the_long_chapter_behind_it() -> None:
    texts = ["Part One", _prose(90_000)]
    segments = _plan(texts, [TocEntry("Part One", 1, 0, 0), TocEntry("Chapter 1", 2, 1, 0)])
    assert min(_sizes(texts, segments)) > STUB
    assert segments[0].start == Position(0, 0)
    assert segments[0].title.startswith("Part One · Chapter 1")


def test_text_before_the_first_entry_is_not_lost() -> None:
    texts = [_prose(5_000), _prose(18_000)]
    segments = _plan(texts, [TocEntry("Chapter 1", 1, 1, 0)])
    assert segments[0].start == Position(0, 0)
    assert segments[-1].end == Position(1, len(texts[1]))


def test_an_empty_book_has_no_segments() -> None:
    assert _plan(["", ""], []) == ()
