"""What Slack is told unasked: a hello that outlives a crash, letters that wait for what mends and for nothing else."""

from pathlib import Path

import pytest

from core.model import Letter
from tests.adapters.slack_workspace import ANA, CLUB, HERE, Workspace, served
from tests.fakes.slack import BOT, FakeSlack, shown


def hellos(fake: FakeSlack) -> int:
    return sum("Hello" in shown(message) for message in fake.world.of_bot())


def invite(there: Workspace, channel: str = CLUB) -> None:
    joined = {"type": "member_joined_channel", "user": BOT, "channel": channel, "inviter": ANA}
    there.people.event({**joined, "event_ts": there.fake.world.next_ts()})


async def owe(there: Workspace, id: str, **params: str) -> None:
    await there.club.club.post.owe(Letter(id, HERE, "hello", there.club.clock(), params))


async def wake(there: Workspace) -> None:
    """Something happens, after which letters are looked for."""
    there.people.slash(CLUB, ANA, "about")
    await there.until(lambda message: message.for_user == ANA, what="an answer")


async def due(there: Workspace) -> list[str]:
    return [letter.id for letter in await there.club.club.post.due("slack")]


async def test_a_hello_that_could_not_be_said_before_the_end_is_said_once_afterwards(tmp_path: Path) -> None:
    async with FakeSlack() as fake:
        fake.fault("chat.postMessage", status=0, times=1000)
        async with served(tmp_path, fake=fake) as there:
            invite(there)
            while not fake.calls("chat.postMessage"):
                await fake.news(0.1)
        fake.faults.clear()
        async with served(tmp_path, fake=fake) as there:
            await there.until_said("Hello")
            invite(there)
            await there.settled()
        async with served(tmp_path, fake=fake) as there:
            await wake(there)
            await there.settled()
        assert hellos(fake) == 1


async def test_a_letter_that_we_fail_on_waits_and_holds_up_no_other(tmp_path: Path) -> None:
    async with FakeSlack() as fake, served(tmp_path, fake=fake) as there:
        await owe(there, "1", more="a sentence that is missing")
        await owe(there, "2")
        await wake(there)
        await there.until_said("Hello")
        await there.settled()
        assert await due(there) == ["1"]
        assert hellos(fake) == 1


@pytest.mark.parametrize(("error", "stays"), [("token_revoked", True), ("channel_not_found", False)])
async def test_a_letter_outlives_a_refusal_that_somebody_mends_and_no_other(
    tmp_path: Path, error: str, stays: bool
) -> None:
    async with FakeSlack() as fake, served(tmp_path, fake=fake) as there:
        fake.fault("chat.postMessage", error)
        await owe(there, "1")
        await wake(there)
        while not fake.calls("chat.postMessage"):
            await fake.news(0.1)
        await there.settled()
        assert (await due(there) == ["1"]) == stays
        await wake(there)
        await there.settled()
        assert hellos(fake) == int(stays)
