"""EPUB books: a guarded archive, EbookLib for package and contents tree, our own order, text and offsets."""

from core.formats.epub.reading import read_epub

__all__ = ["read_epub"]
