"""*The Lantern House* as a file: three chapters in an EPUB made on the spot, for journeys. Ours, same licence."""

import zipfile
from pathlib import Path

CHAPTERS = (
    (
        "Green Ink",
        "Mara kept the lighthouse log in green ink. The keeper before her, Old Tobin, had vanished in a storm. "
        "Nobody in Carrow spoke of it.",
    ),
    (
        "The Ferry",
        "Ivo arrived on the Tuesday ferry with one suitcase. He said he was a surveyor, but his boots were new.",
    ),
    (
        "Tobin’s Coat",
        "The green ink in the log was not Mara’s. Ivo’s suitcase held Tobin’s oilskin coat. 🧥 "
        "“It still smells of salt,” Mara said.",
    ),
)

_PAGE = (
    '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
    "<head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"
)


def lantern_house(folder: Path, *, title: str = "The Lantern House", filler: int = 0) -> Path:
    """Write the book into `folder`; `filler` adds that many paragraphs to every chapter, so that passages have neighbours."""
    path = folder / f"{title.lower().replace(' ', '-')}.epub"
    pages = {}
    for number, (heading, text) in enumerate(CHAPTERS, 1):
        more = [
            f"Line {at} of the harbour book names a boat that came in late, and says no more." for at in range(filler)
        ]
        body = "".join(f"<p>{paragraph}</p>" for paragraph in (*more[: filler // 2], text, *more[filler // 2 :]))
        pages[f"c{number}"] = (heading, _PAGE.format(title=heading, body=body))
    manifest = "".join(f'<item id="{key}" href="{key}.xhtml" media-type="application/xhtml+xml"/>' for key in pages)
    links = "".join(f'<li><a href="{key}.xhtml">{heading}</a></li>' for key, (heading, _) in pages.items())
    spine = "".join(f'<itemref idref="{key}"/>' for key in pages)
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">lantern</dc:identifier>'
        f"<dc:title>{title}</dc:title><dc:language>en</dc:language></metadata><manifest>{manifest}"
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/></manifest>'
        f"<spine>{spine}</spine></package>"
    )
    nav = (
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>'
        f'<nav epub:type="toc"><ol>{links}</ol></nav></body></html>'
    )
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("package.opf", package)
        archive.writestr("nav.xhtml", nav)
        for key, (_, page) in pages.items():
            archive.writestr(f"{key}.xhtml", page)
    return path
