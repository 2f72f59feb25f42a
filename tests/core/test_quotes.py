"""Quotations: folding, finding, holding. The corruptions are seeded, the counts are exact."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import Position, Span
from core.quotes import MOST_HITS, denies, find_quote, fold, holds

_SUBJECTS = ["the old miller", "a young sailor", "her eldest sister", "the silent clerk", "an honest cobbler"]
_VERBS = ["carried", "forgot", "discovered", "painted", "buried", "borrowed", "mended", "followed"]
_OBJECTS = ["the copper kettle", "a crooked ladder", "his winter coat", "the garden gate", "a sealed letter"]
_PLACES = ["behind the chapel", "under the bridge", "beside the frozen lake", "near the market square", "in the attic"]
_TIMES = ["before the harvest", "on a Tuesday", "during the storm", "after supper", "when the bells rang"]
_WHYS = ["because nobody asked", "for a few coins", "without a single word", "as the custom was", "against all advice"]


def _book(chance: random.Random, files: int = 6, sentences: int = 120) -> list[tuple[str, str | None]]:
    def sentence(number: int) -> str:
        words = [chance.choice(group) for group in (_SUBJECTS, _VERBS, _OBJECTS, _PLACES, _TIMES, _WHYS)]
        text = f"{words[0]} {words[1]} {words[2]} {words[3]} {words[4]}, {words[5]}, says page {number}."
        return text[0].upper() + text[1:]

    return [
        ("\n\n".join(" ".join(sentence(f * 1000 + p * 4 + s) for s in range(4)) for p in range(sentences // 4)), None)
        for f in range(files)
    ]


def _text(files: list[tuple[str, str | None]], hit: tuple[Span, ...]) -> str:
    return "".join(files[span.file][0][span.start : span.end] for span in hit)


@pytest.mark.parametrize(
    ("typed", "folded"),
    [
        ("He said — “Don’t go … ‘now’ !”  and\n\nleft", "He said-'Don't go…'now'!'and left"),
        ("ﬁne ofﬁce dif\u00adferent", "fine office different"),
        ("« Bonjour »", "'Bonjour'"),
        ("ＡＢＣ １２３", "ABC 123"),
        ("你好 世界「好」……", "你好世界'好'…"),
        ("cafe\u0301", "café"),
        ("a . . . b", "a…b"),
    ],
)
def test_typography_is_folded_and_nothing_else(typed: str, folded: str) -> None:
    assert fold(typed).text == folded


@given(st.text(alphabet=st.sampled_from(list("aB é'\"“”«»—-…. \n\t\u00adﬁ好「」Ａe\u0301İ،א")), max_size=60))
def test_every_folded_character_knows_where_it_came_from(text: str) -> None:
    folded = fold(text)
    assert len(folded.offsets) == len(folded.text) + 1
    assert list(folded.offsets) == sorted(folded.offsets)
    assert folded.offsets[-1] == len(text)
    for index, character in enumerate(folded.text):
        if character.isascii() and character.isalnum() and text[folded.offsets[index]].isascii():
            assert text[folded.offsets[index]] == character


def test_accents_and_letter_case_are_not_typography() -> None:
    assert fold("résumé").text != fold("resume").text
    assert fold("May").text != fold("may").text


_STYLES = ["“{}”", "„{}“", "«{}»", "« {} »", "‘{}’", "「{}」", '"{}"', "»{}«"]


@pytest.mark.parametrize("style", _STYLES)
def test_every_style_of_quotation_marks_is_verbatim(style: str) -> None:
    files: list[tuple[str, str | None]] = [
        ("He rose. " + style.format("Go home, Peter") + " said she, and left.", None)
    ]
    for asked in _STYLES:
        match, hits = find_quote(asked.format("Go home, Peter") + " said she", files)
        assert match == "verbatim", asked
        assert "Peter" in _text(files, hits[0])
        assert _text(files, hits[0]).endswith("said she")


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("It's well-known -- don't ask...", "As ever: it’s well‑known — don’t ask… again."),
        ("the OLD man", "Then the old man slept."),
        ("first line second line", "first line\nsecond line\n"),
        ("efficient office", "an eﬃcient ofﬁce here"),
        ("Quoi? Rien!", "« Quoi ? Rien ! » dit-il."),
        ("你好世界", "他说：你好 世界。"),
        ("in the end.", "and in the end, he left"),
        ("قال الملك", "ثم قال الملك لابنته"),
        ("счастливые семьи", "Все Счастливые семьи похожи"),
        ("ΛΟΓΟΣ ΗΝ", "ο λογος ην εδώ"),
    ],
)
def test_typographic_variants_are_verbatim(quote: str, text: str) -> None:
    match, hits = find_quote(quote, [(text, None)])
    assert match == "verbatim"
    assert hits


def test_a_hit_is_the_exact_text_of_the_book() -> None:
    text = "Then she said: “It’s late — go  home.” And so on."
    _, hits = find_quote('"it\'s late - go home."', [(text, None)])
    assert [text[span.start : span.end].strip("“”") for span in hits[0]] == ["It’s late — go  home."]


@pytest.mark.parametrize(
    ("quote", "text"),
    [("art", "a party of three"), ("don", "you don’t say"), ("he will", "she will not"), ("king", "the kingdom")],
)
def test_a_piece_of_a_word_is_no_hit(quote: str, text: str) -> None:
    assert find_quote(quote, [(text, None)])[0] != "verbatim"


def test_one_changed_word_is_near_and_never_verbatim() -> None:
    text = "It was a bright cold day in April, and the clocks were striking thirteen."
    for number, word in enumerate(words := text.split()):
        changed = " ".join([*words[:number], "zebra", *words[number + 1 :]])
        match, hits = find_quote(changed, [("Before. " + text + " After.", None)])
        assert match == "near", word
        assert "cold day" in _text([("Before. " + text + " After.", None)], hits[0])


def test_a_denial_added_or_left_out_is_not_verbatim() -> None:
    files: list[tuple[str, str | None]] = [("She did not love him, and he never asked her again.", None)]
    assert find_quote("She did love him, and he never asked", files)[0] == "near"
    assert find_quote("She did not love him, and he asked her", files)[0] == "near"


def test_a_thousand_corrupted_copies_are_found_where_they_came_from() -> None:
    chance = random.Random(20)
    files = _book(chance, files=4, sentences=60)
    found = 0
    for _ in range(1000):
        file = chance.randrange(len(files))
        text = files[file][0]
        sentences = list(re.finditer(r"[A-Z][^.]+\.", text))
        picked = chance.choice(sentences)
        words = picked[0].rstrip(".").split()
        for _ in range(chance.choice((1, 1, 2))):
            at = chance.randrange(1, len(words) - 1)
            match chance.randrange(3):
                case 0:
                    words[at] = "quite" if words[at] != "quite" else "rather"
                case 1 if not words[at].isdigit():
                    del words[at]
                case _:
                    words.insert(at, "indeed")
        if words == picked[0].rstrip(".").split():
            found += 1
            continue
        match, hits = find_quote(" ".join(words), files)
        assert match == "near", words
        found += any(
            span.file == file and span.start < picked.end() and span.end > picked.start() for (span, *_) in hits
        )
    assert found >= 990


def test_paraphrases_are_never_verbatim_and_unlike_words_are_none() -> None:
    chance = random.Random(21)
    files = _book(chance, files=4, sentences=60)
    paraphrase = {"carried": "hauled", "forgot": "neglected", "the": "that", "a": "one", "under": "below"}
    for _ in range(300):
        sentence = chance.choice(re.findall(r"[A-Z][^.]+\.", chance.choice(files)[0]))
        said = " ".join(paraphrase.get(word, word) for word in reversed(sentence.rstrip(".").split()))
        assert find_quote(said, files)[0] != "verbatim"
    assert find_quote("quarterly profits exceeded every expectation of analysts", files) == ("none", [])
    assert find_quote("季度利润超出了所有人的预期", files) == ("none", [])


def test_a_sentence_cut_by_a_page_is_one_hit_with_a_span_on_each_page() -> None:
    pages: list[tuple[str, str | None]] = [
        ("End of it. The ship sailed", " "),
        ("at dawn for the islands.", None),
        ("Next", None),
    ]
    match, hits = find_quote("the ship sailed at dawn for the islands", pages)
    assert match == "verbatim"
    assert [[pages[span.file][0][span.start : span.end] for span in hit] for hit in hits] == [
        ["The ship sailed", "at dawn for the islands"]
    ]
    glued: list[tuple[str, str | None]] = [("An extraor", ""), ("dinary day", None)]
    assert find_quote("extraordinary day", glued)[0] == "verbatim"


def test_nothing_matches_across_files_where_no_paragraph_runs_on() -> None:
    files: list[tuple[str, str | None]] = [("and they lived happily", None), ("ever after the war", None)]
    assert find_quote("happily ever after", files)[0] != "verbatim"


def test_nothing_at_or_past_the_limit_is_found() -> None:
    files: list[tuple[str, str | None]] = [("The cat sat. The dog ran off.", None), ("The cat sat again.", None)]
    limit = Position(0, files[0][0].index("The dog"))
    assert find_quote("the cat sat", files, limit)[1] == [(Span(0, 0, 11),)]
    assert find_quote("the dog ran", files, limit) == ("none", [])
    assert find_quote("sat. The dog", files, limit)[0] != "verbatim"
    assert find_quote("the cat", files, Position(0, 0)) == ("none", [])
    # In the middle of a word: "partly" must not leave "part" behind.
    assert find_quote("part", [("a partly sunny day", None)], Position(0, 6)) == ("none", [])


def test_no_hit_reaches_past_a_limit_wherever_it_stands() -> None:
    chance = random.Random(22)
    files = _book(chance, files=3, sentences=40)
    for _ in range(200):
        limit = Position(chance.randrange(3), chance.randrange(len(files[0][0])))
        sentence = chance.choice(re.findall(r"[A-Z][^.]+\.", chance.choice(files)[0]))
        wanted = sentence if chance.random() < 0.5 else sentence.replace("the", "that", 1)
        for hit in find_quote(wanted, files, limit)[1]:
            assert all(span.last <= limit for span in hit)


def test_hits_are_limited_and_in_reading_order() -> None:
    files: list[tuple[str, str | None]] = [("again and again " * 5000, None)]
    match, hits = find_quote("and", files)
    assert match == "verbatim"
    assert len(hits) == MOST_HITS
    assert hits == sorted(hits)


def test_a_hit_at_the_seam_of_two_chunks_is_found_once() -> None:
    for shift in range(-30, 31, 3):
        filler = "x " * ((16_384 + shift) // 2)
        _, hits = find_quote("the needle in question", [(filler + "the needle in question" + " y" * 9000, None)])
        assert hits == [(Span(0, len(filler), len(filler) + 22),)]


@pytest.mark.parametrize("words", ["", "  ", "“”", "…", "\0", "---"])
def test_words_without_a_letter_are_found_nowhere(words: str) -> None:
    assert find_quote(words, [("Some text … here “”", None)]) == ("none", [])


def test_near_matches_are_found_in_scripts_without_spaces() -> None:
    text = "话说天下大势，分久必合，合久必分。周末七国分争，并入于秦。"
    match, hits = find_quote("话说天下大势，分久必和，合久必分", [(text, None)])
    assert match == "near"
    assert text[hits[0][0].start : hits[0][0].end].startswith("话说天下大势")


PASSAGE = "“Well,” said he, “I did not know it; she never told me, and my father’s house was far away — very far.”"


@pytest.mark.parametrize(
    "quotation",
    [
        "she never told me",
        "She never told me,",
        "my father's house was far away -- very far",
        "my father's house … very far",
        "“she never told me […] far away”",
        "Well... I did not know it",
    ],
)
def test_verbatim_words_hold(quotation: str) -> None:
    assert holds(quotation, ["Something else.", PASSAGE])


@pytest.mark.parametrize(
    "quotation",
    [
        "she told me",
        "she … told me",
        "I did … know it",
        "I know it",
        "I did not know it […] my father's house",
        "very far … my father's house",
        "she never told us",
        "father’s horse",
        "ever told me",
        "My Father's house",
        "",
        "…",
    ],
)
def test_other_words_do_not_hold(quotation: str) -> None:
    assert not holds(quotation, ["Something else.", PASSAGE])


def test_parts_must_stand_in_one_passage() -> None:
    assert not holds("the cat … the dog", ["I saw the cat.", "I saw the dog."])
    assert holds("the cat … the dog", ["I saw the cat and the dog."])


@pytest.mark.parametrize(
    ("language", "passage", "quotation"),
    [
        ("en", "He said that he wouldn’t ever go home", "He said … go home"),
        ("es", "Dijo que nunca volvería a casa", "Dijo … volvería a casa"),
        ("pt", "Disse que não voltaria para casa", "Disse … voltaria para casa"),
        ("fr", "Il dit qu’il ne rentrerait jamais chez lui", "Il dit … chez lui"),
        ("de", "Er sagte, er werde nicht heimkehren", "Er sagte … heimkehren"),
        ("it", "Disse che non sarebbe tornato a casa", "Disse … sarebbe tornato"),
        ("ru", "Он сказал, что не вернётся домой", "Он сказал … домой"),
        ("zh", "他说他不会回家", "他说…回家"),
    ],
)
def test_an_ellipsis_never_hides_a_denial(language: str, passage: str, quotation: str) -> None:
    assert not holds(quotation, [passage], language)
    assert not holds(quotation, [passage])
    assert denies(passage, language)


def test_a_word_that_denies_elsewhere_is_no_denial_in_the_books_language() -> None:
    assert holds("O rei vivia … castelo", ["O rei vivia sozinho no castelo"], "pt")
