"""Answers while they are written: Slack's stream, what stands in for it, a reader's stop, and crashes in between."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from core.model.chat import ChatEvent, ChatRequest, Finished, Said, Usage
from tests.adapters.slack_hostile import hostile
from tests.adapters.slack_workspace import ANA, BEN, CLUB, served
from tests.clubs import lantern_house
from tests.fakes.slack import FakeSlack, buttons, label, shown

QUESTION = "What did Mara keep the log in?"
TEXT = (
    "Mara kept the lighthouse log in green ink, night after night, as the keeper before her had done. "
    "Nobody in Carrow spoke of what had happened to him, and she did not ask them for a long time. "
    "That is all that the book says about the log in its first pages, and it is enough for now."
)
CITED = f"{TEXT} [f1-0-42]"


@dataclass
class SlowModel:
    """Says a text word by word; `gate` holds it back after so many words until it is opened."""

    text: str = CITED
    pause: float = 0.02
    hold_after: int | None = None
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    name: str = "slow"
    asked: int = 0

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.asked += 1
        for at, word in enumerate(self.text.split(" ")):
            if at == self.hold_after:
                await self.gate.wait()
            await asyncio.sleep(self.pause)
            yield Said(word + " ")
        yield Finished("stop", Usage(1, 10, 5))


async def test_an_answer_streams_with_a_status_and_the_final_message_is_the_streamed_one(tmp_path: Path) -> None:
    async with served(tmp_path, SlowModel(), book=lantern_house()) as there:
        answer = await there.ask(QUESTION)
        fake = there.fake
        assert len(fake.calls("chat.startStream")) == 1
        assert fake.calls("chat.appendStream")
        assert fake.calls("chat.postMessage") == []
        assert fake.calls("assistant.threads.setStatus")[0].args["status"]
        assert answer.ts == fake.calls("chat.startStream")[0].reply["ts"]
        grown = answer.history
        assert all(later.startswith(earlier) for earlier, later in pairwise(grown[:-1]))
        assert "[1]" in shown(answer)
        assert label(buttons(answer)[0]).startswith("1")
        assert not any("[f" in text for text in grown)


async def test_what_is_streamed_is_escaped_and_inert(tmp_path: Path) -> None:
    hostile = (
        "So <!channel> and <@U0ANA> and https://evil.example and @here and [x](https://evil.example) say it all. " * 3
    )
    async with served(tmp_path, SlowModel(hostile), book=lantern_house()) as there:
        await there.ask(QUESTION)
        assert there.fake.calls("chat.startStream")
        assert there.fake.acting == []


async def test_forty_hostile_paragraphs_and_a_hostile_file_name_act_on_nobody_on_the_wire(tmp_path: Path) -> None:
    model = SlowModel("\n\n".join(hostile(40, seed=77)), pause=0.001)
    async with served(tmp_path, model, book=lantern_house()) as there:
        there.people.mention(CLUB, ANA, QUESTION)
        await there.until(
            lambda message: "⋯" in [label(button) for button in buttons(message)], what="the whole answer"
        )
        there.people.upload(CLUB, ANA, "<!channel> https://evil.example @here.epub", b"no book")
        await there.settled(quiet=1.0)
        assert there.fake.calls("chat.startStream")
        assert there.fake.acting == []


async def test_where_streaming_is_not_to_be_had_one_message_is_edited_and_has_a_stop_button(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.fault("chat.startStream", "unknown_method")
        model = SlowModel(hold_after=30)
        async with served(tmp_path, model, book=lantern_house(), fake=fake) as there:
            there.people.mention(CLUB, ANA, QUESTION)
            draft = await there.until(lambda message: message.blocks, what="a draft")
            assert [label(button) for button in buttons(draft)] == ["Stop"]
            model.gate.set()
            answer = await there.until_said("[1]")
            assert answer.ts == draft.ts
            assert "Stop" not in [label(button) for button in buttons(answer)]
            again = await there.ask(QUESTION + " Once more?")
            assert again.blocks
            assert len(fake.calls("chat.startStream")) == 1, "a workspace that cannot stream is not asked each time"


async def test_a_stream_that_slack_closed_goes_on_in_the_same_message(tmp_path: Path) -> None:
    fake, model = FakeSlack(stream_life=0.3), SlowModel(pause=0.05)
    async with fake, served(tmp_path, model, book=lantern_house(), fake=fake) as there:
        there.people.mention(CLUB, ANA, QUESTION)
        answer = await there.until_said("[1]")
        assert answer.ts == fake.calls("chat.startStream")[0].reply["ts"]
        assert any(entry.reply.get("error") == "message_not_in_streaming_state" for entry in fake.journal)


async def test_a_rate_limit_on_the_stream_means_that_the_answer_comes_in_one_piece(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.fault("chat.startStream", "ratelimited", status=429, retry_after=30)
        async with served(tmp_path, SlowModel(), book=lantern_house(), fake=fake) as there:
            answer = await there.ask(QUESTION)
            assert "[1]" in shown(answer)
            assert len(answer.history) == 1


async def test_a_rate_limit_on_the_final_message_is_waited_out(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.fault("chat.update", "ratelimited", status=429, retry_after=1, times=2)
        async with served(tmp_path, SlowModel(), book=lantern_house(), fake=fake) as there:
            there.people.mention(CLUB, ANA, QUESTION)
            answer = await there.until_said("[1]")
            assert buttons(answer)


async def test_slacks_own_stop_ends_the_answer_and_says_so(tmp_path: Path) -> None:
    model = SlowModel(hold_after=30)
    async with served(tmp_path, model, book=lantern_house()) as there:
        there.people.mention(CLUB, ANA, QUESTION)
        draft = await there.until(lambda message: message.streamed, what="a stream")
        there.people.stop(draft)
        model.hold_after = None
        model.gate.set()
        stopped = await there.until_said("The answer was stopped")
        assert stopped.ts == draft.ts
        assert "Mara" in shown(stopped)
        assert "[1]" not in shown(stopped)


async def test_the_stop_button_is_for_whoever_asked_or_manages(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.fault("chat.startStream", "unknown_method")
        model = SlowModel(hold_after=30)
        async with served(tmp_path, model, book=lantern_house(), fake=fake) as there:
            there.people.mention(CLUB, ANA, QUESTION)
            draft = await there.until(lambda message: message.blocks, what="a draft")
            there.people.press(draft, "Stop", BEN)
            refused = await there.until(lambda message: message.for_user == BEN, what="a refusal")
            assert "nothing to stop" in shown(refused)
            there.people.press(draft, "Stop", ANA)
            assert (await there.until_said("The answer was stopped")).ts == draft.ts


async def test_a_crash_in_mid_answer_leaves_one_answer_in_the_same_message(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        async with served(tmp_path, SlowModel(hold_after=30), book=lantern_house(), fake=fake) as there:
            there.people.mention(CLUB, ANA, QUESTION)
            half = await there.until(lambda message: message.streamed, what="a stream")
        assert half.streaming
        async with served(tmp_path, SlowModel(), fake=fake) as there:
            answer = await there.until_said("[1]")
            await there.settled()
            assert answer.ts == half.ts
            assert len(fake.world.thread(CLUB, str(answer.thread))) == 1
            assert not any(fake.world.status.values())


async def test_a_message_whose_receipt_was_lost_in_a_crash_is_found_again(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.fault("chat.startStream", status=0, after=True, times=3)
        async with served(tmp_path, SlowModel(hold_after=30), book=lantern_house(), fake=fake) as there:
            there.people.mention(CLUB, ANA, QUESTION)
            half = await there.until(lambda message: message.streamed, what="a stream")
            await asyncio.sleep(0.2)
        for fault in fake.faults:
            fault.times = 0
        async with served(tmp_path, SlowModel(), fake=fake) as there:
            answer = await there.until_said("[1]")
            await there.settled()
            assert answer.ts == max(message.ts for message in fake.world.thread(CLUB, half.root))


async def test_two_who_ask_at_once_both_see_that_they_were_heard(tmp_path: Path) -> None:
    model = SlowModel(hold_after=5)
    async with served(tmp_path, model, book=lantern_house()) as there:
        first = there.people.mention(CLUB, ANA, QUESTION)
        while not model.asked:
            await there.fake.news(0.05)
        second = there.people.mention(CLUB, BEN, "What did Mara keep, and in which ink?")
        async with asyncio.timeout(10):
            while not there.fake.world.status.get((CLUB, second.ts)):
                await there.fake.news(0.1)
        assert there.fake.world.status[CLUB, first.ts]
        model.gate.set()
        model.hold_after = None
        for done in (first, second):
            await there.until(
                lambda message, root=done.ts: message.root == root and "[1]" in shown(message), what="both"
            )
        assert not any(there.fake.world.status.values())


async def test_long_answers_stream_their_beginning_and_end_in_several_messages(tmp_path: Path) -> None:
    text = " ".join(f"Night {number} was dark and the log was kept." for number in range(200))
    async with served(tmp_path, SlowModel(f"{text} [f1-0-42]", pause=0.001), book=lantern_house()) as there:
        there.people.mention(CLUB, ANA, QUESTION)
        last = await there.until_said("[1]")
        await there.settled()
        parts = there.fake.world.thread(CLUB, str(last.thread))
        said = " ".join(" ".join(shown(part) for part in parts).split())
        assert said.startswith(text)
        assert parts[0].ts == there.fake.calls("chat.startStream")[0].reply["ts"]
