"""P6: with a reading limit set, nothing beyond it reaches the model or a reader, by any route, by the limit of now."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from core import extracts, tags
from core.document import plain
from core.errors import LoccitError, Missing, ReaderError
from core.exports import Form
from core.model import (
    Answered,
    ChatModel,
    ChatRequest,
    Conversation,
    Drafting,
    Limit,
    Passage,
    Position,
    Question,
    Reader,
    Span,
    Turn,
)
from core.offline import OfflineReader
from core.progress import UNDO
from core.retrieval import Source
from core.strings import LOCALES, say, tell
from tests.books.planted import PREFACE, SUMMARIES, TEXT, TITLES, hidden, planted_book
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, open_club, said
from tests.fakes.model import Says, ScriptedModel, Step

LIMITS = (
    "start",
    *(f"in {number}" for number in range(1, 5)),
    *(f"{kind} {number}" for kind in ("finished", "page") for number in range(1, 4)),
    "3 %",
    "21 %",
    "33 %",
    "50 %",
    "62.5 %",
    "99 %",
    "in The Vantorel",
    "finished Part Ombrescale",
    "finished Preface",
)
QUESTION = "What did the keeper see in the harbour?"
GROUP = Conversation("telegram", "-100")


class Curious:
    """A model that uses every tool with words of its own, picks everything, cites all it saw and some it did not."""

    def __init__(self) -> None:
        self.model = ScriptedModel(self._answer)

    def _answer(self, request: ChatRequest) -> Step:
        if request.purpose == "pick":
            return '{"Thinking": "all of it", "answer": ["0", "1", "2"]}'
        asked = {call.name for message in request.messages for call in message.tool_calls}
        if request.tool_choice == "none" or "no_such_tool" in asked:
            shown = [tags.tag(run) for run, _ in tags.read_tagged("\n".join(m.content for m in request.messages))]
            return Says([f"The keeper saw this {tag}. " for tag in [*shown[-6:], "[f4-0-67]", "[f3-0-67]"]])
        return Says(
            calls=[
                ("find_in_book", '{"words": "keeper drawer must never leave harbour"}'),
                ("get_related_segment_summaries", '{"question": "What lay in the drawer?"}'),
                ("get_full_book_segment_summaries", "{}"),
                ("no_such_tool", "{}"),
            ]
        )

    def requests(self) -> str:
        return "\n".join(_bytes(request) for request in self.model.requests)


def _bytes(request: ChatRequest) -> str:
    """All that would travel to a provider."""
    parts = [message.content for message in request.messages]
    parts += [call.arguments for message in request.messages for call in message.tool_calls]
    parts += [json.dumps([tool.name, tool.description, dict(tool.parameters)]) for tool in request.tools]
    return "\n".join(parts)


@dataclass
class Seen:
    """Everything a reader was shown, as text."""

    club: TestClub
    texts: list[str] = field(default_factory=list)

    def turn(self, turn: Turn) -> None:
        self.texts += [plain(turn.answer.document), *(tell(notice) for notice in turn.answer.notices)]
        self.texts += [plain(event.document) for event in self.club.events if isinstance(event, Drafting)]
        self.texts += [drop.raw for drop in turn.answer.dropped]

    def passage(self, passage: Passage) -> None:
        self.texts += [passage.before, passage.quote, passage.after, passage.heading, passage.label]

    def error(self, error: LoccitError) -> None:
        self.texts += [say(error.key, locale, **error.params) for locale in LOCALES]

    async def every_press(self, notes: Sequence[str]) -> None:
        for note in notes:
            for steps in (0, 2, 50):
                try:
                    self.passage(await self.club.club.passages.press(ROOM, note, before=steps, after=steps))
                except Missing as error:
                    self.error(error)

    async def every_lookup(self) -> None:
        """All that needs no model: contents, quotations, tags, the export, refusals."""
        club = self.club.club
        _, contents = await club.contents(ROOM)
        self.texts += [entry.title for entry in contents.toc] + [chapter.title for chapter in contents.chapters]
        for word in (*TEXT, *TITLES, *SUMMARIES):
            for wanted in (word, f"lay the {word}, and", "the keeper said that the"):
                _, found = await club.passages.find_quote(ROOM, wanted)
                self.texts += [part for hit in found.hits for part in (hit.quote, hit.heading)]
        for run in planted_book().runs:
            try:
                self.passage(await club.passages.open_tag(ROOM, None, tags.tag(run), before=50, after=50))
            except Missing as error:
                self.error(error)
        for words in ("finished Part", "in The", "finished Nothing", "page 99", "finished 99", "chapter 7", "", "?"):
            with pytest.raises(ReaderError) as refused:
                await club.progress(ROOM, MEMBER, words=words)
            self.error(refused.value)
        self.texts += [card.title for card in await club.shelf(ROOM)]
        await self.every_file()

    async def every_file(self) -> None:
        """What the reading view and exports show, wherever one asks to be."""
        club = self.club.club
        [card] = await club.shelf(ROOM)
        for file in planted_book().files:
            for at in (0, len(file.text) // 2, len(file.text) - 1):
                marked = Span(file.index, max(at - 5, 0), at + 1)
                try:
                    page = await club.passages.page(ROOM, card.sha256, Position(file.index, at), marked=marked)
                except Missing as error:
                    self.error(error)
                    continue
                self.texts += [page.text, page.heading, page.label, *(entry.title for entry in page.toc)]
        forms: tuple[Form, ...] = ("md", "html")
        for form in forms:
            try:
                self.texts.append(await club.passages.export(ROOM, form=form, link=lambda passage: passage.tag))
            except Missing as error:
                self.error(error)

    def holds(self, word: str) -> bool:
        return any(word.lower() in text.lower() for text in self.texts)


@asynccontextmanager
async def planted(folder: Path, model: ChatModel | None, words: str | None = None) -> AsyncIterator[TestClub]:
    async with open_club(folder, model, steady=True) as club:
        await club.shelve(planted_book())
        if words is not None:
            await club.club.progress(ROOM, MEMBER, words=words)
        yield club


async def position(club: TestClub) -> Position | None:
    _, limit = await club.club.progress(ROOM, MEMBER)
    return limit.position


def leaks(words: Sequence[str], text: str) -> list[str]:
    return [word for word in words if word.lower() in text.lower()]


# Every limit, every route


@pytest.mark.parametrize("words", LIMITS)
async def test_no_later_word_reaches_the_model_or_a_reader_by_any_route(words: str, tmp_path: Path) -> None:
    curious = Curious()
    async with planted(tmp_path, curious.model, words) as club:
        seen = Seen(club)
        forbidden = hidden(await position(club))
        notes: list[str] = []
        earlier: str | None = None
        for tokens in (4_000, None, 200):
            turn = await club.ask(QUESTION, evidence_tokens=tokens, reply_to=earlier)
            seen.turn(turn)
            notes += [note.id for note in turn.answer.footnotes]
            earlier = turn.id
            assert all(turn.limit.permits(run) for window in turn.evidence for run in window)
        await seen.every_press(notes)
        await seen.every_lookup()
        assert forbidden, "a limit that hides nothing proves nothing"
        assert leaks(forbidden, curious.requests()) == []
        assert [word for word in forbidden if seen.holds(word)] == []


@pytest.mark.parametrize("words", ["finished 1", "in 4", "70 %"])
async def test_what_has_been_read_is_still_there(words: str, tmp_path: Path) -> None:
    """The other half of the promise: a limit hides what is later and nothing else."""
    curious = Curious()
    async with planted(tmp_path, curious.model, words) as club:
        seen = Seen(club)
        at = await position(club)
        seen.turn(await club.ask(QUESTION))
        await seen.every_lookup()
        open_to_all = [word for word in (PREFACE, *TEXT, *TITLES) if word not in hidden(at)]
        assert len(open_to_all) >= 3
        assert [word for word in open_to_all if not seen.holds(word)] == []
        assert leaks(open_to_all, curious.requests()) == open_to_all


async def test_without_a_limit_every_planted_word_can_be_met(tmp_path: Path) -> None:
    """So that the tests above do not pass because the words never show."""
    curious = Curious()
    async with planted(tmp_path, curious.model) as club:
        await club.ask(QUESTION)
        everything = [PREFACE, *TEXT, *TITLES, *SUMMARIES]
        assert leaks(everything, curious.requests()) == everything


@pytest.mark.parametrize("words", LIMITS)
async def test_without_a_model_no_later_word_is_quoted(words: str, tmp_path: Path) -> None:
    async with planted(tmp_path, None, words) as club:
        seen = Seen(club)
        forbidden = hidden(await position(club))
        for number, word in enumerate(forbidden):
            turn = await club.ask(f"What lay in the drawer, and what is number {number}?")
            seen.turn(turn)
            asked = await club.ask(f"What is the {word}?")
            assert asked.answer.outcome == "not_in_book"
            seen.texts += [tell(notice) for notice in asked.answer.notices]
            assert word not in said(asked)
        assert [word for word in forbidden if seen.holds(word)] == []


# A segment that reaches past the limit


@pytest.mark.parametrize("words", ["finished 1", "page 1", "33 %", "finished 3", "21 %"])
async def test_a_segment_that_reaches_past_the_limit_is_cut_and_summarised_from_what_is_permitted(
    words: str, tmp_path: Path
) -> None:
    async with planted(tmp_path, None, words) as club:
        channel = await club.store.shelf.channel(ROOM, club.clock())
        [card] = await club.store.shelf.shelf(channel)
        source = await Source.open(club.store, channel, card.sha256)
        assert source.limit.position is not None
        *whole, cut = await source.segments()
        assert cut.end == source.limit.position
        assert all(segment.end <= source.limit.position for segment in whole)
        runs = await source.runs_between(cut.start, cut.end)
        assert runs
        assert cut.summary == extracts.summarise([(run, await source.text(run)) for run in runs], "en")
        assert {run for run, _ in tags.read_tagged(cut.summary)} <= set(runs)
        assert leaks(hidden(source.limit.position), f"{cut.title} {cut.summary}") == []


# True but later, and not there at all


HONEST = "The book does not say so."


class Honest:
    """A model that finds nothing, but knows more than it was shown."""

    def __init__(self, knows: str = "") -> None:
        self.model = ScriptedModel(lambda request: '{"answer": []}' if request.purpose == "pick" else HONEST + knows)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("words", ["start", "in 3", "finished 2", "40 %"])
@pytest.mark.parametrize("spoken", [None, "", " But in a later chapter Tobin dies."])
async def test_later_and_never_cannot_be_told_apart(
    words: str, locale: str, spoken: str | None, tmp_path: Path
) -> None:
    model = None if spoken is None else Honest(spoken).model
    reader = Reader("member", locale)
    async with planted(tmp_path, model, words) as club:
        replies = []
        for asked in (f"What is the {TEXT[3]}?", f"What is the {TITLES[3]}?", "What is the zimbabwok?"):
            turn = await club.ask(asked, reader=reader)
            kinds = [type(event).__name__ for event in club.events]
            answer = turn.answer
            replies.append((said(turn), answer.outcome, answer.notices, len(answer.footnotes), kinds))
        assert len(set(map(repr, replies))) == 1
        assert "Tobin" not in replies[0][0]
        assert club.drafts() == []


async def test_a_quotation_and_a_tag_past_the_limit_are_refused_like_ones_that_do_not_exist(tmp_path: Path) -> None:
    async with planted(tmp_path, None, "finished 2") as club:
        _, later = await club.club.passages.find_quote(ROOM, f"lay the {TEXT[3]}, and the keeper")
        _, never = await club.club.passages.find_quote(ROOM, "lay the zimbabwok, and the keeper")
        assert later == never
        assert later.match == "near"
        refusals = set()
        for tag in ("[f4-0-67]", "[f4-1-9]", "[f9-0-10]"):
            with pytest.raises(Missing) as refused:
                await club.club.passages.open_tag(ROOM, None, tag)
            refusals.add(refused.value.key)
        assert refusals == {"beyond_limit"}


# The limit of now


async def test_what_was_said_before_the_limit_is_not_told_after_it(tmp_path: Path) -> None:
    """An old answer, its notes, the export, the history of a follow-up, the same event again; also after a restart."""
    curious = Curious()
    async with planted(tmp_path, curious.model) as club:
        old = await club.ask(QUESTION, event="first")
        assert any(word in "\n".join(_bytes(request) for request in curious.model.requests) for word in SUMMARIES)
        notes = [note.id for note in old.answer.footnotes]
        assert notes
        await club.club.progress(ROOM, MEMBER, words="finished 1")
    curious.model.requests.clear()
    async with open_club(tmp_path, curious.model, steady=True) as club:
        seen = Seen(club)
        forbidden = hidden(await position(club))
        again = await club.ask(QUESTION, event="first")
        assert again.id == old.id
        seen.turn(again)
        seen.turn(await club.ask("And then?", reply_to=old.id))
        assert "And then?" in curious.requests()
        assert said(old)[:40] not in curious.requests()
        latest = await club.club.questions.latest(ROOM)
        assert latest is not None
        seen.turn(latest)
        await seen.every_press(notes)
        await seen.every_lookup()
        assert leaks(forbidden, curious.requests()) == []
        assert [word for word in forbidden if seen.holds(word)] == []
        assert say("beyond_limit_answer") in await club.club.passages.export(ROOM)


async def test_a_note_past_the_limit_answers_with_one_sentence_and_opens_again_when_the_club_moves_on(
    tmp_path: Path,
) -> None:
    async with open_club(tmp_path, ScriptedModel(["It held a coat [f3-40-84]."])) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What was in the suitcase?")
        [note] = turn.answer.footnotes
        await club.club.progress(ROOM, MEMBER, words="finished 2")
        with pytest.raises(Missing, match="beyond_limit"):
            await club.club.passages.press(ROOM, note.id)
        assert "oilskin" not in await club.club.passages.export(ROOM)
        await club.club.progress(ROOM, MEMBER, words="finished 3")
        assert "oilskin" in (await club.club.passages.press(ROOM, note.id)).quote
        await club.club.progress(ROOM, MEMBER, words="all")
        assert "oilskin" in await club.club.passages.export(ROOM)


async def test_an_answer_made_while_the_limit_moved_back_is_not_shown(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel(["It held a coat [f3-40-84]."])) as club:
        await club.shelve(lantern_house())
        question = Question("slow", ROOM, MEMBER, "What was in the suitcase?", evidence_tokens=4_000)
        async for event in club.club.questions.ask(question):
            if isinstance(event, Answered):
                assert plain(event.turn.answer.document) == say("beyond_limit_answer")
            else:
                await club.club.progress(ROOM, MEMBER, words="finished 1")


async def test_taking_the_book_away_and_adding_it_again_lifts_no_limit(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel(["It held a coat [f3-40-84]."])) as club:
        await club.shelve(lantern_house())
        await club.ask("What was in the suitcase?")
        await club.club.progress(ROOM, MEMBER, words="finished 1")
        await club.club.remove(ROOM, MEMBER)
        assert "It held a coat" not in await club.club.passages.export(ROOM)
        await club.shelve(lantern_house())
        assert (await club.club.progress(ROOM, MEMBER))[1].words == "finished 1"
        _, contents = await club.club.contents(ROOM)
        assert [chapter.title for chapter in contents.chapters] == ["Green Ink"]


async def test_a_limit_is_one_channels_own(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.shelve(lantern_house(), GROUP)
        await club.club.progress(ROOM, MEMBER, words="start")
        _, contents = await club.club.contents(GROUP)
        assert len(contents.chapters) == 3
        assert (await club.club.contents(ROOM))[1].chapters == ()


async def test_a_change_can_be_taken_back_once_for_fifteen_minutes(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        channel = await club.store.shelf.channel(ROOM, club.clock())
        await club.club.progress(ROOM, MEMBER, words="finished 1")
        await club.club.progress(ROOM, Reader("organiser", manages=True), words="finished 3")
        changed = await club.store.progress.changed_by(channel, sha256)
        assert changed == ("organiser", club.clock())
        club.clock.now += UNDO
        assert (await club.club.undo_progress(ROOM, MEMBER))[1].words == "finished 1"
        with pytest.raises(Missing, match="progress_nothing_to_undo"):
            await club.club.undo_progress(ROOM, MEMBER)
        await club.club.progress(ROOM, MEMBER, words="finished 2")
        club.clock.now += UNDO + timedelta(seconds=1)
        with pytest.raises(Missing, match="progress_nothing_to_undo"):
            await club.club.undo_progress(ROOM, MEMBER)
        assert (await club.club.progress(ROOM, MEMBER))[1] == Limit("finished 2", Position(3, 0))


async def test_words_agreed_on_for_another_text_of_the_book_permit_nothing_of_it(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        channel = await club.store.shelf.channel(ROOM, club.clock())
        await club.store.progress.set_limit(channel, sha256, "finished 17", "member", club.clock())
        assert (await club.club.contents(ROOM))[1].toc == ()
        assert (await club.ask("What ink was the log kept in?")).answer.outcome == "not_in_book"


# Several limits, and a reader's own place


async def test_the_stricter_of_the_channels_limit_and_the_questions_holds(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        for channels, own, held in (
            ("finished 1", "finished 2", "finished 1"),
            ("finished 2", "finished 1", "finished 1"),
            ("all", "in 3", "in 3"),
            ("finished 2", "todo", "finished 2"),
        ):
            await club.club.progress(ROOM, MEMBER, words=channels)
            question = Question(f"{channels}-{own}", ROOM, MEMBER, "What ink?", limit_words=own)
            [*_, last] = [event async for event in club.club.questions.ask(question)]
            assert isinstance(last, Answered)
            assert last.turn.limit.words == held
            _, found = await club.club.passages.find_quote(ROOM, "green ink", limit_words=own)
            assert found.limit.words == held


async def test_a_readers_own_place_bounds_private_questions_only(tmp_path: Path) -> None:
    model = ScriptedModel(lambda request: "{}" if request.purpose == "pick" else "Ivo had a suitcase [f2-0-51].")
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        await club.club.place(ROOM, MEMBER, words="finished 1")
        for private, other, outcome in (
            (False, False, "grounded"),
            (True, False, "not_in_book"),
            (True, True, "grounded"),
        ):
            reader = Reader("somebody else", "en") if other else MEMBER
            question = Question(f"{private}-{other}", ROOM, reader, "What did Ivo bring?", private=private)
            [*_, last] = [event async for event in club.club.questions.ask(question)]
            assert isinstance(last, Answered)
            assert last.turn.answer.outcome == outcome
        assert (await club.club.place(ROOM, MEMBER))[1].words == "finished 1"
        assert (await club.club.place(ROOM, MEMBER, words="all"))[1].position is None
        assert (await club.club.place(ROOM, MEMBER))[1].position is None


async def test_a_press_past_a_readers_own_place_is_marked_and_one_before_it_shows_nothing_after_it(
    tmp_path: Path,
) -> None:
    async with open_club(tmp_path, ScriptedModel(["Ivo came [f2-0-51]. The log was green [f1-0-42]."])) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Who came?", evidence_tokens=None)
        ivo, log = turn.answer.footnotes
        await club.club.place(ROOM, MEMBER, words="finished 1")
        ahead = await club.club.passages.press(ROOM, ivo.id, reader=MEMBER)
        assert ahead.ahead == Limit("finished 1", Position(2, 0))
        assert ahead.quote.startswith("Ivo arrived")
        near = await club.club.passages.press(ROOM, log.id, reader=MEMBER, after=9)
        assert near.ahead is None
        assert "Ivo" not in near.after
        assert not near.more_after
        assert (await club.club.passages.press(ROOM, ivo.id, reader=Reader("somebody else"))).ahead is None
        await club.club.progress(ROOM, MEMBER, words="finished 1")
        with pytest.raises(Missing, match="beyond_limit"):
            await club.club.passages.press(ROOM, ivo.id, reader=MEMBER)


async def test_in_a_group_an_answer_names_its_reach_until_somebody_has_said_how_far_the_club_is(
    tmp_path: Path,
) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        await club.shelve(lantern_house(), GROUP)

        async def notices(conversation: Conversation) -> list[str]:
            turn = await club.ask("What ink was the log kept in?", conversation=conversation)
            return [notice.key for notice in turn.answer.notices]

        assert "reach" not in await notices(ROOM)
        assert (await notices(GROUP)).count("reach") == 1
        await club.club.progress(GROUP, MEMBER, words="all")
        assert "reach" not in await notices(GROUP)


# The cases


LATER = ("Ferry", "Tobin's Coat", "suitcase", "surveyor", "boots", "oilskin", "salt", "was not Mara", "Tuesday")


@pytest.mark.parametrize("offline", [False, True])
async def test_c55_in_chapter_two_is_read_to_the_end_of_chapter_one(offline: bool, tmp_path: Path) -> None:
    honest = Honest()
    async with open_club(tmp_path, None if offline else honest.model) as club:
        await club.shelve(lantern_house())
        _, limit = await club.club.progress(ROOM, MEMBER, words="in 2")
        assert limit == Limit("in 2", Position(2, 0))
        later = await club.ask("What does Ivo say he is?")
        never = await club.ask("What does Zacharias sell?")
        whole = await club.ask("What does Ivo say he is?", evidence_tokens=None)
        assert said(later) == said(never) == said(whole)
        assert said(later) == "I found nothing about this in The Lantern House up to chapter 1. I looked in chapter 1."
        assert leaks(LATER, "\n".join(map(_bytes, honest.model.requests))) == []


async def test_c55_finished_two_is_read_to_the_end_of_chapter_two(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel(["A surveyor [f2-51-102]."])) as club:
        await club.shelve(lantern_house())
        _, limit = await club.club.progress(ROOM, MEMBER, words="finished 2")
        assert limit.position == Position(3, 0)
        assert (await club.ask("What does Ivo say he is?")).answer.outcome == "grounded"


async def test_c56_an_overview_ends_at_the_limit(tmp_path: Path) -> None:
    def overview(request: ChatRequest) -> Step:
        if request.purpose == "pick":
            return '{"answer": ["0", "1", "2"]}'
        if any(call.name == "get_full_book_segment_summaries" for m in request.messages for call in m.tool_calls):
            return "It is about a log kept in green ink [f1-0-42]."
        return Says(calls=[("get_full_book_segment_summaries", "{}")])

    model = ScriptedModel(overview)
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, MEMBER, words="finished 1")
        for tokens in (4_000, None):
            turn = await club.ask("What is the book about?", evidence_tokens=tokens)
            assert turn.answer.outcome == "grounded"
            assert turn.limit == Limit("finished 1", Position(2, 0))
        sent = "\n".join(map(_bytes, model.requests))
        assert leaks(LATER, sent) == []
        assert "Read so far: chapter 1." in sent
        assert "Old Tobin, had vanished" in sent


async def test_c56_the_menu_and_the_contents_name_nothing_later(tmp_path: Path) -> None:
    async with open_club(tmp_path, OfflineReader()) as club:
        await club.shelve(lantern_house())
        card, _ = await club.club.progress(ROOM, MEMBER, words="finished 1")
        _, contents = await club.club.contents(ROOM)
        assert [entry.title for entry in contents.toc] == ["Green Ink"]
        assert card.title == "The Lantern House"
        with pytest.raises(ReaderError) as refused:
            await club.club.progress(ROOM, MEMBER, words="finished T")
        assert not re.search("Ferry|Coat", say(refused.value.key, "en", **refused.value.params))
        assert not leaks(LATER, await _everything_quoted(club))


async def _everything_quoted(club: TestClub) -> str:
    found = []
    for run in lantern_house().runs:
        try:
            passage = await club.club.passages.open_tag(ROOM, None, tags.tag(Span(*run)), after=20)
        except Missing as error:
            found.append(say(error.key, "en", **error.params))
        else:
            found += [passage.before, passage.quote, passage.after, passage.heading]
    return "\n".join(found)
