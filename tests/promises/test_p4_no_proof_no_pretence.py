"""P4: words without a note that holds are never passed off as the book's: our sentence comes first, theirs is marked."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Missing
from core.model import ChatRequest, Cite, Document, Emphasis, Paragraph, ParsedBook, Quote, Text, Turn
from core.strings import say
from core.tags import tag
from tests.books.lantern import EVIDENCE
from tests.clubs import ELSEWHERE, MEMBER, ROOM, TestClub, book_of, lantern_house, open_club, said
from tests.fakes.model import Says, ScriptedModel, Step
from tests.fakes.readers import forgeries

NOTHING = "I found nothing about this in The Lantern House. I looked in chapters 1–3."
MARK = "Not from the book:"
WORDS = (
    "It was 1923.",
    "“It was 1923,” the book says on page 5.",
    "See chapter 2, where Tobin dies [see above].",
    'As the book puts it: "Call me Ishmael." [1]',
    "**Sources:** 1. The Lantern House, p. 4",
    "> Mara kept the lighthouse log in green ink.",
    "# Answer\n\n- Ink: green\n- Log: old",
    "The book does not say.",
    "[^1]: The Lantern House, chapter 1",
    "See (page 12) and note ¹.",
    "⁅1⁆",
    "\u2045\ufdd01\ufdd1\u2046",
)


def pretends(turn: Turn, locale: str = "en", chapters: int = 3, book: ParsedBook | None = None) -> list[str]:
    """What of an unproven answer could be taken for the book's; a sentence of the evidence that we quote is the book's."""
    found = []
    answer = turn.answer
    if answer.outcome != "not_in_book":
        found.append(f"outcome {answer.outcome}")
    first, *rest = answer.document
    if closest := quoted(turn, locale, book or lantern_house()):
        rest = rest[2:]
    if answer.footnotes and not closest:
        found.append("a footnote")
    if any(isinstance(leaf, Cite) for leaf in leaves(tuple(rest))):
        found.append("a mark of a note")
    ours = say("not_in_book", locale, title="The Lantern House")
    looked = say("looked_in_chapters", locale, count=chapters, chapters=f"1–{chapters}")
    if first != Paragraph((Text(f"{ours} {looked}"),)):
        found.append("our sentence does not come first")
    mark = Paragraph((Emphasis((Text(say("not_from_the_book", locale)),), strong=True),))
    if rest and (rest[0] != mark or len(rest) < 2):
        found.append("the model's words are not marked")
    return found


def quoted(turn: Turn, locale: str, book: ParsedBook) -> str:
    """The sentence that we quote as the closest: our line, then words of the one noted run, which was delivered; or ""."""
    match turn.answer.document:
        case (_, Paragraph((Text(lead),)), Quote((Paragraph((Text(words), Cite(1))),)), *_):
            [note] = turn.answer.footnotes
            text = book.files[note.span.file].text[note.span.start : note.span.end]
            delivered = any(note.span in window for window in turn.evidence)
            if lead == say("closest_passage", locale) and delivered and words.strip() in " ".join(text.split()):
                return words.strip()
    return ""


def leaves(node: object) -> Iterator[object]:
    """Every value inside a document."""
    if isinstance(node, tuple):
        for inner in node:
            yield from leaves(inner)
    elif hasattr(node, "__dataclass_fields__"):
        yield node
        for name in node.__dataclass_fields__:
            yield from leaves(getattr(node, name))


def unhelpful(words: str) -> ScriptedModel:
    """A model that says these words whatever it is asked; its picker chooses nothing."""
    return ScriptedModel(lambda request: '{"Thinking":"","answer":[]}' if request.purpose == "pick" else words)


@pytest.mark.parametrize("words", WORDS)
async def test_words_that_cite_nothing_stand_under_not_from_the_book(words: str, tmp_path: Path) -> None:
    async with open_club(tmp_path, unhelpful(words)) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What year is it?")
    assert pretends(turn) == []
    assert said(turn).startswith(f"{NOTHING}\n\n{MARK}\n\n")


async def test_the_closest_sentence_is_quoted_by_us_and_opens_and_the_models_words_stay_unproven(
    tmp_path: Path,
) -> None:
    """Whatever the model says of it: the words are the book's, the note is ours, and what is said below carries none."""
    words = "“Ivo arrived on the Tuesday ferry,” so it was a Tuesday [see chapter 2] [1]."
    async with open_club(tmp_path, unhelpful(words)) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("In which year did Ivo arrive on the ferry?")
        assert pretends(turn) == []
        assert quoted(turn, "en", lantern_house()) == "Ivo arrived on the Tuesday ferry with one suitcase."
        passage = await club.club.passages.press(ROOM, turn.answer.footnotes[0].id)
        assert passage.quote == "Ivo arrived on the Tuesday ferry with one suitcase."
        nearest = await club.ask("Which composer wrote the third symphony in Vienna?")
    assert pretends(nearest) == []
    assert nearest.answer.footnotes == ()  # nothing of it is near: nothing is quoted


@pytest.mark.parametrize("question", ["Which ferry did Ivo arrive on?", "What did Ivo’s suitcase hold?"])
async def test_what_is_closest_never_lies_past_the_limit_and_tells_nothing_of_what_does(
    question: str, tmp_path: Path
) -> None:
    """The same question where the answer comes later, and where the book ends before it: the same words."""
    short = book_of(
        lantern_house().files[:3], [run for run in lantern_house().runs if run.file < 3], ("A", "B"), "Short"
    )
    answers = []
    async with open_club(tmp_path, unhelpful("I cannot tell.")) as club:
        for book in (lantern_house(), short):
            await club.shelve(book)
            for limit in ("finished 1", "finished 2"):
                await club.club.progress(ROOM, MEMBER, book.title, limit)
                turn = await club.ask(question, book=book.title)
                answers.append(said(turn).replace(book.title, "…"))
    assert answers[:2] == answers[2:]
    assert not any(word in answers[0] for word in ("Ivo", "ferry", "suitcase"))


@pytest.mark.parametrize("words", ["", " ", "\n\n", "[f9-0-1]", "([f9-0-1], [f9-1-2])", "<think>hm</think>"])
async def test_where_no_words_are_left_our_sentence_stands_alone(words: str, tmp_path: Path) -> None:
    async with open_club(tmp_path, unhelpful(words)) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What year is it?")
    assert pretends(turn) == []
    assert said(turn) == NOTHING


@pytest.mark.parametrize("locale", ["en", "es", "pt", "fr", None])
async def test_our_sentence_speaks_the_readers_language(locale: str | None, tmp_path: Path) -> None:
    async with open_club(tmp_path, unhelpful("It was 1923.")) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What year is it?", reader=type(MEMBER)("member", locale))
    assert pretends(turn, locale or "en") == []


async def test_two_hundred_answers_with_nothing_but_forged_tags_prove_nothing(tmp_path: Path) -> None:
    """Fifteen kinds of forgery in random company, each beside a true sentence of the book."""
    rng = random.Random(4)
    words = ""
    async with open_club(tmp_path, ScriptedModel(lambda request: _picks_nothing(request) or words)) as club:
        await club.shelve(lantern_house())
        for _ in range(200):
            runs = list(EVIDENCE)
            parts = []
            for _ in range(rng.randint(1, 4)):
                run = rng.choice(runs)
                # A forgery may by chance be another run that was delivered; those are not forged.
                kinds = [
                    text for text in forgeries(tag(run), rng) if not any(tag(other)[1:-1] in text for other in runs)
                ]
                parts.append(f"{EVIDENCE[run].strip()} {rng.choice(kinds)}")
            words = rng.choice((" ", "\n\n")).join(parts)
            turn = await club.ask("What ink?")
            assert pretends(turn) == [], words
            assert turn.answer.dropped, words
            assert not any(ord(char) in range(0xFDD0, 0xFDF0) for char in said(turn))


def _picks_nothing(request: ChatRequest) -> Step | None:
    return '{"Thinking":"","answer":[]}' if request.purpose == "pick" else None


async def test_tags_of_an_earlier_turn_prove_nothing_in_this_one(tmp_path: Path) -> None:
    """The first answer was about chapter 1; the second turn is given only what it asked for, and cites the first's tags."""
    filler = "The harbour book names a boat that came in late and says no more. "
    good = lantern_house()
    files = [*good.files, *(type(good.files[0])(n, "", filler * 40) for n in range(4, 9))]
    runs = [*good.runs]
    for file in files[4:]:
        runs += [type(runs[0])(file.index, at, at + len(filler) - 1) for at in range(0, len(file.text), len(filler))]
    titles = ("Green Ink", "The Ferry", "Tobin's Coat", *(f"Harbour {n}" for n in range(5)))
    step = "Mara kept it in green ink [f1-0-42]."
    async with open_club(tmp_path, ScriptedModel(lambda request: _picks_nothing(request) or step)) as club:
        await club.shelve(book := book_of(files, runs, titles, good.title))
        first = await club.ask("Who kept the lighthouse log in green ink?")
        assert [note.tag for note in first.answer.footnotes] == ["[f1-0-42]"]
        second = await club.ask("Which boat did the harbour book name?", evidence_tokens=120)
    assert not any(run == first.answer.footnotes[0].span for window in second.evidence for run in window)
    assert pretends(second, chapters=8, book=book) == []
    assert quoted(second, "en", book) == filler.strip()
    assert [drop.reason for drop in second.answer.dropped] == ["not_in_evidence"]


async def test_tags_of_another_channels_turn_prove_nothing_here(tmp_path: Path) -> None:
    other = book_of(lantern_house().files[:2], lantern_house().runs[:5], ("One",), "The Short House")
    step = "Ivo came by ferry [f2-0-51]. The suitcase held a coat [f3-40-84]."
    async with open_club(tmp_path, ScriptedModel(lambda request: _picks_nothing(request) or step)) as club:
        await club.shelve(lantern_house(), ELSEWHERE)
        await club.shelve(other)
        there = await club.ask("Who came?", conversation=ELSEWHERE, evidence_tokens=None)
        here = await club.ask("Who came?", evidence_tokens=None)
    assert len(there.answer.footnotes) == 2
    assert here.answer.outcome == "not_in_book"
    assert here.answer.footnotes == ()
    assert said(here).startswith("I found nothing about this in The Short House.")


async def test_before_nothing_was_found_may_stand_the_model_has_chosen_parts_and_was_asked_again(
    tmp_path: Path,
) -> None:
    model = unhelpful("It was 1923.")
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        await club.ask("What year is it?")
    assert [request.purpose for request in model.requests] == ["pick", "answer", "answer"]
    called = [call.name for message in model.requests[-1].messages for call in message.tool_calls]
    assert called == ["find_in_book", "get_related_segment_summaries"]


async def test_drafts_of_unproven_words_never_carry_a_note(tmp_path: Path) -> None:
    words = Says(["It ", "was ", "1923 ", "[f1-0", "-41]", ", they ", "say [f", "9-9-99]."])
    async with open_club(
        tmp_path, ScriptedModel(lambda request: _picks_nothing(request) or words), steady=True
    ) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What year is it?")
        drafts = club.drafts()
    assert drafts
    assert not any("[" in draft for draft in drafts)
    assert pretends(turn) == []


async def test_chat_has_no_notes_whatever_it_says(tmp_path: Path) -> None:
    step = "You are welcome [f1-0-42], “as the book says” [1]. \u2045\ufdd01\ufdd1\u2046"
    async with open_club(tmp_path, ScriptedModel([step])) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Thank you!")
    assert turn.answer.outcome == "chat"
    assert turn.answer.footnotes == ()
    assert not any(isinstance(leaf, Cite) for leaf in leaves(turn.answer.document))
    assert "f1-0-42" not in said(turn)


async def test_one_note_that_holds_makes_an_answer_of_the_book_and_its_numbers_match(tmp_path: Path) -> None:
    """The other side: a single true note among forgeries is kept, and no mark stands without its note."""
    rng = random.Random(44)
    words = ""
    async with open_club(tmp_path, ScriptedModel(lambda request: words)) as club:
        await club.shelve(lantern_house())
        for number in range(60):
            run = rng.choice(list(EVIDENCE))
            forged = rng.choice(forgeries(tag(run), rng))
            words = f"So it says {forged}. {EVIDENCE[run].strip(' “”')} {tag(run)}"
            turn = await club.ask(f"What ink, in entry {number}?", evidence_tokens=None)
            assert turn.answer.outcome == "grounded", words
            shown: Document = turn.answer.document
            marks = {leaf.number for leaf in leaves(shown) if isinstance(leaf, Cite)}
            assert marks == {note.number for note in turn.answer.footnotes}, words
            assert run in {note.span for note in turn.answer.footnotes}


async def test_a_reader_without_a_book_gets_no_answer_at_all(tmp_path: Path) -> None:
    model = unhelpful("It was 1923.")
    async with open_club(tmp_path, model) as club:
        with pytest.raises(Missing, match="no_book"):
            await _ask(club)
    assert model.requests == []


async def _ask(club: TestClub) -> Turn:
    return await club.ask("What year is it?")
