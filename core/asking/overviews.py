"""What asks for an overview of what has been read, by a closed list of phrasings (en, es, pt). Pure."""

import re
from collections.abc import Iterable
from functools import cache

from core import words

_PHRASES = {
    "en": r"""
(?:summari[sz]e|sum up|recap)(?: for (?:me|us))? {all}
(?:give|write|make|tell|show)(?: me| us)? (?:a|an|the|your){size}? {kind}(?: of {all})?
(?:a |an |the )?{kind}(?: of {all})?
what(?: is| s| was) {book} (?:all )?about
what(?: has happened| have we read| did we read| happened| happens)(?: (?:in|of) {book})?
what(?: are| re)(?: the| its)?{size}? {topics}(?: (?:of|in) {all})?
(?:the )?{size}?{topics}(?: (?:of|in) {all})?
tell (?:me|us) about {book}
what do you (?:think|make) of {book}
how(?: is| s) {book} (?:structured|organi[sz]ed|built)
""",
    "es": r"""
(?:resume|resumir|resumid|resumenos|resumeme|resumen) {all}
(?:haz|haznos|hazme|dame|danos|escribe)(?:me|nos)? (?:un|el){size}? {kind}{size}?(?: de {all})?
(?:un |el )?{kind}(?: de {all})?
(?:de|sobre) que (?:trata|va|es|habla) ?{book}?
que (?:ha pasado|paso|pasa|hemos leido|ha ocurrido|ocurre|sucede)(?: en {book})?
cuales son (?:los|las){size}? {topics}{size}?(?: (?:de|en) {all})?
(?:los |las )?{topics}{size}?(?: (?:de|en) {all})?
que (?:piensas|opinas|te parece) (?:de )?{book}
""",
    "pt": r"""
(?:resume|resuma|resumir|resumam|resumo) {all}
(?:faz|faca|faz nos|da|da me|de me|escreve|escreva)(?: me| nos)? (?:um|o){size}? {kind}{size}?(?: d[eoa]s? {all})?
(?:um |o )?{kind}(?: d[eoa]s? {all})?
(?:(?:de|do|sobre o) que (?:trata|fala|e)|qual e o assunto d[eoa]) ?{book}?
o que (?:aconteceu|acontece|ja lemos|lemos|passou|se passou|se passa)(?: n?o? ?{book})?
quais sao (?:os|as){size}? {topics}{size}?(?: (?:d[eoa]|n[oa])s? {all})?
(?:os |as )?{topics}{size}?(?: (?:d[eoa]|n[oa])s? {all})?
o que (?:achas|acha|pensas|pensa) d[eoa] {book}
""",
}
_WORDS = {
    "en": {
        "book": r"(?:(?:this|the|our|that|it)(?: whole| entire)?(?: book| novel| story| text| play| plot)?|everything)",
        "read": r"(?:(?:what|everything|all)(?: that)? (?:we|i)(?: have| ve)? read|what (?:has )?happened|it all)",
        "kind": r"(?:summary|overview|recap|synopsis|outline)",
        "topics": r"(?:themes?|topics|motifs|ideas|points|threads|events)",
        "size": r"(?: ?(?:short|brief|quick|long|full|main|central|major|big|key|chief|great|important))",
        "end": r"(?: (?:so far|until now|up to now|till now|up to here|please|for (?:me|us)|already|in short|briefly))*",
        "start": r"(?:please |can you |could you |would you |now |ok |so )*",
    },
    "es": {
        "book": r"(?:(?:este|el|la|esta|nuestro|todo el|toda la)? ?(?:libro|novela|historia|texto|obra|todo))",
        "read": r"(?:(?:todo )?lo (?:que (?:hemos leido|leimos|llevamos leido|ha pasado|paso)|leido))",
        "kind": r"(?:resumen|sinopsis|vista general|panorama)",
        "topics": r"(?:temas?|ideas|motivos|hilos|hechos)",
        "size": r"(?: ?(?:breve|corto|largo|completo|principales|centrales|grandes|mas importantes|general))",
        "end": r"(?: (?:hasta ahora|hasta aqui|por favor|hasta el momento|brevemente|en breve))*",
        "start": r"(?:por favor |puedes |podrias |ahora )*",
    },
    "pt": {
        "book": r"(?:(?:este|o|a|esta|nosso|todo o|toda a)? ?(?:livro|romance|historia|texto|obra|tudo))",
        "read": r"(?:(?:tudo )?o que (?:ja )?(?:lemos|foi lido|aconteceu|se passou)|que lemos)",
        "kind": r"(?:resumo|sinopse|visao geral|panorama)",
        "topics": r"(?:temas?|ideias|motivos|fios|acontecimentos)",
        "size": r"(?: ?(?:breve|curto|longo|completo|principais|centrais|grandes|mais importantes|geral))",
        "end": r"(?: (?:ate agora|ate aqui|por favor|ate ao momento|ate o momento|brevemente|em breve))*",
        "start": r"(?:por favor |podes |pode |poderia |agora )*",
    },
}


@cache
def _pattern(language: str) -> "re.Pattern[str]":
    """Made when the first question comes: it takes its time, and many commands ask none."""
    known = _WORDS[language]
    parts = {name: known[name] for name in ("book", "kind", "topics", "size")}
    parts["all"] = f"(?:{known['read']}|{known['book']})"
    phrases = "|".join(line.format(**parts) for line in _PHRASES[language].split("\n") if line)
    return re.compile(f"{known['start']}(?:{phrases}){known['end']}")


_BARE = {"what happens", "what happened", "events", "points", "ideas", "que pasa", "que paso", "o que acontece"}
"""Said alone these ask about a scene just spoken of, not about the book."""


def is_overview(text: str, titles: Iterable[str] = ()) -> bool:
    """True when nothing particular is asked, only for the whole of what has been read. Titles stand for "the book"."""
    asked = _plain(text)
    for title in sorted(filter(None, map(_plain, titles)), key=len, reverse=True):
        asked = re.sub(rf"\b{re.escape(title)}\b", "the book", asked)
    if asked in _BARE:
        return False
    local = (
        asked,
        asked.replace("the book", "el libro").replace(" del ", " de el "),
        asked.replace("the book", "o livro"),
    )
    return any(_pattern(language).fullmatch(said) for language, said in zip(_PHRASES, local, strict=True))


def _plain(text: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in words.fold(text)).split())
