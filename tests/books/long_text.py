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


def write_long_text(path: Path, chapters: int, characters: int = 16_000) -> Path:
    """Write the book; as many segments as `chapters` when a chapter has 10,000 to 20,000 characters."""
    parts = []
    for chapter in range(1, chapters + 1):
        parts.append(f"# Chapter {chapter}\n")
        size = number = 0
        while size < characters:
            number += 1
            sentences = [
                f"On day {chapter * 1000 + number * 7 + at} {_WHO[(number + at) % 6]} {_DID[(number * 5 + at) % 6]}."
                for at in range(6)
            ]
            paragraph = " ".join(sentences)
            size += len(paragraph) + 2
            parts.append(f"{paragraph}\n")
    path.write_text("\n".join(parts), encoding="utf-8")
    return path
