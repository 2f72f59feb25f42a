"""Slack from end to end with the unmodified libraries: questions in threads, footnotes for one person, commands, forms."""

from pathlib import Path

from tests.adapters.slack_workspace import BEN, served
from tests.clubs import lantern_house
from tests.fakes.slack import buttons, label, shown

GREEN_INK = "Mara kept the lighthouse log in green ink"
QUESTION = "What did Mara keep the log in?"


async def test_a_mention_is_answered_in_its_thread_with_footnotes(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        assert "green ink" in shown(answer)
        assert "[1]" in shown(answer)
        assert answer.thread is not None
        assert "green ink" in answer.text
        assert next(label(button) for button in buttons(answer)).startswith("1 · Ch. 1")


async def test_a_press_shows_the_passage_to_one_person_and_close_takes_it_away(tmp_path: Path) -> None:
    async with served(tmp_path, book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        there.people.press(answer, "1", BEN)
        passage = await there.until(lambda message: message.for_user == BEN, what="a passage")
        assert GREEN_INK in shown(passage)
        assert passage.thread == answer.thread
        labels = [label(button) for button in buttons(passage)]
        assert "Share here" in labels
        assert "Close" in labels
        there.people.press(passage, "Close", BEN)
        await there.settled()
        assert passage.deleted
        there.people.press(answer, "1", BEN)
        again = await there.until(lambda message: message.for_user == BEN, what="a passage")
        there.people.press(again, "Share here", BEN)
        shared = await there.until(
            lambda message: message.for_user is None and GREEN_INK in shown(message) and message.ts > again.ts
        )
        assert shared.thread == answer.thread
