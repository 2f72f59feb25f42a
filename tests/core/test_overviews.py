"""Which questions ask for an overview, and what the core does with one."""

import pytest

from core.asking.overviews import is_overview


@pytest.mark.parametrize(
    "text",
    [
        "Summarise what we have read",
        "Please summarize the book so far.",
        "Can you sum up what we've read so far?",
        "themes so far",
        "What are the main themes?",
        "What are the main themes of The Lantern House so far?",
        "What is the book about?",
        "What is it about?",
        "What's The Lantern House about?",
        "Give us a short summary of everything we have read",
        "A recap, please",
        "what has happened so far",
        "Tell me about the book",
        "Resume lo que hemos leído hasta ahora",
        "¿De qué trata el libro?",
        "¿De qué trata?",
        "¿De qué trata The Lantern House?",
        "¿Cuáles son los temas principales hasta ahora?",
        "Haznos un resumen breve del libro",
        "Resuma o que lemos até agora",
        "Do que trata o livro?",
        "Quais são os temas principais?",
        "O que aconteceu até agora?",
    ],
)
def test_these_ask_for_an_overview(text: str) -> None:
    assert is_overview(text, ["The Lantern House"])


@pytest.mark.parametrize(
    "text",
    [
        "What is the lamp about?",
        "Summarise chapter 3",
        "Who is Mara?",
        "What happened on the ferry?",
        "What happens?",
        "What is the theme of Ivo's song?",
        "the book",
        "",
        "?",
        "What are the points on the chart?",
        "¿De qué trata la carta de Mara?",
        "O que aconteceu no barco?",
        "Summarise what Mara wrote about the storm",
    ],
)
def test_these_ask_for_something_particular(text: str) -> None:
    assert not is_overview(text, ["The Lantern House"])
