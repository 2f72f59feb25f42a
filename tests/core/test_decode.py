"""Which encoding bytes are read in, and which characters vanish."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats.decode import clean, decode, squeeze, tidy

RUSSIAN = "Солнце ещё не взошло, когда хозяин вышел на двор и громко позвал работников. " * 8
SPANISH = "El corazón de la niña latía con una emoción que ella no conocía todavía."


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_byte_order_mark_decides(encoding: str) -> None:
    data = ("\ufeff" if encoding.endswith(("le", "be")) else "") + RUSSIAN
    assert decode(data.encode(encoding)) == RUSSIAN


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "iso-8859-5"])
def test_an_xml_declaration_decides(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><p>{RUSSIAN}</p>'
    assert decode(text.encode(encoding)) == text


def test_what_calls_itself_latin_1_is_read_as_windows_1252() -> None:
    assert "“quoted”" in decode(b'<?xml version="1.0" encoding="ISO-8859-1"?><p>\x93quoted\x94</p>')


def test_a_web_page_may_declare_its_encoding_in_a_meta_element() -> None:
    text = f'<html><head><meta charset="windows-1251"></head><body>{RUSSIAN}</body></html>'
    assert decode(text.encode("windows-1251")) == text


def test_a_declaration_that_the_bytes_contradict_is_passed_over() -> None:
    assert SPANISH in decode(f'<?xml version="1.0" encoding="ascii"?><p>{SPANISH}</p>'.encode("utf-16"))
    assert SPANISH in decode(f'<?xml version="1.0" encoding="utf-16"?><p>{SPANISH}</p>'.encode())
    assert SPANISH in decode(f'<?xml version="1.0" encoding="no-such-thing"?><p>{SPANISH}</p>'.encode())
    assert SPANISH in decode(f'<?xml version="1.0" encoding="hex"?><p>{SPANISH}</p>'.encode())


def test_utf_16_markup_without_a_mark_is_recognised() -> None:
    assert decode(f"<p>{SPANISH}</p>".encode("utf-16-le")) == f"<p>{SPANISH}</p>"
    assert decode(f"<p>{SPANISH}</p>".encode("utf-16-be")) == f"<p>{SPANISH}</p>"


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "gb18030", "shift_jis", "euc-kr"])
def test_an_undeclared_encoding_is_guessed(encoding: str) -> None:
    text = {
        "gb18030": "美人清江畔，是夜越吟苦。千里其如何，微风吹兰杜。江南有丹桔，经冬犹绿林。" * 8,
        "shift_jis": "山路を登りながら、こう考えた。智に働けば角が立つ。情に棹させば流される。" * 8,
        "euc-kr": "나는 그 섬에 가고 싶었다. 바람이 불고 비가 내리는 날에도 등대는 빛났다. " * 8,
    }.get(encoding, RUSSIAN)
    assert decode(text.encode(encoding)) == text


def test_a_few_bytes_above_ascii_are_read_as_windows_1252() -> None:
    assert decode(SPANISH.encode("cp1252")) == SPANISH


def test_a_broken_byte_in_utf_8_is_replaced_and_the_rest_kept() -> None:
    broken = RUSSIAN.encode().replace("хозяин".encode(), b"\xff\xfe")
    assert decode(broken) == RUSSIAN.replace("хозяин", "\ufffd\ufffd")


@given(st.binary(max_size=300))
def test_no_bytes_fail(data: bytes) -> None:
    assert isinstance(decode(data), str)


def test_what_is_no_text_vanishes_and_joiners_stay() -> None:
    assert clean("so\xadft \u200bze\u2060ro\ufeff n\x00ul \x07bell") == "soft zero nul bell"
    assert clean("می\u200cخواهم 👩\u200d🚀") == "می\u200cخواهم 👩\u200d🚀"


def test_composition_is_canonical_and_never_compatible() -> None:
    assert clean("e\u0301") == "é"
    assert clean("x² ﬁ Ａ") == "x² ﬁ Ａ"


def test_line_ends_and_feeds_become_newlines() -> None:
    assert clean("a\r\nb\rc\x0cd\x0be") == "a\nb\nc\nd\ne"


@pytest.mark.parametrize("space", [" ", "\t", "\n", "\xa0", "\u2003", "\u200a", "\u202f", "\u3000"])
def test_every_run_of_white_space_is_one_space(space: str) -> None:
    assert squeeze(f"{space}{space}a {space}b{space}") == " a b "


def test_no_character_is_read_otherwise_for_what_stands_in_the_same_text() -> None:
    """Text of the Latin script takes a shorter way; a Chinese sign at the end sends the same text the long way round."""
    for character in map(chr, range(0x3100)):
        text = f" a{character}b {character}e\u0301 {character} c"
        assert squeeze(text) + "字" == squeeze(text + "字")
        assert tidy(text) == squeeze(clean(text))
        assert tidy(text) + "字" == tidy(text + "字")


@given(st.text(max_size=100))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = squeeze(clean(text))
    assert squeeze(clean(once)) == once
    assert unicodedata.is_normalized("NFC", once)
