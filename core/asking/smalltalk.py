"""What is chat and not a question about the book: a closed list of greetings, thanks and words to the bot (en, es, pt)."""

import re

from core import words

_PHRASES = """
hello|hi|hey|hi there|hello there|good morning|good afternoon|good evening|good night|bye|goodbye|see you|welcome back
thanks|thank you|many thanks|thank you very much|thanks a lot|great|cool|nice|well done|good bot|bad bot|ok|okay|please|sorry
how are you|who are you|what are you|what can you do|what do you do|are you there|are you a bot|are you human|help
hola|buenos dias|buenas tardes|buenas noches|buenas|adios|hasta luego|gracias|muchas gracias|genial|vale|perdon|por favor
que tal|como estas|quien eres|que eres|que puedes hacer|estas ahi|eres un bot|ayuda|de nada
ola|oi|bom dia|boa tarde|boa noite|tchau|ate logo|obrigado|obrigada|muito obrigado|muito obrigada|valeu|desculpa|desculpe
tudo bem|como vai|como voce esta|quem e voce|quem es tu|o que voce faz|o que voce pode fazer|voce e um bot|ajuda|de nada
loccit
"""
_CLOSED = sorted(
    (phrase for line in _PHRASES.split("\n") for phrase in line.split("|") if phrase), key=len, reverse=True
)
_PATTERN = re.compile(r"\b(?:" + "|".join(map(re.escape, _CLOSED)) + r")\b")


_FILLERS = frozenset(
    [
        "a",
        "all",
        "again",
        "and",
        "bot",
        "dear",
        "friend",
        "friends",
        "everyone",
        "everybody",
        "for",
        "have",
        "i",
        "m",
        "just",
        "my",
        "nice",
        "of",
        "oh",
        "so",
        "that",
        "the",
        "there",
        "this",
        "to",
        "today",
        "too",
        "very",
        "you",
        "your",
        "day",
        "amigo",
        "amiga",
        "amigos",
        "a",
        "todos",
        "de",
        "el",
        "eso",
        "la",
        "lo",
        "mi",
        "muy",
        "por",
        "que",
        "tal",
        "te",
        "todo",
        "todos",
        "un",
        "una",
        "y",
        "gente",
        "pessoal",
        "amigos",
        "caro",
        "cara",
        "da",
        "do",
        "e",
        "isso",
        "meu",
        "minha",
        "muito",
        "o",
        "os",
        "para",
        "por",
        "tudo",
        "voce",
        "voces",
        "oi",
        "ei",
        "eh",
        "ah",
    ]
)
"""What may stand around such a phrase without making a question of it. No question words, no he, she or they."""
_MOST_FILLERS = 4


def is_chat(text: str) -> bool:
    """True when nothing is left of the text but a few fillers once the closed list is taken out.

    A polite word does not turn a question into chat: "Hello, what did she do?" is about the book, however few of its
    words tell anything.
    """
    folded = " ".join("".join(char if char.isalnum() else " " for char in words.fold(text)).split())
    rest, found = _PATTERN.subn(" ", folded)
    left = rest.split()
    return found > 0 and len(left) <= _MOST_FILLERS and _FILLERS.issuperset(left)
