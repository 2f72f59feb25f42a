"""MOBI 6 books: PalmDOC text records unpacked to the HTML they hold, read by the pass that reads every page.

PyMuPDF opens these too, but lays them out in pages: paragraphs fall apart and headings vanish. The unpacking is two
dozen lines.
"""

import struct

from core.errors import BadBook
from core.formats.extracted import Extracted
from core.formats.web import from_tree
from core.formats.xhtml import parse

_PLAIN, _PALMDOC = 1, 2
_UTF8 = 65001
_MOST_BYTES = 100 * 1024 * 1024


def read_mobi(data: bytes) -> Extracted:
    """The book of a MOBI file.

    Raises BadBook: copy-protected, broken, or of a kind whose text does not come out (KF8/AZW3, Huffman-packed).
    """
    try:
        return _read(data)
    except (struct.error, IndexError):
        raise BadBook("book_mobi_broken") from None


def _read(data: bytes) -> Extracted:
    if data[60:68] != b"BOOKMOBI":
        raise BadBook("book_mobi_broken")
    (count,) = struct.unpack_from(">H", data, 76)
    offsets = [struct.unpack_from(">L", data, 78 + 8 * index)[0] for index in range(count)] + [len(data)]
    head = data[offsets[0] : offsets[1]]
    packing, _, _, records, _, locked = struct.unpack_from(">HHLHHH", head)
    if locked:
        raise BadBook("book_mobi_protected")
    length, _, encoding, _, version = struct.unpack_from(">LLLLL", head, 20)
    if version >= 8 or packing not in (_PLAIN, _PALMDOC):
        raise BadBook("book_mobi_unreadable")
    flags = struct.unpack_from(">H", head, 0xF2)[0] if length >= 0xE4 else 0
    parts = []
    size = 0
    for index in range(1, records + 1):
        record = _without_trailers(data[offsets[index] : offsets[index + 1]], flags)
        part = _unpacked(record) if packing == _PALMDOC else record
        size += len(part)
        if size > _MOST_BYTES:
            raise BadBook("book_mobi_broken")
        parts.append(part)
    html = b"".join(parts).decode("utf-8" if encoding == _UTF8 else "cp1252", "replace")
    root = parse(html, html=True)
    extracted = from_tree(root, "mobi") if root is not None else Extracted(format="mobi", files=[])
    codec = "utf-8" if encoding == _UTF8 else "cp1252"
    name_at, name_length = struct.unpack_from(">LL", head, 84)
    extra = _extra(head, 16 + length, codec) if struct.unpack_from(">L", head, 128)[0] & 0x40 else {}
    extracted.title = (extra.get(503) or [head[name_at : name_at + name_length].decode(codec, "replace")])[0]
    extracted.authors = tuple(extra.get(100, ()))
    extracted.language = (extra.get(524) or [""])[0]
    return extracted


def _without_trailers(record: bytes, flags: int) -> bytes:
    """A text record without the bytes that readers append to it; each trailer tells its size backwards."""
    end = len(record)
    for _ in range((flags >> 1).bit_count()):
        size = shift = 0
        for position in range(end - 1, max(-1, end - 5), -1):
            byte = record[position]
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte & 0x80:
                break
        end -= size
    if flags & 1 and end > 0:
        end -= (record[end - 1] & 3) + 1
    return record[: max(0, end)]


def _unpacked(record: bytes) -> bytes:
    """PalmDOC: bytes that stand for themselves, a space with a letter, or a copy of up to ten bytes from before."""
    out = bytearray()
    at = 0
    while at < len(record):
        byte = record[at]
        at += 1
        if 1 <= byte <= 8:
            out += record[at : at + byte]
            at += byte
        elif byte < 0x80:
            out.append(byte)
        elif byte >= 0xC0:
            out += bytes((32, byte ^ 0x80))
        elif at < len(record):
            pair = (byte << 8 | record[at]) & 0x3FFF
            at += 1
            distance, length = pair >> 3, (pair & 7) + 3
            if not 0 < distance <= len(out):
                continue
            for _ in range(length):
                out.append(out[-distance])
    return bytes(out)


def _extra(head: bytes, at: int, codec: str) -> dict[int, list[str]]:
    """Title, author and language from the EXTH block."""
    found: dict[int, list[str]] = {}
    if head[at : at + 4] != b"EXTH":
        return found
    (count,) = struct.unpack_from(">L", head, at + 8)
    at += 12
    for _ in range(min(count, 1000)):
        kind, length = struct.unpack_from(">LL", head, at)
        if kind in (100, 503, 524):
            found.setdefault(kind, []).append(head[at + 8 : at + length].decode(codec, "replace").strip())
        at += max(8, length)
    return found
