"""Reasoning that arrives as text: `<think>…</think>`, or only the closing mark, after which the answer begins (C46)."""

import re

_MARK = re.compile(r"<\s*(/?)\s*(?:think|thinking|thought|thoughts|reasoning)\s*>", re.IGNORECASE)
_BEGINNING = re.compile(r"<\s*/?\s*[a-z]{0,9}\s*\Z", re.IGNORECASE)


class Reasoning:
    """Takes reasoning out of a stream. With `hold`, nothing passes before the closing mark or the end."""

    def __init__(self, hold: bool) -> None:
        self._hold = hold
        self._inside = False
        self._opened = False
        self._text: list[str] = []
        self._tail = ""
        self.saw_only_closing = False
        """True once a closing mark came that nothing had opened."""

    def feed(self, piece: str, final: bool = False) -> tuple[str, bool]:
        """The text that passes, and whether it replaces all that passed before (all of that was reasoning)."""
        restarted = False
        passed: list[str] = []
        text = self._tail + piece
        place = 0
        for match in _MARK.finditer(text):
            if match[1] and not self._inside:
                passed.clear()
                self._text.clear()
                restarted = True
                self.saw_only_closing = True
                self._hold = False
            elif match[1]:
                self._inside = False
                self._hold = False
            elif not self._inside:
                passed.append(text[place : match.start()])
                self._inside = True
            place = match.end()
        begin = _BEGINNING.search(text, max(place, len(text) - 24))
        end = len(text) if final or begin is None else begin.start()
        self._tail = text[end:]
        if not self._inside:
            passed.append(text[place:end])
        if self._hold and not final:
            self._text += passed
            return "", restarted
        released = "".join([*self._text, *passed])
        self._text.clear()
        return released, restarted
