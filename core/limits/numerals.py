"""Numbers as chapters carry them: digits, Roman numerals, and written out in English, Spanish and Portuguese; folded."""

import re

_LABELS = """
    chapter chap ch part book volume vol section act scene canto letter appendix
    capitulo cap parte libro volumen tomo seccion acto escena carta apendice livro secao ato cena
    chapitre partie livre tome section acte scene kapitel teil buch band akt szene capitolo libro sezione
    глава часть том книга раздел
"""
LABELS = frozenset(_LABELS.split())
"""Words before a number that say what is numbered."""

NUMERAL = r"(?:\d{1,4}|(?=[mdclxvi])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,4}))"
"""Digits or a Roman numeral, folded."""

_EN = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty",
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth",
)
_ES = (
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho "
    "diecinueve veinte",
    "primero segundo tercero cuarto quinto sexto septimo octavo noveno decimo undecimo duodecimo",
    "primera segunda tercera cuarta quinta sexta septima octava novena decima undecima duodecima",
    "primer",
)
_PT = (
    "um dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis dezassete dezoito "
    "dezanove vinte",
    "um dois tres quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete dezoito "
    "dezenove vinte",
    "primeiro segundo terceiro quarto quinto sexto setimo oitavo nono decimo",
    "primeira segunda terceira quarta quinta sexta setima oitava nona decima",
)
WRITTEN = {word: at for line in (*_EN, *_ES, *_PT) for at, word in enumerate(line.split(), 1)}
_ROMAN = re.compile(NUMERAL)
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


def number_of(word: str, *, written: bool = False) -> int | None:
    """The number a folded word is; None when it is none. `written`: also "nine", "nueve", "nono"."""
    if written and word in WRITTEN:
        return WRITTEN[word]
    if not _ROMAN.fullmatch(word):
        return None
    if word.isdecimal():
        return int(word)
    values = [_VALUES[letter] for letter in word]
    return sum(-value if value < max(values[at:]) else value for at, value in enumerate(values))
