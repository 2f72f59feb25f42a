"""Strings that would ping, link or draw in Slack if anything let them: seeded mixtures of what the vendor reads."""

import random

_LIVE = [
    "<!channel>", "<!here>", "<!everyone>", "<@U0ANA>", "<#C0CLUB|club>", "<!subteam^S0ALL|@all>", "@channel", "@here",
    "@everyone", "<https://evil.example|free books>", "<https://evil.example>", "https://evil.example/a?b=c&d=e",
    "www.evil.example", "evil.example", "mailto:a@evil.example", "a@evil.example", "[here](https://evil.example)",
    "[here]: https://evil.example", "![x](https://evil.example/x.png)", "<tel:+441234|ring>", "<!date^1392734382^{date}|x>",
    ":fire:", ":+1:", ":skin-tone-2:", "&lt;!channel&gt;", "&amp;lt;!here&amp;gt;", "<javascript:alert(1)>", "<!channel|x>",
]  # fmt: skip
_MARKS = [
    "*bold*", "_italic_", "~struck~", "`code`", "```\nfence\n```", "> quoted", "# heading", "- item", "1. item", "||spoiler||",
    "| a | b |", "***", "\\", "\\*", "&", "<", ">", "]", "[", "](", "<>", "<@>", "<!>", "\u202e", "é", "ي", "木", "🧥", "👩‍🚀",
]  # fmt: skip
_WORDS = ["Mara", "kept", "the", "log", "in", "green", "ink", "e.g.", "at 5:30", "No. 7", "Tobin’s"]


def hostile(count: int, seed: int = 9) -> list[str]:
    """So many strings, each with at least one thing that is live where it is not made inert."""
    dice = random.Random(seed)
    texts = []
    for _ in range(count):
        pieces = [dice.choice(_LIVE), *(dice.choice((*_LIVE, *_MARKS, *_WORDS)) for _ in range(dice.randint(2, 9)))]
        dice.shuffle(pieces)
        text = pieces[0]
        for piece in pieces[1:]:
            text += dice.choice(["", " ", " ", "\n", "(", ")"]) + piece
        texts.append(text)
    return texts
