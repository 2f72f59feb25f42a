"""Slack from end to end with the unmodified libraries: questions in threads, footnotes for one person, commands."""

from pathlib import Path

import pytest

from core.errors import OperatorError
from core.tags import tag
from tests.adapters.slack_workspace import ANA, BEN, CLUB, HERE, Workspace, served
from tests.books import lantern
from tests.books.pdfs import Sheet
from tests.clubs import lantern_house, long_book
from tests.core.test_discussions import DRAFT
from tests.fakes.model import ScriptedModel
from tests.fakes.slack import BOT, FakeSlack, Message, buttons, label, shown

GREEN_INK = "Mara kept the lighthouse log in green ink"
QUESTION = "What did Mara keep the log in?"
NEVER = "What did the zeppelin carry?"


def labels(message: Message) -> list[str]:
    return [label(button) for button in buttons(message)]


async def whispered(there: Workspace, user: str = BEN) -> Message:
    """The newest message that only this person sees."""
    return await there.until(lambda message: message.for_user == user, what=f"something for {user}")


async def test_a_mention_is_answered_in_its_thread_with_footnotes(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        assert "green ink" in shown(answer)
        assert "[1]" in shown(answer)
        assert answer.thread is not None
        assert "green ink" in answer.text
        assert labels(answer)[0].startswith("1 · Ch. 1")
        assert "⋯" in labels(answer)


async def test_a_press_shows_the_passage_to_one_person_and_close_takes_it_away(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        before = list(answer.history)
        there.people.press(answer, "1", BEN)
        passage = await whispered(there)
        assert GREEN_INK in shown(passage)
        assert passage.thread == answer.thread
        assert {"Share here", "Close"} <= set(labels(passage))
        there.people.press(passage, "Close", BEN)
        await there.settled()
        assert passage.deleted
        there.people.press(answer, "1", BEN)
        again = await whispered(there)
        assert GREEN_INK in shown(again)
        there.people.press(again, "Share here", BEN)
        shared = await there.until(lambda message: message.for_user is None and message.ts > again.ts, what="a share")
        assert GREEN_INK in shown(shared)
        assert shared.thread == answer.thread
        assert answer.history == before, "the answer itself is untouched"


async def test_a_passage_grows_in_place(tmp_path: Path) -> None:
    async with served(tmp_path, book=long_book()) as there:
        answer = await there.ask("Who wrote in green ink on day 1014?")
        there.people.press(answer, "1", BEN)
        passage = await whispered(there)
        first = shown(passage)
        there.people.press(passage, "After", BEN)
        await there.settled()
        assert len(shown(passage)) > len(first)
        assert len([message for message in there.fake.world.of_bot(CLUB) if message.for_user == BEN]) == 1
        assert passage.edits == 0, "an ephemeral message changes through its response URL only"


async def test_two_members_kill_and_restart_the_second_opens_footnote_six(tmp_path: Path) -> None:
    """The chat script of the Discord issue, on Slack."""
    runs = [span for span in lantern.RUNS if span.file > 0]
    text = " ".join(f"So it was {number} {tag(span)}." for number, span in enumerate(runs[:7], 1))
    async with FakeSlack() as fake:
        async with served(tmp_path, ScriptedModel([text]), book=lantern_house(), fake=fake) as there:
            answer = await there.ask(QUESTION)
            notes = [name for name in labels(answer) if name[0].isdigit()]
            assert [name[0] for name in notes] == list("1234567")
            there.people.press(answer, "1", ANA)
            await whispered(there, ANA)
        before = list(answer.history)
        async with served(tmp_path, ScriptedModel([]), fake=fake) as there:
            there.people.press(answer, "6", BEN)
            passage = await whispered(there)
            assert lantern.RUNS[runs[5]].strip() in shown(passage)
            assert answer.history == before


async def test_a_reply_in_a_thread_where_the_bot_takes_part_needs_no_mention(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        there.people.say(CLUB, BEN, "Whose coat was in the suitcase?", thread=answer.thread)
        follow = await there.until_said("oilskin")
        assert follow.thread == answer.thread
        there.people.say(CLUB, BEN, f"<@{ANA}> what do you think?", thread=answer.thread)
        elsewhere = there.people.say(CLUB, BEN, "Lunch?")
        there.people.say(CLUB, ANA, "Yes", thread=elsewhere.ts)
        count = len(there.fake.world.of_bot(CLUB))
        await there.settled(quiet=0.6)
        assert len(there.fake.world.of_bot(CLUB)) == count


async def test_a_direct_message_is_answered_there_and_its_passage_is_a_message_that_close_deletes(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as there:
        channel = there.fake.world.im(ANA).id
        await there.club.shelve(lantern_house(), type(HERE)("slack", channel))
        done = there.people.direct(ANA, QUESTION)
        answer = await there.until(lambda message: "[1]" in shown(message), channel, "an answer")
        await there.settled()
        assert answer.thread == done.ts
        there.people.press(answer, "1", ANA)
        passage = await there.until(lambda message: GREEN_INK in shown(message) and message.ts != answer.ts, channel)
        assert "Share here" not in labels(passage)
        there.people.press(passage, "Close", ANA)
        await there.settled()
        assert passage.deleted


async def test_the_assistant_pane_suggests_and_answers(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        channel = there.fake.world.im(ANA).id
        await there.club.shelve(lantern_house(), type(HERE)("slack", channel))
        root = there.people.open_pane(ANA)
        await there.settled()
        assert not there.fake.world.prompts or "The Lantern House" in str(there.fake.world.prompts)
        while not there.fake.world.prompts:
            await there.fake.news(0.1)
        assert "The Lantern House" in there.fake.world.prompts[0]["message"]
        there.people.direct(ANA, QUESTION, thread=root.ts)
        answer = await there.until(lambda message: "[1]" in shown(message), channel, "an answer")
        assert answer.thread == root.ts


async def test_a_question_by_command_gets_a_message_of_its_own_and_the_answer_its_thread(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.people.slash(CLUB, ANA, f"ask {QUESTION}")
        answer = await there.until_said("[1]")
        [root] = [message for message in there.fake.world.of_bot(CLUB) if message.thread is None]
        assert QUESTION in shown(root)
        assert answer.thread == root.ts


async def test_a_command_where_the_bot_is_not_a_member_says_how_to_invite_it(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.fake.world.channel("C0OTHER").members |= {ANA}
        there.people.slash("C0OTHER", ANA, f"ask {QUESTION}")
        said = await there.until(lambda message: message.for_user == ANA, "C0OTHER", "an invitation")
        assert "/invite" in shown(said)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("help", "/loccit quote"),
        ("", "/loccit quote"),
        ("books", "The Lantern House"),
        ("toc", "1. Green Ink"),
        ("quote it still smells of salt", "Word for word"),
        ("about", "AGPL"),
        ("privacy", "forget"),
        ("place finished 1", "chapter 1"),
        ("settings", "Language"),
        ("forget", "/loccit forget"),
        ("dance", "/loccit help"),
        ("add", "/loccit add"),
    ],
)
async def test_what_one_person_wants_to_know_is_said_to_that_one(tmp_path: Path, typed: str, words: str) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.people.slash(CLUB, ANA, typed)
        said = await whispered(there, ANA)
        assert words in shown(said)


async def test_what_everybody_feels_is_said_to_everybody_and_can_be_undone(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        there.people.slash(CLUB, ANA, "progress finished 1")
        said = await there.until_said("chapter 1")
        assert said.for_user is None
        there.people.press(said, "Undo", ANA)
        assert (await there.until_said("taken back")).for_user is None
        there.people.slash(CLUB, ANA, "remove 1")
        removed = await there.until_said("was removed")
        there.people.press(removed, "Undo", ANA)
        await there.settled()
        assert len(await there.club.club.shelf(HERE)) == 1


async def test_changing_things_is_for_the_channels_creator_admins_and_the_group(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.world.groups["S0CLUB"] = ["U0KAY"]
        from adapters.slack.app import Settings
        from tests.fakes.slack import APP_TOKEN

        settings = Settings(fake.tokens.bot, APP_TOKEN, fake.api, sockets=1, managers="S0CLUB")
        fake.world.user("U0ADA", admin=True)
        fake.world.user("U0KAY")
        async with served(tmp_path, book=lantern_house(), fake=fake, settings=settings) as there:
            fake.world.channel(CLUB).members |= {"U0ADA", "U0KAY"}
            there.people.slash(CLUB, BEN, "remove 1")
            refused = await whispered(there)
            assert "manage" in shown(refused)
            assert len(await there.club.club.shelf(HERE)) == 1
            for user, words in (("U0ADA", "finished 1"), ("U0KAY", "finished 2"), (ANA, "all")):
                envelope = there.people.slash(CLUB, user, f"progress {words}")
                await fake.sockets.acked(envelope)
                await there.settled()
            said = [shown(message) for message in fake.world.of_bot(CLUB) if message.for_user is None]
            assert len(said) == 3


async def test_what_the_book_does_not_say_offers_general_knowledge_for_the_one_who_wants_it(tmp_path: Path) -> None:
    """Journey J4."""
    async with served(tmp_path, ScriptedModel(lambda _: "Airships carried mail."), book=lantern_house()) as there:
        answer = await there.ask(NEVER)
        while "Answer without the book" not in labels(answer):
            await there.fake.news(0.2)
        there.people.press(answer, "Answer without the book", BEN)
        own = await there.until(lambda message: message.for_user == BEN and "mail" in shown(message), what="knowledge")
        assert "not from the book" in shown(own).lower()
        assert not any(name[0].isdigit() for name in labels(own))
        assert not any(
            "mail" in shown(message) for message in there.fake.world.of_bot(CLUB)[-1:] if not message.for_user
        )


async def test_what_must_be_mended_reaches_who_made_the_channel_once_and_the_question_can_be_asked_again(
    tmp_path: Path,
) -> None:
    """Journey J10."""
    broken = [True]

    def step(_: object) -> str | Exception:
        return OperatorError("model_quota") if broken[0] else "Airships of that kind carried mail."

    async with served(tmp_path, ScriptedModel(step), book=lantern_house()) as there:
        await there.ask(QUESTION, user=BEN)
        there.people.slash(CLUB, BEN, "ask without What did they carry?")
        failed = await there.until(lambda message: "Try again" in labels(message), what="a way to ask again")
        await there.settled()
        for user, expected in ((ANA, 1), (BEN, 0)):
            told = [shown(message) for message in there.fake.world.of_bot(f"D{user[1:]}")]
            assert sum("used up" in text for text in told) == expected
        assert [notice.key for notice in there.told].count("model_quota") == 1
        broken[0] = False
        there.people.press(failed, "Try again", BEN)
        own = await there.until(lambda message: "carried mail" in shown(message), what="the answer")
        assert own.for_user in (None, BEN)
        assert "not from the book" in shown(own).lower()


async def test_an_answer_can_be_flagged_and_deleted_from_its_more_menu(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        there.people.press(answer, "⋯", ANA)
        menu = await whispered(there, ANA)
        there.people.press(menu, "Wrong", ANA)
        await there.settled()
        assert "Thank you" in shown(menu)
        there.people.press(answer, "⋯", ANA)
        menu = await there.until(lambda message: "Delete" in labels(message), what="the menu")
        there.people.press(menu, "Delete", ANA)
        await there.settled()
        assert answer.deleted


async def test_the_export_is_a_file_in_the_channel(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        await there.ask(QUESTION)
        there.people.slash(CLUB, ANA, "export")
        await there.until(lambda message: message.files, what="a file")
        files = [file for file in there.fake.world.files.values() if file.name.startswith("loccit")]
        assert files
        assert GREEN_INK.encode() in files[0].data
        assert files[0].shared_in == {CLUB}


async def test_a_reader_is_spoken_to_in_their_own_language(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.world.user(BEN, locale="es-ES")
        async with served(tmp_path, book=lantern_house(), fake=fake) as there:
            there.people.slash(CLUB, BEN, "dance")
            assert "No existe" in shown(await whispered(there))


async def test_a_page_picture_is_offered_only_where_it_stays_private(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.page()
    sheet.paragraph(f"{GREEN_INK}. The keeper before her had vanished in a storm.")
    file = sheet.save(tmp_path / "log.pdf")
    async with served(tmp_path) as there:
        done = there.people.direct(ANA, "", files=(there.people.file(ANA, "log.pdf", file.read_bytes()),))
        channel = done.message.channel
        await there.until(lambda message: "Ready" in shown(message), channel, "a book")
        there.people.direct(ANA, QUESTION)
        answer = await there.until(lambda message: "[1]" in shown(message), channel, "an answer")
        await there.settled()
        there.people.press(answer, "1", ANA)
        passage = await there.until(lambda message: "Page picture" in labels(message), channel, "a passage")
        there.people.press(passage, "Page picture", ANA)
        pictured = await there.until(lambda message: bool(message.files), channel, "a picture")
        assert there.fake.world.files[pictured.files[0]].data.startswith(b"\x89PNG")
        assert pictured.thread == passage.thread


async def test_hundreds_of_forged_and_foreign_buttons_open_nothing_and_each_gets_a_sentence(tmp_path: Path) -> None:
    import random

    dice = random.Random(4)
    async with FakeSlack(rates_enforced=False) as fake, served(tmp_path, book=lantern_house(), fake=fake) as there:
        answer = await there.ask(QUESTION)
        good = str(buttons(answer)[0]["value"])
        fake.world.channel("C0OTHER").members |= {"U0LOCCIT", BEN}
        other = fake.world.put(Message("C0OTHER", fake.world.next_ts(), "U0LOCCIT", "elsewhere"))
        tried = 0
        for _ in range(300):
            at = dice.randrange(len(good))
            forged = dice.choice([
                good[:at] + chr(dice.randrange(33, 0x2FF)) + good[at + 1 :], good[:at], good + "x", f"{good}.9", "", "\x00",
                f"{good}.1.1.9", f"{good}.-1.0.0", "close", good * 20, "9" * 40, "' OR 1=1 --", f"{good}.p.p",
            ])  # fmt: skip
            if forged == good:
                continue
            kind = dice.choice(["note:0", "act:0", "step:3", "share:1"])
            there.people.press_value(answer, BEN, {"type": "button", "action_id": kind, "value": forged})
            tried += 1
        for kind in ("note:0", "share:0", "step:0"):
            there.people.press_value(other, BEN, {"type": "button", "action_id": kind, "value": good})
            tried += 1
        while len([message for message in fake.world.ephemerals if message.for_user == BEN]) < tried:
            assert await fake.news(10), "a press was not answered"
        said = [shown(message) for message in fake.world.ephemerals]
        assert not any(GREEN_INK in text or "oilskin" in text for text in said)
        assert all(len(text.splitlines()) == 1 for text in said)
        assert not answer.deleted
        assert len([message for message in fake.world.of_bot(CLUB) if message.for_user is None]) == 1


async def test_questions_to_talk_about_are_drafted_in_private_and_posted_each_for_itself(tmp_path: Path) -> None:
    """Journey J7."""
    async with (
        FakeSlack(rates_enforced=False) as fake,
        served(
            tmp_path, ScriptedModel([DRAFT, "She kept it in green ink. [f1-0-42]"]), book=lantern_house(), fake=fake
        ) as there,
    ):
        there.people.slash(CLUB, ANA, "discuss")
        draft = await whispered(there, ANA)
        assert "Why green ink?" in shown(draft)
        assert {"Post"} <= set(labels(draft))
        there.people.press(draft, "Post", ANA)
        await there.until(lambda message: message.for_user is None and "Why green ink?" in shown(message), what="it")
        await there.settled()
        posted = [message for message in fake.world.of_bot(CLUB) if message.for_user is None]
        assert len(posted) >= 4
        assert all(message.thread is None for message in posted), "people answer under each"
        question = next(message for message in posted if "Why green ink?" in shown(message))
        there.people.press(question, "1", BEN)
        assert GREEN_INK in shown(await whispered(there))
        there.people.say(CLUB, BEN, "Because black ink was dear, I think.", thread=question.ts)
        await there.settled(quiet=0.6)
        assert fake.world.thread(CLUB, question.ts) == [
            question,
            *[m for m in fake.world.ephemerals if m.for_user == BEN],
        ]
        there.people.say(CLUB, BEN, "What did Mara keep the log in?", thread=question.ts)
        answer = await there.until(
            lambda message: message.thread == question.ts and not message.for_user, what="an answer"
        )
        assert "green ink" in shown(answer)


async def test_a_changed_question_is_answered_once_more_in_place(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        done = there.people.mention(CLUB, ANA, QUESTION)
        answer = await there.until_said(GREEN_INK)
        await there.settled()
        asked = done.message.text
        for words, when in (("Who is Ivo, the surveyor?", "surveyor"), (QUESTION, "lighthouse log")):
            there.people.edit(done.message, asked.replace(QUESTION, words))
            there.people.edit(done.message, done.message.text)  # a preview came
            changed = await there.until_said(when)
            await there.settled()
            assert changed.ts == answer.ts
            assert len(there.fake.world.of_bot(CLUB)) == 1
        there.people.press(answer, "1", BEN)
        assert GREEN_INK in shown(await whispered(there))
        said = len(there.fake.world.of_bot(CLUB))
        chat = there.people.say(CLUB, BEN, "people among themselves")
        there.people.edit(chat.message, "people among each other")
        await there.settled()
        assert len(there.fake.world.of_bot(CLUB)) == said


@pytest.mark.parametrize("member", [True, False])
async def test_what_is_asked_without_the_book_by_command_is_told_to_its_asker_alone(
    tmp_path: Path, member: bool
) -> None:
    async with served(tmp_path, ScriptedModel(lambda _: "Ink is a fluid."), book=lantern_house()) as there:
        if not member:
            there.fake.world.channel(CLUB).members.discard(BOT)
        there.people.slash(CLUB, BEN, "ask without What is ink?")
        if not member:
            await there.until(lambda message: "/invite" in shown(message), what="how to let it in")
            return
        own = await whispered(there)
        assert "Ink is a fluid" in shown(own)
        assert all(message.for_user == BEN for message in there.fake.world.of_bot(CLUB))
