"""What the words of a heading say: its kind (part, chapter, numeral…), its number, front or back matter, or nothing."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_ASKED = 1024
"""Titles of which is kept what they say: each is asked several times while contents are repaired and numbered."""

_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty first second third fourth fifth sixth seventh eighth ninth tenth last "
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince veinte treinta cuarenta "
    "primero primera segundo segunda tercero tercera cuarto cuarta quinto quinta sexto sexta septimo septima octavo octava "
    "noveno novena decimo decima ultimo ultima um dois quatro sete oito nove dez onze doze treze quatorze quinze vinte "
    "primeiro primeira terceiro terceira quarto quarta setimo oitavo nono unico unica "
    "premier premiere deuxieme second seconde troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme dixieme "
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize vingt dernier derniere "
    "erste erster erstes zweite zweiter zweites dritte dritter drittes vierte vierter viertes funfte funfter funftes "
    "sechste sechster sechstes siebte siebter siebentes achte achter achtes neunte neunter neuntes zehnte zehnter zehntes "
    "eins zwei drei vier funf sechs sieben acht neun zehn letzter letzte "
    "primo prima secondo seconda terzo terza quarto quinto sesto settimo ottavo nono decimo "
    "первая первыи первое вторая второи второе третья третии третье четвертая четвертыи пятая пятыи шестая шестои "
    "седьмая седьмои восьмая восьмои девятая девятыи десятая десятыи одиннадцатая двенадцатая тринадцатая "
    "последняя последнии"
)
_KEYWORDS = (
    ("volume", 1, "volume vol tome tomo volumen band том"),
    ("book", 2, "book libro livre livro buch книга"),
    ("part", 3, "part parte partie teil часть"),
    ("act", 4, "act acto acte akt aufzug ato atto деиствие акт"),
    ("chapter", 5, "chapter chap capitulo cap chapitre kapitel capitolo глава letter carta lettre brief canto"),
    ("scene", 6, "scene escena cena szene auftritt scena сцена явление"),
)
_KIND = {word: (kind, rank) for kind, rank, words in _KEYWORDS for word in words.split()}
NUMERAL_RANK = 7

_ROMAN = re.compile(r"m{0,3}(cm|cd|d?c{0,4})(xc|xl|l?x{0,4})(ix|iv|v?i{0,4})")
_NUMBER = rf"(?:\d{{1,3}}|[ivxlcdm]{{1,9}}|{'|'.join(_NUMBER_WORDS.split())})"
_KEY = "|".join(sorted(_KIND, key=len, reverse=True))
_AHEAD = re.compile(rf"(?P<key>{_KEY})\.?\s+(?:the\s+)?(?P<number>{_NUMBER})(?:-\w+)?\b(?P<rest>.*)", re.DOTALL)
_BEHIND = re.compile(rf"(?:the\s+)?(?P<number>{_NUMBER}|\d{{1,3}}[.ªºa])\s+(?P<key>{_KEY})\b(?P<rest>.*)", re.DOTALL)
_CJK = re.compile(
    r"第\s*(?P<number>[0-9０-９一二三四五六七八九十百〇零]+)\s*(?P<key>[章回節节話话卷部篇編])(?P<rest>.*)", re.DOTALL
)
_CJK_KIND = {"卷": ("book", 2), "部": ("part", 3), "篇": ("part", 3), "編": ("part", 3)}
_NUMERAL = re.compile(r"[\[(]?(?P<number>[ivxlcdm]{1,9}|\d{1,3})[\])]?[.:)]?(?:\s*[—–-])?")
_NUMERAL_TITLE = re.compile(r"(?P<number>[IVXLC]{1,9}|\d{1,3})(?:[.:)]|\s*[—–-])\s+(?P<rest>\S.*)")

_FRONT = (
    "cover|front cover|half ?title|half title page|title ?page|title|imprint|copyright( page| notice)?|legal notice|"
    "dedication|epigraph|(table of )?contents|toc|list of (illustrations|figures|tables|maps)|illustrations|"
    "prefaces?|author s preface|preface to .*|foreword|forward|publisher s note|translator s (note|preface)|"
    "editor s (note|preface)|about this (book|edition|ebook)|praise( for .*)?|also by .*|other books by .*|frontispiece|"
    "cubierta|portada|portadilla|creditos|dedicatoria|indice( general)?|tabla de contenidos?|prefacio|presentacion|"
    "nota (del|de la) (editor|editora|traductor|traductora)|"
    "capa|folha de rosto|rosto|ficha tecnica|sumario|indice geral|apresentacao|nota (do|da) (editor|tradutor|tradutora)|"
    "couverture|page de titre|dedicace|table( des matieres)?|sommaire|preface|avant propos|avertissement|mentions legales|"
    "umschlag|titelseite|titelblatt|titel|impressum|widmung|inhalt|inhaltsverzeichnis|vorwort|geleitwort|"
    "copertina|frontespizio|dedica|indice|prefazione|"
    "обложка|титульныи лист|содержание|оглавление|предисловие|посвящение|от (автора|издателя|редактора)|аннотация|"
    "表紙|扉|目次|封面|扉页|版权页?|目录|序|序言|前言|まえがき|はじめに"
)
_BACK = (
    "colophon|uncopyright|(full )?project gutenberg licen[cs]e|the full project gutenberg license|licen[cs]e|endnotes|"
    "foot ?notes|notes|transcriber s notes?|index|bibliography|bibliographical note|about the authors?|about the (publisher|translator)|"
    "acknowledge?ments|credits|advertisements?|back cover|glossary|further reading|"
    "colofon|licencia|notas|notas (al pie|finales)|indice (alfabetico|onomastico|analitico)|bibliografia|agradecimientos|"
    "sobre (el autor|la autora|o autor|a autora)|agradecimentos|licenca|notas de rodape|glosario|glossario|"
    "notes de bas de page|bibliographie|remerciements|licence|index alphabetique|glossaire|"
    "anmerkungen|fussnoten|nachweise|danksagung|lizenz|register|sachregister|literaturverzeichnis|glossar|kolophon|"
    "note|ringraziamenti|licenza|примечания|сноски|комментарии|библиография|указатель|"
    "奥付|あとがき|脚注|索引|注释|后记"
)
_USELESS = (
    "start|beginning|begin|start of (content|book)|text|content|body|main|document|untitled|unknown|none|section|"
    "inicio|comienzo|comeco|debut|anfang|beginn|inizio|начало|book|index|indice|(table of )?contents|\\d*"
)
_FRONT_TITLE = re.compile(_FRONT)
_BACK_TITLE = re.compile(_BACK)
_USELESS_TITLE = re.compile(_USELESS)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a heading is: `name` of its kind, `rank` (1 = outermost), its number when it has one, and whether that is all."""

    name: str
    rank: int
    number: int | None
    bare: bool
    """True when nothing but kind and number is said ("Chapter 3", "XLII."): a title may follow on the next line."""


@lru_cache(maxsize=_ASKED)
def fold_title(title: str) -> str:
    """A title for comparison: case, marks and punctuation folded, words joined by one space."""
    bare = "".join(
        mark for mark in unicodedata.normalize("NFD", title.casefold()) if unicodedata.category(mark) != "Mn"
    )
    return " ".join(re.sub(r"[^\w]+", " ", bare).split())


def roman(numeral: str) -> int | None:
    """The value of a Roman numeral, None when it is none."""
    folded = numeral.casefold()
    if not folded or not _ROMAN.fullmatch(folded):
        return None
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
    total = 0
    for mark, following in zip(folded, folded[1:] + " ", strict=True):
        value = values[mark]
        total += -value if values.get(following, 0) > value else value
    return total


@lru_cache(maxsize=_ASKED)
def kind_of(title: str) -> Kind | None:
    """The kind a heading names in en, es, pt, fr, de, it, ru, zh or ja; None for any other words."""
    line = " ".join(title.split())
    if not line or len(line) > 400:
        return None
    if found := _CJK.match(line):
        name, rank = _CJK_KIND.get(found["key"], ("chapter", 5))
        number = found["number"]
        return Kind(name, rank, int(number) if number.isdecimal() else None, not found["rest"].strip(" 　.:：、"))
    bare = "".join(mark for mark in unicodedata.normalize("NFD", line.casefold()) if unicodedata.category(mark) != "Mn")
    bare = bare.lstrip("*_[( ")
    if found := _NUMERAL.fullmatch(bare):
        value = _value(found["number"])
        return Kind("numeral", NUMERAL_RANK, value, True) if value is not None else None
    for pattern in (_AHEAD, _BEHIND):
        if found := pattern.match(bare):
            rest = found["rest"]
            if rest[:1].isalnum():
                continue
            name, rank = _KIND[found["key"]]
            return Kind(name, rank, _value(found["number"].strip(".ªºa")), not rest.strip(" .:;,—–-*_])"))
    if (found := _NUMERAL_TITLE.fullmatch(line)) and (value := _value(found["number"])) is not None:
        return Kind("numeral", NUMERAL_RANK, value, False)
    return None


def _value(number: str) -> int | None:
    return int(number) if number.isdecimal() else roman(number)


def is_front(title: str) -> bool:
    """Title page, imprint, contents, preface and their like: no chapters, in nine languages."""
    return _FRONT_TITLE.fullmatch(fold_title(title)) is not None


def is_back(title: str) -> bool:
    """Colophon, licence, notes, index and their like."""
    return _BACK_TITLE.fullmatch(fold_title(title)) is not None


def is_useless(title: str) -> bool:
    """A contents entry that says nothing ("Start", "Text", a number of no chapter)."""
    return _USELESS_TITLE.fullmatch(fold_title(title)) is not None
