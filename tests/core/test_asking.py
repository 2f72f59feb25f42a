"""The turn: evidence before the model, guards of the loop, the outcome, what is kept. Cases C37–C43, C46, C52 and neighbours."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.asking.loop import ROUNDS
from core.asking.smalltalk import is_chat
from core.asking.unreadable import unreadable
from core.errors import LoccitError, Missing, OperatorError, UpstreamError
from core.model import Answered, ChatRequest, Reader, Searching
from core.prompts import tools
from core.retrieval import Budgets
from tests.clubs import MEMBER, ROOM, book_of, lantern_house, open_club, said
from tests.fakes.model import Says, ScriptedModel, Step

INK = "The log was kept in green ink [f1-0-42]."
RELATED = "get_related_segment_summaries"


def delivered_before_first_call(request: ChatRequest) -> str:
    return "\n".join(message.content for message in request.messages if message.role == "tool")


async def test_the_book_is_consulted_before_the_model_speaks(tmp_path: Path) -> None:
    model = ScriptedModel([INK])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink was the log kept in?")
    assert "[f1-0-42]" in delivered_before_first_call(model.requests[0])
    assert turn.answer.outcome == "grounded"
    assert said(turn) == "The log was kept in green ink [1]."
    assert turn.usage.calls == 1


async def test_a_book_that_fits_is_given_whole_and_no_second_call_is_needed(tmp_path: Path) -> None:
    model = ScriptedModel(["Ivo came by ferry [f2-0-51]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        await club.ask("zxqv?", evidence_tokens=None)
    shown = delivered_before_first_call(model.requests[0])
    assert all(tag in shown for tag in ("[f1-42-101]", "[f2-51-102]", "[f3-84-122]"))


SPELLINGS: list[tuple[str, Step]] = [
    ("a call as text", f'{{"name":"{RELATED}","arguments":{{"question":"green ink"}}}}'),
    ("a fenced call", f'```json\n{{"name":"{RELATED}","arguments":{{"question":"green ink"}}}}\n```'),
    ("a tagged call", f'<tool_call>{{"name":"{RELATED}","arguments":{{"question":"green ink"}}}}</tool_call>'),
    (
        "words, then a tagged call",
        f'Let me look.\n<tool_call>{{"name":"{RELATED}","arguments":{{"question":"green ink"}}}}</tool_call>',
    ),
    ("a real call", Says(calls=[(RELATED, '{"question":"green ink"}')])),
    ("a call with single quotes", Says(calls=[(RELATED, "{'question': \"Mara's ink\",}")])),
]


@pytest.mark.parametrize("step", [step for _, step in SPELLINGS], ids=[name for name, _ in SPELLINGS])
async def test_a_call_is_run_however_it_is_written_and_never_shown(step: Step, tmp_path: Path) -> None:
    steps = [step, '{"Thinking":"ink","answer":["0"]}', INK]
    model = ScriptedModel(steps)
    async with open_club(tmp_path, model, steady=True) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink?")
        drafts = club.drafts()
        searched = [event.words for event in club.events if isinstance(event, Searching)]
    model.finish()
    assert said(turn) == "The log was kept in green ink [1]."
    assert not any("name" in draft or "tool" in draft or "{" in draft for draft in drafts)
    assert searched[-1] in ("green ink", "Mara's ink")
    assert model.requests[-1].messages[-1].role == "tool"


async def test_a_call_written_as_text_with_a_name_that_was_not_offered_is_text(tmp_path: Path) -> None:
    model = ScriptedModel(['The log says {"name":"delete_book"} in green ink [f1-0-42].'])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink?")
    assert "delete_book" in said(turn)
    assert len(model.requests) == 1


async def test_an_unknown_tool_is_answered_with_the_names_on_offer(tmp_path: Path) -> None:
    model = ScriptedModel([Says(calls=[("search_book", '{"q":"ink"}')]), INK])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink?")
    answer = model.requests[1].messages[-1]
    assert answer.role == "tool"
    assert all(tool.name in answer.content for tool in tools.TOOLS)
    assert turn.answer.outcome == "grounded"


async def test_arguments_that_cannot_be_read_are_a_tool_error_and_the_turn_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel([Says(calls=[("find_in_book", '{"words": "gre')]), INK])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink?")
    assert model.requests[1].messages[-1].content.startswith("Error")
    assert turn.answer.outcome == "grounded"


async def test_a_third_identical_call_is_refused_and_one_turn_without_tools_is_the_last(tmp_path: Path) -> None:
    def stubborn(request: ChatRequest) -> Step:
        if request.purpose == "pick":
            return '{"Thinking":"","answer":[]}'
        if request.tool_choice == "none":
            return INK
        return Says(calls=[("find_in_book", '{"words":"ink"}')])

    model = ScriptedModel(stubborn)
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink?")
    results = [message.content for message in model.requests[-1].messages if message.role == "tool"]
    assert results[-1].startswith("You already have this")
    assert sum(result.startswith("You already have this") for result in results) == 1
    assert len(model.requests) == 4
    assert turn.answer.outcome == "grounded"


async def test_a_model_that_always_asks_for_something_new_is_stopped_after_a_fixed_number_of_rounds(
    tmp_path: Path,
) -> None:
    asked = 0

    def curious(request: ChatRequest) -> Step:
        nonlocal asked
        if request.purpose == "pick":
            return '{"Thinking":"","answer":[]}'
        asked += 1
        return Says(calls=[("find_in_book", json.dumps({"words": f"ink {asked}"}))])

    model = ScriptedModel(curious)
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink?")
    assert asked <= 2 * ROUNDS
    assert turn.answer.outcome == "not_in_book"
    assert said(turn).startswith("I found nothing about this in The Lantern House. I looked in chapters 1–3.")


async def test_words_without_a_note_are_asked_for_again_and_then_marked_as_not_from_the_book(tmp_path: Path) -> None:
    model = ScriptedModel(["It was 1923.", '{"Thinking":"","answer":["0"]}', "Probably 1923."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What year is it?")
    model.finish()
    assert turn.answer.outcome == "not_in_book"
    assert turn.answer.footnotes == ()
    sentence, mark, words = said(turn).split("\n\n")
    assert sentence == "I found nothing about this in The Lantern House. I looked in chapters 1–3."
    assert (mark, words) == ("Not from the book:", "Probably 1923.")


async def test_the_second_attempt_may_still_prove_itself(tmp_path: Path) -> None:
    model = ScriptedModel(["It was green.", '{"Thinking":"","answer":["0"]}', INK])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink?")
    assert turn.answer.outcome == "grounded"


async def test_a_tag_without_evidence_is_dropped_and_its_sentence_is_not_from_the_book(tmp_path: Path) -> None:
    """C52: the tools return nothing; the sentence may stand, marked, without a note."""
    costly = "Green ink was costly [f1-0-42]."
    model = ScriptedModel([costly, '{"Thinking":"","answer":[]}', costly])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("zxqv")
    assert turn.answer.outcome == "not_in_book"
    assert turn.answer.footnotes == ()
    assert "Green ink was costly." in said(turn)
    assert [drop.reason for drop in turn.answer.dropped] == ["not_in_evidence"]


async def test_small_talk_costs_one_call_and_sees_no_book(tmp_path: Path) -> None:
    model = ScriptedModel(["You are welcome [f1-0-42]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("Thank you!")
    assert turn.answer.outcome == "chat"
    assert turn.answer.footnotes == ()
    assert said(turn) == "You are welcome."
    assert not any("lighthouse" in message.content for message in model.requests[0].messages)


@pytest.mark.parametrize(
    "text", ["Hello!", "thanks", "¿Quién eres?", "Bom dia, Loccit!", "ok, gracias", "who are you?"]
)
def test_greetings_thanks_and_words_to_the_bot_are_chat(text: str) -> None:
    assert is_chat(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is it about?",
        "to be or not to be",
        "Hello, who is Mara?",
        "",
        "??",
        "¿de qué trata?",
        "help Mara",
        "好",
        "who is he?",
        "Hello, what happened to him?",
        "Please, who did it?",
        "Was he sorry?",
        "Is she ok?",
        "Did they say goodbye?",
        "Was it a good night?",
        "Thanks! And who was he?",
        "help me, who is it?",
        "¿Quién dijo adiós?",
    ],
)
def test_everything_else_is_about_the_book(text: str) -> None:
    assert not is_chat(text)


@pytest.mark.parametrize(
    "failure",
    [
        UpstreamError("model_down"),
        UpstreamError("model_timeout"),
        UpstreamError("model_rate_limited"),
        OperatorError("model_key_refused"),
        OperatorError("model_quota"),
        OperatorError("model_unknown", model="x"),
    ],
    ids=lambda failure: str(failure.key),
)
async def test_while_the_provider_fails_the_book_is_quoted_and_the_reason_named(
    failure: LoccitError, tmp_path: Path
) -> None:
    async with open_club(tmp_path, ScriptedModel([failure])) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink was the log kept in?")
    assert turn.model == "offline"
    assert turn.answer.outcome == "grounded"
    assert [notice.key for notice in turn.answer.notices] == [failure.key, "interim_quotes"]


REASONS: list[tuple[str, str]] = [
    ("length", "answer_cut"),
    ("content_filter", "answer_filtered"),
    ("", "answer_broke_off"),
]


@pytest.mark.parametrize(("reason", "notice"), REASONS)
async def test_an_answer_that_did_not_end_by_itself_says_so(reason: str, notice: str, tmp_path: Path) -> None:
    model = ScriptedModel([Says("Ink [f1-0-42]. Storm [f1-42-10", reason=reason)])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("What ink and which storm?")
    assert "[f1" not in said(turn)
    assert [note.key for note in turn.answer.notices] == [notice]
    assert said(turn).startswith("Ink [1]. Storm")


async def test_the_same_event_is_answered_once(tmp_path: Path) -> None:
    model = ScriptedModel([INK])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        first = await club.ask("What ink?", event="once")
        again = await club.ask("What ink?", event="once")
    assert first.id == again.id
    assert [note.id for note in first.answer.footnotes] == [note.id for note in again.answer.footnotes]


async def test_without_any_book_a_question_is_answered_by_how_to_add_one(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        with pytest.raises(Missing) as missing:
            await club.ask("What ink?")
    assert missing.value.key == "no_book"


async def test_of_two_books_the_one_named_is_meant_and_otherwise_the_bot_asks(tmp_path: Path) -> None:
    other = replace(lantern_house(), title="The Ferry")
    async with open_club(tmp_path) as club:
        sha256 = await club.shelve(lantern_house())
        await club.shelve(other)
        with pytest.raises(Missing) as missing:
            await club.ask("What ink?")
        assert missing.value.key == "which_book"
        named = await club.ask("In The Lantern House, what ink was the log kept in?")
        assert named.books[0][0] == sha256
        await club.club.use(ROOM, MEMBER, "2")
        chosen = await club.ask("What ink was the log kept in?")
        assert chosen.books[0][0] != sha256


async def test_a_follow_up_sees_the_exchange_it_replies_to_without_tags_and_no_one_elses(tmp_path: Path) -> None:
    model = ScriptedModel([INK, "Ivo came by ferry [f2-0-51].", "Old Tobin [f1-42-101]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        first = await club.ask("Who kept the log?")
        await club.ask("Who came by ferry?")
        await club.ask("And before her?", reply_to=first.id)
    messages = model.requests[-1].messages
    assert [message.role for message in messages] == ["system", "user", "assistant", "user", "assistant", "tool"]
    assert messages[1].content == "Who kept the log?"
    assert messages[2].content == "The log was kept in green ink."
    assert "ferry" not in "".join(message.content for message in messages[:-1])
    assert "[f1-42-101]" in messages[-1].content


async def test_a_tag_of_an_earlier_turn_is_no_evidence_in_this_one(tmp_path: Path) -> None:
    """C21, through the whole turn."""
    model = ScriptedModel([INK, '{"answer":[]}', "Ferry [f2-0-51]. Ink [f1-0-42]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        first = await club.ask("green ink")
        second = await club.ask("ferry suitcase surveyor", reply_to=first.id, evidence_tokens=30)
    assert said(second) == "Ferry [1]. Ink."
    assert [drop.raw for drop in second.answer.dropped] == ["[f1-0-42]"]


async def test_on_wish_general_knowledge_is_given_marked_without_notes_or_tools(tmp_path: Path) -> None:
    model = ScriptedModel(["Green inks were made of copper [f1-0-42]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        turn = await club.ask("How was green ink made?", without_book=True)
    assert turn.answer.outcome == "general_knowledge"
    assert turn.answer.footnotes == ()
    assert said(turn) == "Not from the book:\n\nGreen inks were made of copper."
    assert model.requests[0].tools == ()


async def test_without_a_model_general_knowledge_is_refused_in_words(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        await club.shelve(lantern_house())
        with pytest.raises(OperatorError) as refused:
            await club.ask("How was green ink made?", without_book=True)
    assert refused.value.key == "no_model"


async def test_a_question_to_all_books_numbers_their_files_through_and_each_note_knows_its_book(tmp_path: Path) -> None:
    second = replace(lantern_house(), title="The Second Lantern")
    model = ScriptedModel(["Once [f1-0-42]. Twice [f5-0-42]."])
    async with open_club(tmp_path, model) as club:
        books = [await club.shelve(lantern_house()), await club.shelve(second)]
        turn = await club.ask("What ink was the log kept in?", every_book=True)
        opened = [await club.club.passages.press(ROOM, note.id) for note in turn.answer.footnotes]
    assert said(turn) == "Once [1]. Twice [2]."
    assert [passage.book for passage in opened] == books
    assert {passage.quote for passage in opened} == {"Mara kept the lighthouse log in green ink."}
    assert [passage.span.file for passage in opened] == [1, 1]


async def test_where_nothing_is_found_each_of_several_books_says_where_it_was_looked_through(tmp_path: Path) -> None:
    async with open_club(tmp_path) as club:
        for title in ("The First House", "The Second House"):
            book = lantern_house()
            await club.shelve(book_of(book.files, book.runs, ["Green Ink", "The Ferry", "Tobin's Coat"], title))
        await club.club.progress(ROOM, MEMBER, "The Second House", "finished 1")
        turn = await club.ask("What do zebras paint?", every_book=True)
    assert said(turn) == (
        "I found nothing about this in these books up to where they have been read. "
        "The First House: I looked in chapters 1–3. The Second House: I looked in chapter 1."
    )


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("What is on page 3?", ["3"]),
        ("Compare pages 3 and 9", ["3"]),
        ("¿Qué dice la página 3?", ["3"]),
        ("O que está na pág. 3?", ["3"]),
        ("What stands on p. ii?", ["ii"]),
        ("What is on page 9?", []),
        ("Who is Mara?", []),
        ("What does 3 mean?", []),
    ],
)
def test_a_question_names_pages_that_are_pictures(question: str, pages: list[str]) -> None:
    assert unreadable(question, ["i", "ii", "3", "4", "5", "6", "7", "8", "9", "10"], range(7)) == pages


async def test_a_page_that_is_a_picture_is_answered_by_saying_so_without_any_model(tmp_path: Path) -> None:
    """C60: seven of ten pages are pictures; page 3 is one of them."""
    model = ScriptedModel(["It was 1923.", '{"Thinking":"","answer":[]}', "It was 1923."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(replace(lantern_house(), blind=(0, 1, 2), format="pdf"))
        turn = await club.ask("What is on page 3?")
        assert said(turn) == "I cannot read page 3: it is a picture without text."
        assert model.requests == []
        assert turn.answer.outcome == "not_in_book"
        other = await club.ask("What year is it?")
    assert "I could not look at pages 1–3 of the file, which are pictures." in said(other)


async def test_in_a_chat_a_question_is_quoted_to_meanwhile_kept_and_answered_once_when_the_provider_is_back(
    tmp_path: Path,
) -> None:
    down = UpstreamError("model_down")
    model = ScriptedModel([down, down, INK])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        meanwhile = await club.ask("What ink was the log kept in?", event="kept", patient=True)
        assert meanwhile.model == "offline"
        assert [notice.key for notice in meanwhile.answer.notices] == ["model_down", "interim_quotes", "question_kept"]
        assert [
            event async for event in club.club.questions.answer_kept("console") if isinstance(event, Answered)
        ] == []
    async with open_club(tmp_path, model) as club:
        answers = [event async for event in club.club.questions.answer_kept("console") if isinstance(event, Answered)]
        assert [said(event.turn) for event in answers] == ["The log was kept in green ink [1]."]
        assert [event async for event in club.club.questions.answer_kept("console")] == []
        opened = await club.club.passages.press(ROOM, meanwhile.answer.footnotes[0].id)
        assert opened.quote == "Mara kept the lighthouse log in green ink."
    model.finish()


async def test_a_question_that_waited_a_day_is_given_up(tmp_path: Path) -> None:
    model = ScriptedModel([UpstreamError("model_down")])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        await club.ask("What ink?", patient=True)
        club.clock.pass_minutes(24 * 60 + 1)
        assert [event async for event in club.club.questions.answer_kept("console")] == []
    model.finish()


async def test_an_answer_that_was_cut_is_continued_with_the_same_evidence(tmp_path: Path) -> None:
    model = ScriptedModel([Says(INK, reason="length"), "Tobin vanished [f1-42-101]."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        cut = await club.ask("Who kept the log, and before?")
        more = await club.ask("Go on", reply_to=cut.id, go_on=True)
    roles = [message.role for message in model.requests[1].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert model.requests[1].messages[1].content == "Who kept the log, and before?"
    assert model.requests[1].messages[4].content == "The log was kept in green ink."
    assert said(more) == "Tobin vanished [1]."


async def test_an_answer_without_the_book_that_was_cut_goes_on_without_the_book(tmp_path: Path) -> None:
    model = ScriptedModel([Says("Ink is a fluid", reason="length"), "that colours."])
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        cut = await club.ask("What is ink?", without_book=True)
        more = await club.ask("Continue", reply_to=cut.id, go_on=True, without_book=True)
    roles = [message.role for message in model.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert model.requests[1].messages[1].content == "What is ink?"
    assert more.answer.outcome == "general_knowledge"
    assert said(more).endswith("that colours.")


async def test_a_model_known_to_close_its_thinking_without_opening_it_shows_none_from_its_second_answer_on(
    tmp_path: Path,
) -> None:
    """C46: the first answer is mended at its end; later ones show nothing of it, also after a restart."""
    pieces = (
        "I should look ",
        "at chapter 3 first.",
        "</think>",
        "Green ink ",
        "[f1-0-42]. ",
        *("So it was said in Carrow, again and again, " for _ in range(5)),
        "for years.",
    )
    model = ScriptedModel([Says(pieces), Says(pieces), "x"])
    async with open_club(tmp_path, model, steady=True) as club:
        await club.shelve(lantern_house())
        first = await club.ask("What ink?")
    async with open_club(tmp_path, model, steady=True) as club:
        second = await club.ask("What ink was it?", reply_to=first.id)
        drafts = club.drafts()
    assert said(first) == said(second)
    assert said(first).startswith("Green ink [1]. So it was said in Carrow,")
    assert drafts
    assert not any("chapter 3" in draft or "think" in draft for draft in drafts)
    assert not any("chapter 3" in message.content for message in model.requests[1].messages[1:])


async def test_a_small_window_makes_every_budget_smaller(tmp_path: Path) -> None:
    assert Budgets.within(128_000) == Budgets()
    small = Budgets.within(8_192)
    assert small.looked_up + small.selected + small.history < 8_192 * 0.6
    assert small.batch < 8_192 * 0.6


@pytest.mark.parametrize(
    ("locale", "question"), [("fr", "¿De quién era la tinta verde?"), ("es", "Whose was the green ink?")]
)
async def test_the_answer_follows_the_questions_language_and_our_words_the_readers(
    locale: str, question: str, tmp_path: Path
) -> None:
    """C53: the prompt names no fixed language."""
    model = ScriptedModel(lambda request: '{"answer":["0"]}' if request.purpose == "pick" else INK)
    async with open_club(tmp_path, model) as club:
        await club.shelve(lantern_house())
        await club.ask(question, reader=Reader("m", locale))
    request = model.requests[-1]
    system = request.messages[0].content
    assert "language of the question" in system
    assert not any(name in system for name in ("English", "Spanish", "French", "español", "français"))
    assert request.messages[1].content == question
