"""Word documents: mammoth makes HTML of the document's meaning, read by the pass that reads every page."""

import io
import zipfile
import zlib

import mammoth

from core.errors import BadBook
from core.formats.epub.archive import MOST_ENTRIES, MOST_INFLATED
from core.formats.extracted import Extracted
from core.formats.markup import parse_xml
from core.formats.web import from_tree
from core.formats.xhtml import parse

_RATIO = 200
_RATIO_FROM = 8 * 1024 * 1024
_CHUNK = 1 << 20


def read_docx(data: bytes) -> Extracted:
    """The book of a Word document: heading styles as contents, tables as rows, notes at the end, pictures left out.

    Raises BadBook: broken, locked by a password, or inflating to more than the limits.
    """
    properties = _checked(data)
    try:
        html = mammoth.convert_to_html(io.BytesIO(data), convert_image=mammoth.images.img_element(_no_picture)).value
    except (
        KeyError,
        ValueError,
        AttributeError,
        IndexError,
        TypeError,
        OSError,
        zipfile.BadZipFile,
        SyntaxError,
        zlib.error,
    ):
        # mammoth has no error of its own: what it trips over is a broken document.
        raise BadBook("book_docx_broken") from None
    root = parse(f"<html><body>{html}</body></html>", html=True)
    extracted = from_tree(root, "docx") if root is not None else Extracted(format="docx", files=[])
    extracted.title, extracted.authors, extracted.language = _core(properties)
    return extracted


def _checked(data: bytes) -> bytes:
    """The document's core properties; every entry is inflated once to count it."""
    properties = b""
    total = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise BadBook("book_docx_too_large")
            for entry in entries:
                size = 0
                kept: list[bytes] = []
                with archive.open(entry) as stream:
                    while chunk := stream.read(_CHUNK):
                        size += len(chunk)
                        total += len(chunk)
                        if total > MOST_INFLATED or size > max(_RATIO_FROM, _RATIO * max(1, entry.compress_size)):
                            raise BadBook("book_docx_too_large")
                        if entry.filename == "docProps/core.xml":
                            kept.append(chunk)
                if kept:
                    properties = b"".join(kept)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError, RuntimeError):
        raise BadBook("book_docx_broken") from None
    return properties


def _core(properties: bytes) -> tuple[str, tuple[str, ...], str]:
    root = parse_xml(properties) if properties else None
    values: dict[str, str] = {}
    if root is not None:
        for node in root:
            if isinstance(node.tag, str) and node.text:
                values[node.tag.rpartition("}")[2]] = " ".join(node.text.split())
    authors = tuple(name for part in values.get("creator", "").split(";") if (name := part.strip()))
    return values.get("title", ""), authors, values.get("language", "")


def _no_picture(image: object) -> dict[str, str]:
    return {}
