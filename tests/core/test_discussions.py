"""Discussion questions: only proven ones are ever posted, up to the limit; the draft outlives a restart; the wrap-up."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.desk import Desk
from core.document import plain
from core.errors import LoccitError, Missing, ReaderError, UpstreamError
from core.limits import read_limit
from core.meeting.outline import spelled
from core.model import Choice, Contents, Conversation, Letter, ParsedBook, Position, Question, Quote, Reader, Reply
from tests.books.planted import hidden, planted_book
from tests.clubs import MEMBER, ROOM, TestClub, lantern_house, long_book, open_club
from tests.fakes.drafts import MARK, Careless
from tests.fakes.model import ScriptedModel
from tests.promises.test_p6_never_ahead import LIMITS

KEEPER = Reader("keeper", "en", manages=True)
GOOD = [
    "Why green ink? [f1-0-42]",
    "What may have happened to Tobin? [f1-42-101]",
    "Why does nobody speak? [f1-101-131]",
    "What does one suitcase say of Ivo? [f2-0-51]",
    "Do new boots make a surveyor? [f2-51-102]",
    "Ink and boots: what do they share? [f1-0-42] [f2-51-102]",
    "Who is to be trusted in Carrow? [f1-101-131]",
    "What would you have asked Ivo on the quay? [f2-0-51]",
]
DRAFT = "\n".join(f"{number}. {question}" for number, question in enumerate(GOOD, 1))


def desk_of(club: TestClub) -> Desk:
    return Desk(club.club, lambda name: f"/{name}")


async def command(club: TestClub, line: str, reader: Reader = KEEPER) -> Reply:
    name, _, words = line.partition(" ")
    reply = await desk_of(club).command(ROOM, reader, name, words, event=f"e{club.clock()}{line}")
    assert isinstance(reply, Reply)
    return reply


async def press(club: TestClub, reply: Reply, label: str, reader: Reader = KEEPER) -> Reply:
    found = [choice for row in reply.choices for choice in row if choice.label == label]
    assert found, [choice.label for row in reply.choices for choice in row]
    done = await desk_of(club).press(ROOM, reader, found[0].id, event="p")
    assert isinstance(done, Reply)
    return done


async def drained(club: TestClub) -> list[tuple[Letter, Reply]]:
    """What an adapter sends for the letters that are due."""
    sent = []
    for letter in await club.club.post.due(ROOM.platform):
        reply = await desk_of(club).letter(letter)
        if reply is not None:
            sent.append((letter, reply))
        await club.club.post.done(letter.id)
    return sent


def notes(reply: Reply) -> list[Choice]:
    return [choice for row in reply.choices for choice in row if choice.kind == "note"]


async def test_the_draft_is_the_organisers_and_each_posted_question_its_own_message(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        draft = await command(club, "discuss")
        assert draft.private
        assert len(draft.choices) <= 5
        assert all(len(row) <= 5 for row in draft.choices)
        assert [choice.label for choice in notes(draft)] == [
            "1 · Ch. 1",
            "2 · Ch. 1",
            "3 · Ch. 1",
            "4 · Ch. 2",
            "5 · Ch. 2",
        ]
        for choice in notes(draft):
            await club.club.passages.press(ROOM, choice.id)
        with pytest.raises(Missing, match="not_your_button"):
            await press(club, draft, "Post", MEMBER)
        await press(club, draft, "Keep 2")
        kept = await press(club, draft, "Keep 4")
        assert plain(kept.document).count("(kept)") == 2
        await press(club, kept, "Post")
        sent = await drained(club)
        assert [plain(reply.document) for _, reply in sent] == [
            "Let us talk about The Lantern House, up to chapter 2. To answer a question, reply to it or write: "
            "/discuss answer 1 YOUR WORDS.",
            "1/2 What may have happened to Tobin? [1]",
            "2/2 What does one suitcase say of Ivo? [1]",
        ]
        for _, reply in sent[1:]:
            assert reply.turn
            assert (await club.club.passages.press(ROOM, notes(reply)[0].id)).span.file in (1, 2)
        with pytest.raises(ReaderError, match="discuss_posted"):
            await press(club, kept, "Post")
        assert await drained(club) == []


async def test_another_one_comes_from_the_reserve_then_from_the_model_and_is_never_the_same(tmp_path: Path) -> None:
    fresh = "1. What is hidden in the ink? [f1-0-42]\n2. Why green ink? [f1-0-42]"
    model = ScriptedModel([DRAFT, fresh, "Why green ink? [f1-0-42]", "Nothing.", "Nothing."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        draft = await command(club, "discuss 2")
        for expected in (*GOOD[5:], "What is hidden in the ink? [f1-0-42]"):
            draft = await press(club, draft, "Another 1")
            assert expected.split(" [")[0] in plain(draft.document)
        assert len([one for one in model.requests if one.purpose == "discuss"]) == 2
        assert GOOD[5].split(" [")[0] in model.requests[1].messages[-1].content


async def test_a_draft_outlives_a_restart_and_edits_keep_their_notes(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        draft = await command(club, "discuss")
        await press(club, draft, "Keep 3")
    async with open_club(tmp_path, ScriptedModel([])) as club:
        again = await command(club, "discuss")
        assert "(kept)" in plain(again.document)
        edited = await command(club, "discuss edit 1 What does [f3-0-40] the ink hide, @everyone? [7]")
        assert "What does the ink hide, @everyone?" in plain(edited.document)
        assert "f3-0" not in plain(edited.document)
        assert "[7]" not in plain(edited.document)
        await press(club, draft, "Post")  # the button from before the restart
        texts = [plain(reply.document) for _, reply in await drained(club)]
        assert texts[1:] == ["1/2 What does the ink hide, @everyone? [1]", "2/2 Why does nobody speak? [1]"]


async def test_an_edit_is_offered_as_a_form_and_what_is_written_takes_the_question_s_place(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        draft, desk = await command(club, "discuss"), desk_of(club)
        offered = await press(club, draft, "Edit 2")
        assert "/discuss edit 2" in plain(offered.document)  # for a platform without forms
        assert offered.form is not None
        assert (offered.form.title, offered.form.text) == ("Edit 2", "What may have happened to Tobin?")
        [id] = [choice.id for row in draft.choices for choice in row if choice.label == "Edit 2"]
        with pytest.raises(Missing, match="not_your_button"):
            await desk.filled(ROOM, MEMBER, id, "Mine?", event="f1")
        for words in ("", "?" * (offered.form.most + 1)):
            with pytest.raises(ReaderError, match="discuss_edit_words"):
                await desk.filled(ROOM, KEEPER, id, words, event="f2")
        filled = await desk.filled(ROOM, KEEPER, id, "Where is Tobin [f3-0-40]?", event="f3")
        assert isinstance(filled, Reply)
        assert "Where is Tobin? [2]" in plain(filled.document)
        await press(club, draft, "Another 2")
        with pytest.raises(Missing, match="unknown_button"):  # it would have been written over another question
            await desk.filled(ROOM, KEEPER, id, "Too late?", event="f4")


async def test_a_passage_to_talk_about_stays_under_a_question_written_anew(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        draft = await command(club, "discuss")
        offered = await press(club, draft, "Edit 1")
        assert offered.form is not None
        assert offered.form.text == "What do you make of this passage?"
        [passage] = [block for block in draft.document[1:3] if isinstance(block, Quote)]
        edited = await command(club, "discuss edit 1 Is that her hand?")
        assert edited.document[2] == passage
        assert plain(edited.document[1:2]).endswith("Is that her hand?")


async def test_only_who_manages_or_added_the_book_organises(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())  # added by MEMBER
        with pytest.raises(ReaderError, match="book_managers_only"):
            await command(club, "discuss", Reader("guest", "en"))
        assert (await command(club, "discuss", MEMBER)).private


async def test_without_a_model_and_while_it_is_down_there_are_passages_to_talk_about(tmp_path: Path) -> None:
    for model in (None, ScriptedModel(lambda _: UpstreamError("model_down"))):
        async with open_club(tmp_path / str(model is None), model) as club:
            await club.shelve(lantern_house())
            draft = await command(club, "discuss")
            text = plain(draft.document)
            assert text.count("What do you make of this passage?") == 5
            assert "green ink" in text
            await press(club, draft, "Post")
            assert len(await drained(club)) == 6


async def test_a_limit_moved_back_takes_draft_and_unsent_questions_with_it(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        draft = await command(club, "discuss")
        await club.club.progress(ROOM, KEEPER, words="finished 1")
        for label in ("Keep 1", "Another 1", "Post"):
            with pytest.raises(ReaderError, match="discuss_past_limit"):
                await press(club, draft, label)
        await club.club.progress(ROOM, KEEPER, words="finished 2")
        await press(club, draft, "Post")
        await club.club.progress(ROOM, KEEPER, words="finished 1")
        assert await drained(club) == []


async def test_answers_are_kept_only_where_the_channel_agreed_and_wrapped_up_without_names(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        await press(club, await command(club, "discuss"), "Post")
        sent = await drained(club)
        topic = sent[1][1].turn
        desk = desk_of(club)

        def reply(words: str, reader: Reader, event: str) -> Question:
            asked = desk.question(ROOM, reader, words, event=event, private=False)
            return replace(asked, reply_to=topic)

        assert await desk.asks_first(ROOM, MEMBER, reply("Because it lasts.", MEMBER, "m1")) is not None
        bare = await command(club, "wrap")
        assert "5 questions, 5 quotes" in plain(bare.document)
        assert "Because" not in bare.attachments[0].data.decode()
        await club.store.shelf.change_settings(await club.store.shelf.channel(ROOM, club.clock()), {"replies": True})
        for event, reader, words in (
            ("m2", MEMBER, "It *lasts*."),
            ("m3", Reader("two"), "It is hers."),
            ("m2", MEMBER, "x"),
        ):
            await desk.asks_first(ROOM, reader, reply(words, reader, event))
        assert await desk.asks_first(ROOM, MEMBER, reply("Whose ink is it?", MEMBER, "m4")) is None
        await command(club, "discuss answer 1 I would not have asked.", Reader("three"))
        wrapped = await command(club, "wrap")
        assert "5 questions, 3 replies, 5 quotes" in plain(wrapped.document)
        text = wrapped.attachments[0].data.decode()
        assert "Reader A" in text
        assert "Reader C" in text
        assert "> It \\*lasts\\*." in text
        assert "`[f1-0-42]`" in text
        assert "> Mara kept the lighthouse log in green ink." in text
        assert "member" not in text
        await club.club.forget_reader(ROOM.platform, MEMBER.id)
        assert "lasts" not in (await command(club, "wrap")).attachments[0].data.decode()


async def test_nothing_of_a_discussion_is_known_in_another_channel(tmp_path: Path) -> None:
    async with open_club(tmp_path, ScriptedModel([DRAFT])) as club:
        await club.shelve(lantern_house())
        draft = await command(club, "discuss")
        for row in draft.choices:
            for choice in row:
                with pytest.raises(LoccitError):
                    await desk_of(club).press(Conversation("console", "elsewhere"), KEEPER, choice.id, event="x")


async def test_no_question_with_a_foreign_later_or_missing_tag_is_ever_posted(tmp_path: Path) -> None:
    """Five hundred drafts run in tests/bench/discussions.py."""
    for seed in range(2):
        async with open_club(tmp_path / str(seed), ScriptedModel(Careless(seed))) as club:
            assert await posted(club) > 0


async def posted(club: TestClub) -> int:
    """Draft, swap and post questions of a careless model up to chapter 2; how many were its own. Fails for a bad one."""
    await club.shelve(lantern_house())
    await club.club.progress(ROOM, KEEPER, words="finished 2")
    draft = await command(club, "discuss")
    for number in (1, 2, 3, 4, 5, 1, 2):
        try:
            draft = await press(club, draft, f"Another {number}")
        except ReaderError as error:
            assert error.key == "discuss_no_other"  # noqa: PT017  # a short text may give no other
    await press(club, draft, "Post")
    own = 0
    sent = (await drained(club))[1:]
    assert 1 <= len(sent) <= 5
    for _, reply in sent:
        text = plain(reply.document)
        own += MARK in text
        assert MARK in text or "What do you make of this passage?" in text, text
        assert notes(reply), text
        for choice in notes(reply):
            assert (await club.club.passages.press(ROOM, choice.id)).span.file < 3
    return own


@pytest.mark.parametrize("limit", LIMITS)
async def test_no_planted_word_past_a_limit_reaches_the_model_a_question_or_the_wrap(
    tmp_path: Path, limit: str
) -> None:
    model = ScriptedModel(Careless(7))
    async with open_club(tmp_path, model) as club:
        await club.shelve(planted_book())
        _, reach = await club.club.progress(ROOM, KEEPER, words=limit)
        try:
            draft = await command(club, "discuss")
        except ReaderError as error:
            assert error.key == "discuss_nothing_read"  # noqa: PT017
            return
        await press(club, draft, "Post")
        replies = [draft, *(reply for _, reply in await drained(club)), await command(club, "wrap")]
        shown = [plain(reply.document) for reply in replies]
        shown += [choice.label for reply in replies for row in reply.choices for choice in row]
        shown += [file.data.decode() for reply in replies for file in reply.attachments]
        sent = [message.content for request in model.requests for message in request.messages]
        everything = "\n".join((*shown, *sent)).lower()
        for word in hidden(reach.position):
            assert word.lower() not in everything, word


def _without_chapters() -> ParsedBook:
    """A text of one piece, as a plain file is."""
    return replace(long_book(2, 4_000), chapters=(), toc=())


@pytest.mark.parametrize("chapters", [True, False])
def test_a_place_in_words_leads_back_to_it_and_never_past_it(chapters: bool) -> None:
    book = long_book(3, 5_000) if chapters else _without_chapters()
    lengths = tuple(len(file.text) for file in book.files)
    contents = Contents("", "", lengths, ("",) * len(lengths), (None,) * len(lengths), (), book.chapters, ())
    for file, length in enumerate(lengths):
        for offset in (*range(0, length, 7), length):
            place = Position(file, offset)
            again = read_limit(spelled(contents, place), contents).position
            assert again is not None
            assert sum(lengths[: again.file]) + again.offset <= sum(lengths[:file]) + offset
    for share in ("50 %", "33.3 %", "0.1 %", "99.9 %"):
        said = read_limit(share, contents).position
        assert said is not None
        assert read_limit(spelled(contents, said), contents).position == said


@pytest.mark.parametrize("limit", ["50 %", "37.77 %"])
async def test_in_a_book_without_chapters_all_that_is_drafted_is_posted(tmp_path: Path, limit: str) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(_without_chapters())
        draft = await command(club, f"discuss {limit}")
        assert "the start" not in plain(draft.document)
        assert limit[:4] in plain(draft.document)
        await press(club, draft, "Post")
        said = [plain(reply.document) for _, reply in await drained(club)]
        assert len(said) == 6, said
        await club.club.progress(ROOM, KEEPER, words=limit)
        assert "up to the start" not in plain((await command(club, "discuss")).document)
        dates = plain((await command(club, f"schedule {limit} 2026-05-05")).document)
        assert f"up to {limit[:2]}" in dates


async def test_a_place_before_the_first_words_is_told_from_a_club_that_has_not_begun(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        for said in ("0", "start", "new start"):
            with pytest.raises(ReaderError, match="discuss_nothing_before"):
                await command(club, f"discuss {said}")
        await club.club.progress(ROOM, KEEPER, words="start")
        for said in ("", " 0", " 2"):
            with pytest.raises(ReaderError, match="discuss_nothing_read"):
                await command(club, f"discuss{said}")
