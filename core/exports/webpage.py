"""A chat as one HTML file that needs nothing else: no script, no picture, no address but the reading view's. Pure."""

from collections.abc import Sequence
from html import escape

from core import document
from core.errors import LoccitError
from core.exports.told import Opened, Told, place, position
from core.strings import locale_of, say, tell

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1.05rem/1.6 Georgia,serif;max-width:42rem;margin:2rem auto;padding:0 1rem}"
    "article{border-top:1px solid #8886;padding:1rem 0}h2{font-size:1.2rem;overflow-wrap:anywhere}"
    ".when,.notice,.where{color:#777;font-size:.9rem}"
    ".note{border-left:.2rem solid #b8860b;margin:1rem 0;padding:0 0 0 .8rem}"
    ".note blockquote{margin:.4rem 0;white-space:pre-wrap}sup a{padding:0 .15em}"
    "pre{white-space:pre-wrap}table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.2rem .5rem}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def as_html(chat: Sequence[Told], locale: str | None) -> str:
    """The whole file."""
    title = escape(say("export_title", locale))
    turns = "".join(_turn(at, told, locale) for at, told in enumerate(chat, 1))
    return (
        f'<!doctype html>\n<html lang="{locale_of(locale)}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body><main><h1>{title}</h1>\n{turns}</main></body></html>\n"
    )


def _turn(at: int, told: Told, locale: str | None) -> str:
    turn = told.turn
    spoken = {note.number: escape(say("web_note", locale, number=note.number)) for note in told.notes}

    def cite(number: int) -> str:
        label = spoken.get(number, str(number))
        return f'<sup><a href="#t{at}n{number}" aria-label="{label}">[{number}]</a></sup>'

    notices = "".join(f'<p class="notice">{escape(tell(notice, locale))}</p>' for notice in turn.answer.notices)
    return (
        f'<article><h2 dir="auto">{escape(" ".join(turn.question.split()))}</h2><p class="when">{told.asked}</p>'
        f"{notices}{document.html(turn.answer.document, cite)}"
        f"{''.join(_note(at, note, locale) for note in told.notes)}</article>\n"
    )


def _note(at: int, note: Opened, locale: str | None) -> str:
    passage, id = note.passage, f"t{at}n{note.number}"
    if isinstance(passage, LoccitError):
        why = escape(say(passage.key, locale, **passage.params))
        return f'<section class="note" id="{id}"><p><b>[{note.number}]</b> {why}</p></section>'
    href = escape(note.link or "")
    link = f' · <a href="{href}" rel="noreferrer">{escape(say("web_open", locale))}</a>' if href else ""
    return (
        f'<section class="note" id="{id}" data-book="{escape(passage.book)}" data-tag="{position(passage)}">'
        f'<p dir="auto"><b>[{note.number}]</b> {escape(place(passage))}</p>'
        f'<blockquote dir="auto">{escape(passage.quote)}</blockquote>'
        f'<p class="where"><code>{position(passage)}</code>{link}</p></section>'
    )
