"""What settling costs: seconds per character at several lengths (must not grow), the slowest piece, the first visible text."""

import random
import time

from core.footnotes import Settler
from tests.books.lantern import EVIDENCE, passages
from tests.promises.adversary import make

PASSAGES = passages(EVIDENCE)


def draft(length: int) -> str:
    rng = random.Random(length)
    text = ""
    while len(text) < length:
        case = make(rng.randrange(1_000_000))
        if case.reason == "stop":
            text += case.draft + "\n\n"
    return text[:length]


def pieces(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


def measure(text: str, evidence: list[str]) -> tuple[float, list[float]]:
    settler = Settler(EVIDENCE, evidence)
    slowest: list[float] = []
    begin = time.process_time()
    for piece in pieces(text):
        before = time.process_time()
        settler.feed(piece)
        slowest.append(time.process_time() - before)
    settler.finish()
    return time.process_time() - begin, sorted(slowest)


def main() -> None:
    book = [*PASSAGES, "The rain fell on the quay and nobody came to see the lamp lit again. " * 700]
    for name, evidence in (("small evidence", PASSAGES), ("48,000 characters of evidence", book)):
        for length in (2_000, 8_000, 32_000):
            text = draft(length)
            total, times = measure(text, evidence)
            print(
                f"{name}, draft of {length:,}: {total * 1e6 / length:.2f} us a character, {total * 1000:.1f} ms in all, piece"
                f" p50 {times[len(times) // 2] * 1e6:.0f} us p99 {times[len(times) * 99 // 100] * 1e6:.0f} us max {times[-1] * 1e3:.2f} ms"
            )
    for name, hostile in (
        ("backticks", "` `` " * 2000),
        ("brackets", "[" * 10_000),
        ("quotes", '" ' * 5000),
        ("curly", "“" * 10_000),
        ("singles", "'s s' " * 1600),
        ("f", "f1-" * 3300),
        ("open tag", "[f1-0-42, " * 1000),
        ("dropped", "[f9-0-1] " * 1100),
        ("notes", "[f1-0-42][f2-0-51]" * 550),
        ("stars", "*_" * 5000),
        ("spaces", "a" + " " * 10_000),
        ("commas", "," * 10_000),
        ("newlines", "\n- " * 3300),
        ("lt", "<" * 10_000),
        ("amp", "&a" * 5000),
        ("labels", "x\n\nSources:\n" * 800),
        ("digits", "[" + "1" * 10_000),
        ("middle dots", "f" + "·" * 10_000),
        ("addresses", "[f1-0-42](" + "a(b)" * 2500),
        ("spaced f", "[f" + " " * 10_000),
        ("dropped dashes", "[f9-0-1]" + "-" * 10_000),
        ("spaced label", "x\n\nSources:" + " " * 10_000),
        ("quote marks", "> " * 5000),
        ("wrapped quotes", "> word “and\n" * 800),
        ("long quotes", "> " + "word " * 2000),
        ("stray marks", "It is,” " * 1250),
        ("code spaces", "```\n" + " " * 10_000),
    ):
        # The best of three: one run of a few milliseconds may grow by half when the machine does something else.
        times = [min(measure(hostile[: len(hostile) // part], PASSAGES)[0] for _ in range(3)) for part in (4, 1)]
        print(f"hostile {name}: {times[1] * 1e6 / len(hostile):.2f} us a character, x{times[1] / times[0]:.1f} for x4")


if __name__ == "__main__":
    main()
