"""What was forgotten, told in one line: "3 questions, 1 place". Pure."""

from dataclasses import fields

from core.model import Forgotten
from core.strings import say


def counted(gone: Forgotten, locale: str | None = None) -> str:
    """Every count that is not nought, in words; one sentence when there is none."""
    told = [
        say(f"forgotten_{field.name}", locale, count=getattr(gone, field.name))
        for field in fields(gone)
        if getattr(gone, field.name)
    ]
    return ", ".join(told) or say("forgotten_nothing", locale)
