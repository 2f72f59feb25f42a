"""Texts that try to notify, link, unfold or mark up on Discord: written out, and mixed by a fixed dice."""

import random

_SEEDS = (
    "@everyone",
    "@here look",
    "<@123456789012345678>",
    "<@!123456789012345678>",
    "<@&123456789012345678>",
    "<#123456789012345678>",
    "</ask:123456789012345678>",
    "<id:customize>",
    "<:lamp:123456789012345678>",
    "<a:lamp:123456789012345678>",
    "<t:1700000000:R>",
    "https://evil.example/steal",
    "HTTP://EVIL.EXAMPLE",
    "<https://evil.example/a b>",
    "[click me](https://evil.example)",
    "[1](https://evil.example)",
    '[the book](<https://evil.example> "title")',
    "steam://run/1",
    "discord://-/channels/1",
    "discord.gg/abcdef",
    "https://discord.gg/abcdef",
    "discord.com/invite/abcdef",
    "discordapp.com/invite/x",
    "<mail@evil.example>",
    "<mailto:a@b.example>",
    "<tel:+123456789>",
    "# a heading",
    "## another",
    "-# small",
    "- a list",
    "* a list",
    "+ a list",
    "1. a list",
    "> a quotation",
    ">>> all of it",
    "**bold**",
    "*italic*",
    "_italic_",
    "__underlined__",
    "~~struck~~",
    "||hidden||",
    "`code`",
    "``co`de``",
    "```py\nprint()\n```",
    "```",
    "\\*not\\*",
    "\\",
    ":smile:",
    ":+1:",
    "¯\\_(ツ)_/¯",
    "\u202e@everyone",
    "@\u2060everyone @everyone",
    "a_b_c __d__",
    "***x***",
    "**un*even_",
    "|||",
    "<",
    "text\n# heading later\n- item\n> quote",
    "line one\n\n```\nfence\n```\n@here",
    "<@123><@456>",
)


def hostile(count: int) -> list[str]:
    """`count` texts, always the same."""
    rng = random.Random(31)
    texts = list(_SEEDS)
    while len(texts) < count:
        pieces = [rng.choice(_SEEDS) for _ in range(rng.randint(2, 4))]
        texts.append(rng.choice(("", " ", "\n", "x")).join(pieces))
    return texts[:count]
