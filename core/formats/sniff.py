"""What kind of file this is, by its content and never by its name, and the sentence for each kind that is no book."""

import re
import zipfile
from pathlib import Path
from typing import Literal

from core.errors import BadBook

Kind = Literal[
    "epub", "pdf", "docx", "fb2", "fb2zip", "html", "md", "txt", "mobi",
    "empty", "picture", "comic", "archive", "sound", "kindle", "office", "program", "unknown",
]  # fmt: skip

_REFUSALS: dict[Kind, str] = {
    "empty": "book_empty",
    "picture": "book_kind_picture",
    "comic": "book_kind_comic",
    "archive": "book_kind_archive",
    "sound": "book_kind_sound",
    "kindle": "book_kind_kindle",
    "office": "book_kind_office",
    "program": "book_kind_program",
    "unknown": "book_kind_unknown",
}
_HEAD = 64 * 1024
"""Bytes looked at."""

_MAGIC: tuple[tuple[int, bytes, Kind], ...] = (
    (60, b"BOOKMOBI", "mobi"),
    (60, b"TEXtREAd", "mobi"),
    (0, b"TPZ0", "kindle"),
    (0, b"CONT\x02\x00", "kindle"),
    (0, b"\xeaDRMION\xee", "kindle"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office"),
    (0, b"{\\rtf", "office"),
    (0, b"%!PS", "office"),
    (0, b"\xff\xd8\xff", "picture"),
    (0, b"\x89PNG\r\n\x1a\n", "picture"),
    (0, b"GIF8", "picture"),
    (0, b"BM", "picture"),
    (0, b"II*\x00", "picture"),
    (0, b"MM\x00*", "picture"),
    (0, b"8BPS", "picture"),
    (0, b"AT&TFORM", "picture"),
    (8, b"WEBP", "picture"),
    (4, b"ftypheic", "picture"),
    (4, b"ftypavif", "picture"),
    (4, b"ftypmif1", "picture"),
    (4, b"ftyp", "sound"),
    (8, b"WAVE", "sound"),
    (8, b"AVI ", "sound"),
    (0, b"ID3", "sound"),
    (0, b"\xff\xfb", "sound"),
    (0, b"\xff\xf3", "sound"),
    (0, b"OggS", "sound"),
    (0, b"fLaC", "sound"),
    (0, b"\x1aE\xdf\xa3", "sound"),
    (0, b"7z\xbc\xaf\x27\x1c", "archive"),
    (0, b"\x1f\x8b", "archive"),
    (0, b"BZh", "archive"),
    (0, b"\xfd7zXZ\x00", "archive"),
    (0, b"\x28\xb5\x2f\xfd", "archive"),
    (257, b"ustar", "archive"),
    (0, b"\x7fELF", "program"),
    (0, b"MZ", "program"),
)
_PICTURE_NAME = re.compile(r"\.(?:jpe?g|png|gif|webp|bmp|tiff?|avif)$", re.IGNORECASE)
_PICTURE_NAMES = re.compile(rb"\.(?:jpe?g|png|gif|webp)", re.IGNORECASE)
_CONTROL = re.compile(b"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_HTML = re.compile(
    r"<(?:html|head|body|title|meta|div|p|h[1-6]|table|section|article|center|ul|ol)[\s>/]", re.IGNORECASE
)
_MD_HEADING = re.compile(r"^#{1,6} +\S", re.MULTILINE)
_MD_SIGNS = (
    re.compile(r"\[[^\]\n]+\]\([^)\s]+\)"),
    re.compile(r"(?<!\*)\*\*[^*\n]+\*\*(?!\*)"),
    re.compile(r"^(?:```|~~~)", re.MULTILINE),
    re.compile(r"^[^\n]+\n(?:={3,}|-{3,})\s*$", re.MULTILINE),
    re.compile(r"^> \S", re.MULTILINE),
    re.compile(r"^[*-] \S", re.MULTILINE),
)


def sniff(path: Path) -> Kind:
    """The kind of a file. Raises nothing for odd content; OSError when it cannot be read."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        return "empty"
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(path, head)
    if head.startswith(b"Rar!\x1a\x07"):
        return "comic" if _PICTURE_NAMES.search(head) else "archive"
    for offset, magic, kind in _MAGIC:
        if head.startswith(magic, offset) and not (len(magic) < 3 and _is_text(head)):
            return kind
    return _written(head) if _is_text(head) else "unknown"


def refusal(kind: Kind) -> BadBook | None:
    """The error that tells a reader what this kind of file is and what works instead; None for books."""
    key = _REFUSALS.get(kind)
    return BadBook(key) if key else None


def _zipped(path: Path, head: bytes) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError):
        # A damaged archive still begins with what it was; its reader has the better sentence.
        if b"application/epub+zip" in head[:200] or b"META-INF/container.xml" in head:
            return "epub"
        return "docx" if b"word/" in head else "archive"
    lowered = {name.lower() for name in names}
    if b"mimetypeapplication/epub+zip" in head[:200] or "meta-inf/container.xml" in lowered:
        return "epub"
    if any(name.endswith(".opf") for name in lowered):
        return "epub"
    if "word/document.xml" in lowered:
        return "docx"
    if "[content_types].xml" in lowered or b"application/vnd." in head[:200]:
        return "office"
    if len(names) == 1 and names[0].lower().endswith(".fb2"):
        return "fb2zip"
    pictures = sum(bool(_PICTURE_NAME.search(name)) for name in names)
    return "comic" if pictures and 10 * pictures >= 8 * len(names) else "archive"


def _is_text(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")):
        return True
    return len(_CONTROL.findall(head)) * 200 <= len(head) and head.count(0) * 1000 <= len(head)


def _written(head: bytes) -> Kind:
    text = head.decode("utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin-1", "ignore")
    if head.startswith((b"<\0", b"\0<")):
        text = head.replace(b"\0", b"").decode("latin-1")
    if head.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    start = text.lstrip()[:4096]
    if start.startswith("<"):
        if "<FictionBook" in start:
            return "fb2"
        if "<!doctype html" in start.lower() or _HTML.search(start):
            return "html"
        return "picture" if "<svg" in start else "unknown"
    headings = len(_MD_HEADING.findall(text))
    signs = sum(bool(sign.search(text)) for sign in _MD_SIGNS)
    if headings >= 3 or (headings and signs) or signs >= 3:
        return "md"
    return "html" if re.search(r"<(?:html|body)[\s>]", start, re.IGNORECASE) else "txt"
