"""Bytes to text, and the cleaning every format shares: which encoding, which characters vanish, NFC, white space."""

import codecs
import re
from unicodedata import is_normalized, normalize

# C0 controls (white space apart), soft hyphen, zero-width space, word joiner, byte order mark, two non-characters.
# ZWJ and ZWNJ stay: Persian, the Indic scripts and emoji are spelt with them.
_DROPPED = re.compile("[\x00-\x08\x0e-\x1f\xad\u200b\u2060\ufeff\ufffe\uffff]")
_EVEN = re.compile("[ -~\xa1-\xac\xae-\u017f\u2010-\u2027]*")
"""What a book in the Latin script is mostly made of: where spaces stand alone, nothing is cleaned and nothing squeezed."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the other's
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_META = re.compile(rb"""<meta[^>]{1,200}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_SAMPLE = 200_000
"""Bytes shown to the guesser: it samples anyway, and a whole book of 50 MB would only cost time."""
_TELLING = 30
"""Fewer bytes above ASCII than this tell a guesser nothing: "ni\xf1a" is as good Polish as Spanish. Windows-1252 then."""


def decode(data: bytes) -> str:
    """The text of `data`: byte order mark, declaration, strict UTF-8, then a guess. Never fails on a byte.

    A declaration that the bytes contradict is passed over. Bytes that fit nothing become U+FFFD.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    for candidate in (_bare_utf16(data), _declared(data), "utf-8"):
        if candidate is not None and (text := _strict(data, candidate)) is not None:
            return text
    return _guess(data)


def _bare_utf16(data: bytes) -> str | None:
    """UTF-16 markup without a byte order mark shows by the zero beside its first angle bracket."""
    return {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}.get(data[:2])


def _declared(data: bytes) -> str | None:
    head = data[:1024]
    found = _DECLARED.match(head.lstrip()) or (_META.search(head) if b"<" in head else None)
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
    except LookupError:
        return None
    if name.startswith(("utf-16", "utf-32")):
        return None  # whoever could read the declaration byte by byte knows that it lies
    # What calls itself Latin-1 or ASCII was mostly written on Windows; browsers read it so too.
    return "cp1252" if name in ("iso8859-1", "ascii") else name


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None  # LookupError: "hex" and its like are codecs, but not of text


def _guess(data: bytes) -> str:
    """Text of no declared encoding: UTF-8 with a few broken bytes, else what the guesser says, else Windows-1252."""
    mended = data.decode("utf-8", "replace")
    broken = mended.count("\ufffd")
    sound = sum(map(len, re.findall("[^\x00-\x7f\ufffd]+", mended)))
    if sound > broken:
        return mended
    if broken < _TELLING and (text := _strict(data, "cp1252")) is not None:
        return text
    from charset_normalizer import from_bytes  # slow to import, and few books come here

    sample = data if len(data) <= _SAMPLE else data[: data.rfind(b"\n", 0, _SAMPLE)]
    best = from_bytes(sample).best()
    return data.decode(best.encoding if best else "cp1252", "replace")


def clean(text: str) -> str:
    """Drop what is no text (controls, soft hyphen, zero-width space, word joiner, BOM); NFC; line ends become newlines.

    Never NFKC: it would turn superscripts and full-width forms into other text.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _DROPPED.sub("", text)
    if "\x0c" in text or "\x0b" in text:  # form feed and vertical tab part words, the other controls do not
        text = text.replace("\x0c", "\n").replace("\x0b", "\n")
    return text if is_normalized("NFC", text) else normalize("NFC", text)


def squeeze(text: str) -> str:
    """Every run of white space (space, tab, newline, NBSP, thin and wide spaces) becomes one space, at the ends too."""
    if _is_even(text):
        return text
    words = text.split()
    if not words:
        return " " if text else ""
    squeezed = " ".join(words)
    if text[0].isspace():
        squeezed = " " + squeezed
    if text[-1].isspace():
        squeezed += " "
    return squeezed


def tidy(text: str) -> str:
    """`clean`, then `squeeze`."""
    return text if _is_even(text) else squeeze(clean(text))


def _is_even(text: str) -> bool:
    return "  " not in text and _EVEN.fullmatch(text) is not None
