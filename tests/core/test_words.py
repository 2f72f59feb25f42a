"""Words: folding, terms, token estimates, the guess at a language."""

import pytest

from core.words import (
    STOP_WORDS,
    fold,
    guess_language,
    is_cjk,
    primary,
    quarters,
    stem,
    terms,
    terms_each,
    tokens,
    words,
)

SAMPLES = {
    "en": "It was the best of times, it was the worst of times, and nobody knew what would become of them.",
    "es": "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, vivía un hidalgo con su sobrina.",
    "pt": "Não sei por onde começar; a casa estava vazia quando ele chegou e ninguém lhe disse nada.",
    "fr": "Longtemps, je me suis couché de bonne heure, et les yeux se fermaient sans que je le sache.",
    "de": "Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett.",
    "it": "Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura, che la via era smarrita.",
    "ru": "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.",
    "ar": "كان يا ما كان في قديم الزمان ملك يعيش في قصر كبير مع ابنته",
    "zh": "话说天下大势，分久必合，合久必分。周末七国分争，并入于秦。",
    "ja": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "ko": "모든 행복한 가정은 서로 닮았고 불행한 가정은 저마다의 이유로 불행하다.",
    "el": "Μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος",
    "uk": "Реве та стогне Дніпр широкий, сердитий вітер завива, що й досі їх не чути.",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_the_language_of_a_sentence_is_guessed(language: str) -> None:
    assert guess_language(SAMPLES[language]) == language


@pytest.mark.parametrize("text", ["", "   ", "1234 5678", "§§§"])
def test_a_text_without_letters_is_called_english(text: str) -> None:
    assert guess_language(text) == "en"


def test_a_chinese_book_with_a_few_kana_stays_chinese() -> None:
    assert guess_language(SAMPLES["zh"] * 10 + "の") == "zh"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Écoles", "ECOLES"),
        ("straße", "STRASSE"),
        ("ёлка", "Елка"),
        ("cafe\u0301", "café"),
        ("كِتَابٌ", "كتاب"),
        ("أحمد", "احمد"),
        ("ﬁne", "fine"),
    ],
)
def test_case_and_accents_are_folded_away(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_no_character_is_read_otherwise_for_what_stands_in_the_same_text() -> None:
    """Texts of the Latin script take shorter ways; a Chinese sign at the end sends the same text the long way round."""
    for character in map(chr, range(0x3100)):
        text = f"a{character}b {character}_X1 "
        assert fold(text) + "字" == fold(text + "字")
        assert [*words(text), "字"] == words(text + "字")
        assert quarters(text) + 4 == quarters(text + "字")


def test_folding_leaves_letters_that_only_look_like_accents() -> None:
    assert fold("が") == "が"
    assert fold("한국") == "한국"
    assert fold("हिन्दी") == "हिन्दी"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is it about?", "en"),
        ("Who are they and why did it happen?", "en"),
        ("¿De qué va esto?", "es"),
        ("O que é isso?", "pt"),
        ("Qu'est-ce que c'est ?", "fr"),
        ("Was ist das?", "de"),
        ("Что это такое?", "ru"),
        ("什么？", "zh"),
        ("?!", "en"),
    ],
)
def test_a_question_of_stop_words_alone_has_no_terms(question: str, language: str) -> None:
    assert terms(question, language) == []


def test_terms_keep_the_words_that_tell_in_order() -> None:
    assert terms("What did Mr. Darcy's aunt say about the ball in 1812?", "en") == [
        "mr",
        "darcy",
        "aunt",
        "ball",
        "1812",
    ]
    assert terms("Quem é o pai de João?", "pt-BR") == ["pai", "joao"]


def test_cjk_terms_are_pairs_without_the_pairs_made_of_stop_words() -> None:
    found = terms("卢克是谁？", "zh")
    assert "卢克" in found
    assert "是谁" not in found


def test_a_language_without_stop_words_keeps_every_word() -> None:
    assert terms("Nani alimuua simba", "sw") == ["nani", "alimuua", "simba"]


def test_four_characters_are_a_token_and_a_cjk_character_is_one() -> None:
    assert tokens("") == 0
    assert tokens("abcd") == 1
    assert tokens("abcde") == 2
    assert tokens("你好世界") == 4
    assert tokens("你好世界abcd") == 5
    assert quarters("你a") == 5


def test_token_costs_of_pieces_add_up_to_the_whole() -> None:
    text = "Пьер said 「你好」 — and left. 한국"
    assert sum(quarters(character) for character in text) == quarters(text)


def test_cjk_is_ideographs_kana_and_hangul_only() -> None:
    assert all(map(is_cjk, "漢かカ한𠀀"))
    assert not any(map(is_cjk, "aя。ا "))


def test_stop_words_are_stored_folded_and_cover_the_languages_we_promise() -> None:
    assert {"en", "es", "pt", "fr", "de", "it", "ru", "ar", "nl"} <= set(STOP_WORDS)
    for known in STOP_WORDS.values():
        assert all(word == fold(word) for word in known)


def test_inflected_forms_share_a_stem_and_numbers_do_not() -> None:
    assert stem("pregunta") == stem("preguntaron") == "pregu"
    assert stem("123456") == "123456"


def test_the_primary_subtag_is_taken_from_any_spelling() -> None:
    assert [primary(tag) for tag in ("pt-BR", "EN_us", "zh-Hans", "de")] == ["pt", "en", "zh", "de"]


@pytest.mark.parametrize("language", SAMPLES)
def test_terms_of_many_texts_are_those_of_each(language: str) -> None:
    texts = [SAMPLES[language], "", "A1 b 7 ÉCOLES e\u0301t\u00e9", SAMPLES[language].upper()]
    assert terms_each(texts, language) == [terms(text, language) for text in texts]
    assert terms_each(["one\0two", "three"], language) == [terms("one\0two", language), terms("three", language)]
