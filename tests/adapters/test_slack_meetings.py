"""Reading together on Slack: what concerns everybody is said openly; who speaks to the bot under a question is answered."""

from pathlib import Path

import pytest

from core.model import Reader
from tests.adapters.slack_workspace import ANA, BEN, CLUB, HERE, Workspace, served
from tests.adapters.test_slack import QUESTION, labels, whispered
from tests.clubs import lantern_house
from tests.core.test_discussions import DRAFT
from tests.fakes.model import ScriptedModel
from tests.fakes.slack import BOT, FakeSlack, Message, shown


async def test_a_poll_and_its_count_are_for_everybody(tmp_path: Path) -> None:
    async with FakeSlack(rates_enforced=False) as fake, served(tmp_path, fake=fake) as there:
        for title in ("Emma", "Hamlet"):
            there.people.slash(CLUB, BEN, f"next {title}")
            proposed = await there.until_said(f". {title}")
            assert proposed.for_user is None
        there.people.slash(CLUB, ANA, "next vote")
        ballot = await there.until(lambda message: "Vote 2" in labels(message), what="a ballot")
        assert ballot.for_user is None
        there.people.press(ballot, "Vote 2", BEN)
        assert "Hamlet" in shown(await whispered(there, BEN))
        there.people.slash(CLUB, ANA, "next close")
        assert (await there.until_said("Next we read Hamlet")).for_user is None
        there.people.slash(CLUB, BEN, "next")
        assert (await there.until(lambda message: message.for_user == BEN and "The count" in shown(message))).blocks


@pytest.mark.parametrize("line", ["quotes daily 9", "quotes daily off"])
async def test_a_quote_of_the_day_is_agreed_on_openly(tmp_path: Path, line: str) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.people.slash(CLUB, ANA, line)
        told = await there.until(lambda message: "each day" in shown(message) or "no quote" in shown(message))
        assert told.for_user is None


async def _posted(there: Workspace) -> Message:
    there.people.slash(CLUB, ANA, "discuss")
    there.people.press(await whispered(there, ANA), "Post", ANA)
    question = await there.until(lambda message: message.for_user is None and "Why green ink?" in shown(message))
    await there.settled()
    return question


@pytest.mark.parametrize("kept", [True, False])
async def test_who_answers_a_question_to_the_bots_face_is_told_whether_it_is_kept(tmp_path: Path, kept: bool) -> None:
    async with (
        FakeSlack(rates_enforced=False) as fake,
        served(tmp_path, ScriptedModel([DRAFT]), book=lantern_house(), fake=fake) as there,
    ):
        await there.club.club.meeting.discussions.agree(HERE, Reader(ANA, manages=True), kept)
        question = await _posted(there)
        there.people.say(CLUB, BEN, "Black ink was dear, I think.", thread=question.ts)
        await there.settled(quiet=0.6)
        assert fake.world.thread(CLUB, question.ts) == [question], "people among themselves are left alone"
        there.people.mention(CLUB, BEN, "Black ink was dear, I think.", thread=question.ts)
        await there.until_said("Thank you." if kept else "Answers are not kept in this chat")


async def test_a_press_that_breaks_on_our_side_is_told_so(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.people.slash(CLUB, ANA, "next Emma")
        message = await there.until_said("1. Emma")
        [id] = await there.club.club.post.buttons(HERE, [{"do": "toc"}], None)  # without what it needs
        there.people.press_value(message, BEN, {"type": "button", "action_id": "act:0", "value": id})
        told = await whispered(there, BEN)
        assert "Something broke on our side (reference" in shown(told)


async def test_a_passage_is_saved_for_everybody_and_liked_by_its_button(tmp_path: Path) -> None:
    async with FakeSlack(rates_enforced=False) as fake, served(tmp_path, book=lantern_house(), fake=fake) as there:
        answer = await there.ask(QUESTION)
        there.people.press(answer, "1", BEN)
        passage = await there.until(lambda message: "Save the quote" in labels(message), what="a passage")
        for said in ("Saved for everybody here.", "This one is saved here already."):
            there.people.press(passage, "Save the quote", BEN)
            assert (await there.until_said(said)).for_user == BEN
        there.people.slash(CLUB, ANA, "quotes")
        wall = await there.until(lambda message: "Like 1" in labels(message), what="the wall")
        there.people.press(wall, "Like 1", ANA)
        await there.until_said("You like it.")
        assert "Our quotations" in shown(wall), "the wall stays"
        assert "green ink" in shown(passage), "the passage stays"


async def test_setup_names_what_slack_does_not_allow_and_looks_again(tmp_path: Path) -> None:
    async with FakeSlack(rates_enforced=False) as fake, served(tmp_path, book=lantern_house(), fake=fake) as there:
        granted, members = fake.scopes, fake.world.channel(CLUB).members
        fake.scopes = granted - {"files:write"}
        members.discard(BOT)
        there.people.slash(CLUB, ANA, "setup")
        shows = await there.until(lambda message: "Check again" in labels(message), what="a checklist")
        assert "Missing: Slack: the app lacks files:write; add them under" in shown(shows)
        assert "Missing: I am not in this channel yet; invite me with /invite" in shown(shows)
        fake.scopes = granted
        members.add(BOT)
        there.people.press(shows, "Check again", ANA)
        mended = await there.until_said("OK: I may do all that I need here.")
        assert "Missing: Slack" not in shown(mended)
