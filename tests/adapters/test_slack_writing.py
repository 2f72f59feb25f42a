"""Forms with one text in Slack: opened by a button, sent also after a restart, what comes of it in the message's place."""

from pathlib import Path

from core.model import Conversation
from tests.adapters.slack_workspace import ANA, BEN, CLUB, Workspace, served
from tests.adapters.test_slack import GREEN_INK, labels, whispered
from tests.adapters.test_slack_pages import view
from tests.clubs import lantern_house
from tests.core.test_discussions import DRAFT
from tests.fakes.model import ScriptedModel
from tests.fakes.slack import FakeSlack, Message, View, shown

WORDS = "Why would anybody write in green, <!channel>?"


def drafting() -> ScriptedModel:
    return ScriptedModel([DRAFT])


async def drafted(there: Workspace) -> Message:
    there.people.slash(CLUB, ANA, "discuss")
    return await there.until(lambda message: message.for_user == ANA and "Post" in labels(message), what="a draft")


async def opened(there: Workspace, draft: Message, number: int = 1) -> View:
    before = set(there.fake.world.views)
    there.people.press(draft, f"Edit {number}", ANA)
    page = await view(there, "modal", f"Edit {number}")
    assert page.id not in before
    return page


def field(page: View) -> str:
    [block] = page.body["blocks"]
    return str(block["element"]["initial_value"])


async def test_edit_brings_the_question_in_a_form_and_the_draft_stands_anew_in_its_place(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        async with served(tmp_path, drafting(), book=lantern_house(), fake=fake) as there:
            draft = await drafted(there)
            page = await opened(there, draft)
            assert field(page) == "Why green ink?"
            assert [message for message in fake.world.ephemerals if message is not draft] == []
        async with served(tmp_path, fake=fake) as there:  # the form still stands open
            there.people.write(page, ANA, WORDS)
            await there.until(lambda message: "Why would anybody" in shown(message), what="the new words")
            assert page.closed
            assert WORDS in shown(draft)
            assert "Why green ink?" not in shown(draft)
            assert len(fake.world.of_bot(CLUB)) == 1
            there.people.press(draft, "1", ANA)
            await there.until(lambda message: GREEN_INK in shown(message), what="its passage")
        assert fake.acting == []


async def test_words_that_are_no_question_are_refused_at_the_field_where_they_still_stand(tmp_path: Path) -> None:
    async with served(tmp_path, drafting(), book=lantern_house()) as there:
        draft = await drafted(there)
        page = await opened(there, draft, 2)
        before = shown(draft)
        for text in ("", "?!"):
            answered = await there.fake.sockets.acked(there.people.write(page, ANA, text))
            assert answered.answer is not None
            [sentence] = answered.answer["errors"].values()
            assert "at most 600 characters" in sentence
            assert not page.closed
        assert shown(draft) == before
        there.people.write(page, ANA, "x" * 600)
        await there.until(lambda message: "x" * 600 in shown(message), what="the longest words")


async def test_a_form_of_somebody_elses_draft_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with served(tmp_path, drafting(), book=lantern_house()) as there:
        page = await opened(there, await drafted(there))
        answered = await there.fake.sockets.acked(there.people.write(page, BEN, WORDS))
        assert answered.answer is not None
        assert answered.answer["response_action"] == "errors"
        there.people.slash(CLUB, ANA, "discuss")
        again = await there.until(lambda message: message.for_user == ANA, what="the draft")
        assert "Why green ink?" in shown(again)


async def test_a_press_too_old_for_a_form_is_told_the_command(tmp_path: Path) -> None:
    async with FakeSlack() as fake, served(tmp_path, drafting(), book=lantern_house(), fake=fake) as there:
        draft = await drafted(there)
        fake.fault("views.open", "expired_trigger_id")
        there.people.press(draft, "Edit 3", ANA)
        told = await there.until(lambda message: "/loccit discuss edit 3" in shown(message), what="the command")
        assert told.for_user == ANA
        assert not fake.world.views


async def test_where_a_message_cannot_be_replaced_any_more_the_draft_is_told_anew(tmp_path: Path) -> None:
    async with FakeSlack() as fake, served(tmp_path, drafting(), book=lantern_house(), fake=fake) as there:
        draft = await drafted(there)
        page = await opened(there, draft)
        for door in fake.response_doors.values():
            door.made -= 1801
        there.people.write(page, ANA, WORDS)
        await there.until(lambda message: WORDS in shown(message) and message is not draft, what="a new draft")
        assert (await whispered(there, ANA)).for_user == ANA
        assert page.closed


async def test_in_a_direct_conversation_the_message_itself_changes_or_comes_anew_when_it_was_deleted(
    tmp_path: Path,
) -> None:
    async with FakeSlack() as fake, served(tmp_path, drafting(), fake=fake) as there:
        direct = fake.world.im(ANA).id
        await there.club.shelve(lantern_house(), Conversation("slack", direct))
        there.people.slash(direct, ANA, "discuss")
        draft = await there.until(lambda message: "Post" in labels(message), direct, "a draft")
        page = await opened(there, draft)
        there.people.write(page, ANA, "Why not in black?")
        await there.until(lambda message: "Why not in black?" in shown(message), direct, "the new words")
        assert [message.ts for message in fake.world.of_bot(direct)] == [draft.ts]
        page = await opened(there, draft, 2)
        draft.deleted = True
        there.people.write(page, ANA, "And who read it?")
        await there.until(lambda message: "And who read it?" in shown(message), direct, "a new draft")
