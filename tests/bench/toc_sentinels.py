"""Every entry of the contents of every open EPUB points at the word planted where it should.

Run: python -m tests.bench.toc_sentinels
"""

import sys
import tempfile
from pathlib import Path

from core.errors import BadBook
from core.formats.epub import read_epub
from tests.books.sentinels import plant
from tests.parts import SHARED


def main() -> int:
    if SHARED is None:
        print("left out: no ../shared")
        return 0
    right = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted((SHARED / "books").glob("*.epub")):
            planted = Path(folder) / source.name
            expected = plant(source, planted)
            try:
                book = read_epub(planted)
            except BadBook as error:
                print(f"{source.name:40} refused: {error.key}")
                continue
            found = [book.files[entry.file].text[entry.offset :] for entry in book.toc]
            good = sum(text.startswith(entry.sentinel) for text, entry in zip(found, expected, strict=False))
            right += good
            wrong += max(len(expected), len(found)) - good
            print(
                f"{source.name:40} {good:4} of {len(expected):4} entries at their sentinel, {len(found)} entries read"
            )
    print(f"{'all':40} {right:4} right, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
