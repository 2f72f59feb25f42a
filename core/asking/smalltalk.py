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


def is_chat(text: str) -> bool:
    """True when nothing is left of the text after the closed list and stop words, and the list had a part in it."""
    folded = " ".join("".join(char if char.isalnum() else " " for char in words.fold(text)).split())
    rest, found = _PATTERN.subn(" ", folded)
    return found > 0 and not words.terms(rest, words.guess_language(text))
