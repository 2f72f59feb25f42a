"""EPUBs made on the spot: from pages and contents to a file, with every part open to mischief."""

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

Line = tuple[str, str] | tuple[str, str, Sequence["Line"]]
"""A line of the contents: title, reference ("" for a heading without a link), lines below it."""

CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="{path}" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def page(body: str, *, head: str = "<title>a page</title>", body_type: str = "") -> str:
    """An XHTML document around a body."""
    type_ = f' epub:type="{body_type}"' if body_type else ""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head>{head}</head><body{type_}>{body}</body></html>'
    )


def write_epub(
    path: Path,
    pages: Mapping[str, str | bytes],
    *,
    toc: Sequence[Line] = (),
    ncx: Sequence[Line] | None = None,
    spine: Iterable[tuple[str, bool]] | None = None,
    metadata: str = "<dc:title>A Book</dc:title><dc:creator>Ana Lima</dc:creator><dc:language>en</dc:language>",
    manifest: str = "",
    guide: str = "",
    navs: str = "",
    extra: Mapping[str, str | bytes] | None = None,
    folder: str = "OEBPS/",
) -> Path:
    """Write an EPUB whose `pages` (name -> document) stand in `spine` order (name, linear); all of them by default.

    `toc` makes a navigation document, `ncx` an NCX beside it; `navs` is further markup of the navigation document,
    `manifest` further items, `extra` further entries of the archive, which may also replace ours.
    """
    ids = {name: f"p{number}" for number, name in enumerate(pages)}
    items = "".join(
        f'<item id="{key}" href="{escape(name)}" media-type="application/xhtml+xml"/>' for name, key in ids.items()
    )
    refs = "".join(
        f'<itemref idref="{ids.get(name, name)}"{"" if linear else " linear=" + chr(34) + "no" + chr(34)}/>'
        for name, linear in (((name, True) for name in pages) if spine is None else spine)
    )
    entries: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER.format(path=f"{folder}book.opf"),
    }
    if toc or navs:
        items += '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        entries[f"{folder}nav.xhtml"] = page(f'<nav epub:type="toc"><h1>Contents</h1>{_list(toc)}</nav>{navs}')
    if ncx is not None:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        entries[f"{folder}toc.ncx"] = (
            f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>{_points(ncx)}</navMap></ncx>'
        )
    entries[f"{folder}book.opf"] = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">'
        f'<dc:identifier id="id">x</dc:identifier>{metadata}</metadata><manifest>{items}{manifest}</manifest>'
        f"<spine{' toc=' + chr(34) + 'ncx' + chr(34) if ncx is not None else ''}>{refs}</spine>{guide}</package>"
    )
    entries |= {f"{folder}{name}": text for name, text in pages.items()}
    entries |= dict(extra or {})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def _list(lines: Sequence[Line]) -> str:
    if not lines:
        return ""
    items = ""
    for title, href, *below in lines:
        label = f'<a href="{escape(href)}">{escape(title)}</a>' if href else f"<span>{escape(title)}</span>"
        items += f"<li>{label}{_list(below[0]) if below else ''}</li>"
    return f"<ol>{items}</ol>"


def _points(lines: Sequence[Line]) -> str:
    return "".join(
        f"<navPoint><navLabel><text>{escape(title)}</text></navLabel>"
        f'<content src="{escape(href)}"/>{_points(below[0]) if below else ""}</navPoint>'
        for title, href, *below in lines
    )
