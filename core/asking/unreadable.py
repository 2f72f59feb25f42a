"""Questions about a page that is a picture: what cannot be read is named, never guessed at. Pure."""

import re
from collections.abc import Sequence

_PAGE = re.compile(
    r"\b(?:pages?|pp?\.|p[áa]g(?:ina)?s?\.?|seiten?|стр(?:аниц\w*|\.)?|صفحة)\s*(?:n[oº°.]+\s*)?(\d{1,5}|[ivxlcdm]{1,7})\b",
    re.I,
)


def asked_pages(question: str) -> list[str]:
    """The page labels a question names: "What is on page 3?" -> ["3"]."""
    return [label.lower() for label in _PAGE.findall(question)]


def unreadable(question: str, labels: Sequence[str], blind: Sequence[int]) -> list[str]:
    """The pages a question names that have no text, as the reader named them.

    `labels` are the printed labels of the file's pages ("" where none is printed), `blind` the pages without text,
    counted from 0. A label is looked up as printed first, else as a page of the file.
    """
    found = []
    printed = {label.lower(): page for page, label in enumerate(labels) if label}
    for label in asked_pages(question):
        page = printed.get(label, int(label) - 1 if label.isdecimal() else -1)
        if page in blind and label not in found:
            found.append(label)
    return found
