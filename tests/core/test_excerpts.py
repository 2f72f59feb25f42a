"""True excerpts keep marks without a partner: block-quote lines letter for letter, a closing mark behind a true sentence."""

from collections.abc import Iterator

import pytest

from core.document import parse, plain
from core.footnotes import Settler, settle
from core.model import Span
from core.offline import MAX_CHARACTERS
from core.tags import tag

STYLES = ["“”", '""', "«»", "„“", "‘’", "''", "‹›", "»«", "「」", "『』"]


def book(style: str) -> list[str]:
    """Two sentences inside one speech, so that each has one mark only, and what stands around them."""
    opening, closing = style[0], style[1]
    return [
        "Mara opened the door.",
        f"{opening}I came on the ferry.",
        f"It still smells of salt,{closing} said Ivo.",
        "Nobody spoke.",
    ]


def evidence(texts: list[str]) -> tuple[dict[Span, str], list[str]]:
    """Neighbouring runs with spaces between, and the stretch they make."""
    runs: dict[Span, str] = {}
    at = 0
    for text in texts:
        runs[Span(1, at, at + len(text))] = text
        at += len(text) + 1
    return runs, [" ".join(texts)]


def splits(draft: str) -> Iterator[list[str]]:
    """In two at every place, and character by character."""
    for at in range(len(draft) + 1):
        yield [draft[:at], draft[at:]]
    yield list(draft)


def shown(draft: str, texts: list[str], *, grounded: bool = True) -> str:
    """What readers see in the end, the same however the stream is cut, and never taken back."""
    runs, stretches = evidence(texts)
    whole = settle(draft, runs, stretches, grounded=grounded)
    for parts in splits(draft):
        settler = Settler(runs, stretches, grounded=grounded)
        seen = ""
        for part in parts:
            settler.feed(part)
            assert settler.markdown.startswith(seen)
            seen = settler.markdown
        assert settler.finish() == whole
    return plain(parse(whole.markdown))


def cited(texts: list[str], number: int) -> str:
    return tag(list(evidence(texts)[0])[number])


@pytest.mark.parametrize("style", STYLES)
def test_a_true_block_quote_keeps_a_mark_without_its_partner(style: str) -> None:
    texts = book(style)
    for number in (1, 2):
        assert shown(f"> {texts[number]} {cited(texts, number)}\n\n", texts) == f"> {texts[number]} [1]"


@pytest.mark.parametrize("style", STYLES)
def test_one_after_the_other_they_do_not_disturb_each_other(style: str) -> None:
    texts = book(style)
    draft = f"> {texts[2]} {cited(texts, 2)}\n\n> {texts[1]} {cited(texts, 1)}\n\nSo “roses” it is."
    assert shown(draft, texts) == f"> {texts[2]} [1]\n\n> {texts[1]} [2]\n\nSo roses it is."


@pytest.mark.parametrize("style", [style for style in STYLES if style[0] not in "‘'"])
def test_an_altered_block_quote_loses_its_marks(style: str) -> None:
    texts = book(style)
    draft = f"> {texts[2].replace('salt', 'roses')} {cited(texts, 2)}\n\n> {texts[1].replace('ferry', 'train')}"
    assert shown(draft, texts) == "> It still smells of roses, said Ivo. [1]\n\n> I came on the train."


@pytest.mark.parametrize("opening", ["“", "«", "„", '"', "「"])
def test_a_mark_that_the_book_does_not_have_there_is_not_the_books(opening: str) -> None:
    texts = book("“”")
    closing = {"“": "”", "«": "»", "„": "“", '"': '"', "「": "」"}[opening]
    assert shown(f"> Nobody spoke.{closing} So.", texts) == "> Nobody spoke. So."
    assert shown(f"> Mara closed the {opening}door. So\n\nSo", texts) == "> Mara closed the door. So\n\nSo"
    assert shown(f"> {opening}Nobody spoke.{closing}", texts) == f"> {opening}Nobody spoke.{closing}"


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("> {1} {2}", "> “I came on the ferry. It still smells of salt,” said Ivo."),
        ("> “I came\n> on the ferry.\n\nSo.", "> “I came on the ferry.\n\nSo."),
        ("> {1} [f1-22-43]\n> {2}", "> “I came on the ferry. [1] It still smells of salt,” said Ivo."),
        ("> “I came\n> on a train.", "> I came on a train."),
        ("> “I came on\n\nSo.", "> “I came on\n\nSo."),
        ("> “I came on the ferry.\n> And roses” fell.", "> “I came on the ferry. And roses fell."),
        ("- > {1}", "- > “I came on the ferry."),
        (">{1}", "> “I came on the ferry."),
        ("> So:\n> {1}", "> So: “I came on the ferry."),
        ("> *“I came* on the **ferry**.", "> “I came on the ferry."),
        ("> “I came … ferry.", "> “I came … ferry."),
        ("> {1} [f9-0-1]", "> “I came on the ferry."),
        ("“I came on the ferry. And more.", "I came on the ferry. And more."),
    ],
)  # fmt: skip
def test_block_quotes_and_their_neighbours(draft: str, text: str) -> None:
    texts = book("“”")
    got = shown(draft.replace("{1}", texts[1]).replace("{2}", texts[2]), texts)
    assert got.replace("\n> ", " ").replace("- ", "").strip() == text.replace("- ", "")


def test_what_markdown_would_read_as_markup_stays_as_the_book_prints_it() -> None:
    printed = "“He wrote 2 * 3 _and_ [1](x) <b> & `c` | 4."
    escaped = "“He wrote 2 \\* 3 \\_and\\_ \\[1\\](x) \\<b\\> \\& \\`c\\` \\| 4."
    assert shown(f"> {escaped} [f1-0-{len(printed)}]", [printed]) == f"> {printed} [1]"


def test_a_sentence_as_long_as_the_offline_reader_gives_keeps_its_mark() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    sentence = f"“{words}"[: MAX_CHARACTERS - 1] + "."
    assert len(sentence) == MAX_CHARACTERS
    runs, stretches = evidence(["Before.", sentence, "After.”"])
    settler = Settler(runs, stretches)
    for char in f"> {sentence} {tag(list(runs)[1])}\n\n":
        settler.feed(char)
    assert plain(parse(settler.finish().markdown)) == f"> {sentence} [1]"


def test_a_longer_line_does_not_wait_for_its_end() -> None:
    runs, stretches = evidence(["Before."])
    settler = Settler(runs, stretches)
    for at, char in enumerate("> " + "words and " * 200):
        settler.feed(char)
        assert len(settler.markdown) >= at - MAX_CHARACTERS - 10
    assert "words and words" in settler.markdown


def test_without_evidence_nothing_is_an_excerpt() -> None:
    assert shown("> “I came on the ferry. So.", book("“”"), grounded=True) == "> I came on the ferry. So."
    assert plain(parse(settle("> It smells,” he said.", (), ()).markdown)) == "> It smells, he said."


@pytest.mark.parametrize("style", STYLES)
def test_a_closing_mark_stays_behind_a_true_sentence_in_prose(style: str) -> None:
    texts = book(style)
    assert shown(f"Yes. {texts[2]} He left.", texts) == f"Yes. {texts[2]} He left."
    assert shown(f"- {texts[2]}\n- So.", texts) == f"- {texts[2]}\n- So."


@pytest.mark.parametrize("style", [style for style in STYLES if style[1] not in "’'"])
@pytest.mark.parametrize(
    "sentence",
    [
        "It still smells of roses,{} said Ivo.",
        "They say it still smells of salt,{} said Ivo.",
        "It still smells{} of salt.",
        "Nobody spoke.{} So.",
    ],
)
def test_behind_anything_else_it_goes(style: str, sentence: str) -> None:
    assert shown(f"Yes. {sentence.format(style[1])}", book(style)) == f"Yes. {sentence.format('')}"


def test_a_true_quotation_behind_a_straight_closing_mark_keeps_its_marks() -> None:
    texts = book('""')
    assert shown('It still smells of salt," said Ivo, by "the ferry".', texts) == (
        'It still smells of salt," said Ivo, by "the ferry".'
    )
    assert shown('It smells of roses," said Ivo, by "the ferry".', texts) == (
        'It smells of roses, said Ivo, by "the ferry".'
    )


def test_a_pair_never_keeps_one_mark_only() -> None:
    texts = book("“”")
    assert shown('Yes. “It still smells of salt" and so.', texts) == "Yes. It still smells of salt and so."
    long = "It still smells of salt, " * 20
    assert shown(f"“{long}So. Nobody spoke.” He", texts) == f"{long}So. Nobody spoke. He"


@pytest.mark.parametrize(("opening", "closing"), ["「」", "『』", "“”", "《》"])
def test_scripts_without_spaces(opening: str, closing: str) -> None:
    texts = ["マーラは戸を開けた。", f"{opening}渡し船で来た。", f"まだ潮の匂いがする。{closing}とイヴォは言った。"]
    runs, stretches = evidence(texts)
    stretches = ["".join(texts)]
    for number in (1, 2):
        for draft, text in (
            (f"> {texts[number]} {tag(list(runs)[number])}\n\n", f"> {texts[number]} [1]"),
            (f"> {texts[number].replace('来', '帰').replace('潮', '花')}", None),
        ):
            whole = settle(draft, runs, stretches)
            for parts in splits(draft):
                settler = Settler(runs, stretches)
                for part in parts:
                    settler.feed(part)
                assert settler.finish() == whole
            got = plain(parse(whole.markdown))
            assert got == text if text else (opening == "《" or not {opening, closing} & set(got))


@pytest.mark.parametrize(("language", "kept"), [("pt", True), ("es", False), (None, False)])
def test_what_denies_is_told_by_the_language_of_the_book(language: str | None, kept: bool) -> None:
    runs, stretches = evidence(["O rei vivia no castelo."])
    got = plain(parse(settle("“O rei vivia … castelo”", runs, stretches, language=language).markdown))
    assert got == ("“O rei vivia … castelo”" if kept else "O rei vivia … castelo")
