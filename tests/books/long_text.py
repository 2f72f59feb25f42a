"""A long book made up on the spot: chapters of a given size, each sentence different, in Markdown."""

from pathlib import Path

_WHO = ("Ann", "Ben", "the keeper", "a gull", "the inspector", "her sister")
_DID = (
    "counted the panes",
    "lit the lamp",
    "wrote in green ink",
    "heard the storm",
    "left the island",
    "found the log",
)


def chapter(number: int, characters: int) -> list[str]:
    """The paragraphs of one chapter."""
    found: list[str] = []
    size = at = 0
    while size < characters:
        at += 1
        sentences = [
            f"On day {number * 1000 + at * 7 + more} {_WHO[(at + more) % 6]} {_DID[(at * 5 + more) % 6]}."
            for more in range(6)
        ]
        found.append(" ".join(sentences))
        size += len(found[-1]) + 2
    return found


def write_long_text(path: Path, chapters: int, characters: int = 16_000) -> Path:
    """Write the book; as many segments as `chapters` when a chapter has 10,000 to 20,000 characters."""
    parts = []
    for number in range(1, chapters + 1):
        parts.append(f"# Chapter {number}\n")
        parts += [f"{paragraph}\n" for paragraph in chapter(number, characters)]
    path.write_text("\n".join(parts), encoding="utf-8")
    return path
