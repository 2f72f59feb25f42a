"""The pretended Discord itself: an unmodified discord.py works with it, and it is as strict as the vendor."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import discord
import pytest
import yarl
from discord import app_commands

from adapters.discord.line import Line
from tests.fakes.discord import FakeDiscord, Member, buttons, labels
from tests.fakes.discord import discord as pretended

SEND = ("POST", "/channels/{channel}/messages")


class Note(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"n:(?P<id>[0-9]+)"):
    def __init__(self, id: str) -> None:
        super().__init__(discord.ui.Button(label=f"{id} · Ch. 1", custom_id=f"n:{id}"))
        self.number = id

    @classmethod
    async def from_custom_id(cls, _: Any, item: Any, match: re.Match[str]) -> "Note":
        return cls(match["id"])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_message(f"passage {self.number}", ephemeral=True)


class Echo(discord.Client):
    """The smallest bot that uses everything."""

    def __init__(self, *, content: bool = False) -> None:
        intents = discord.Intents(
            guilds=True, guild_messages=True, dm_messages=True, guild_polls=True, message_content=content
        )
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none(), guild_ready_timeout=0)
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(self)
        self.heard: list[discord.Message] = []

        @self.tree.command(description="Ask.")
        async def ask(
            interaction: discord.Interaction[Any], question: str, file: discord.Attachment | None = None
        ) -> None:
            await interaction.response.defer(thinking=True)
            size = len(await file.read()) if file else 0
            await interaction.edit_original_response(content=f"{question} {size}")

        @ask.autocomplete("question")
        async def offer(_: discord.Interaction[Any], typed: str) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=f"{typed}!", value=typed)]

        @self.tree.context_menu(name="Read this")
        async def menu(interaction: discord.Interaction[Any], message: discord.Message) -> None:
            data = await message.attachments[0].read()
            await interaction.response.send_message(str(len(data)), ephemeral=True)

    async def setup_hook(self) -> None:
        self.add_dynamic_items(Note)
        await self.tree.sync()

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot:
            return
        self.heard.append(message)
        if self.user in message.mentions:
            view = discord.ui.View(timeout=None)
            view.add_item(Note("3"))
            await message.reply(f"echo {message.content}", view=view)


@asynccontextmanager
async def running(fake: FakeDiscord, **options: bool) -> AsyncIterator[Echo]:
    before = discord.http.Route.BASE, discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY
    discord.http.Route.BASE = fake.api
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(fake.gateway_url)
    bot = Echo(**options)
    task = asyncio.create_task(bot.start(fake.token))
    try:
        connected = asyncio.create_task(fake.connected())
        await asyncio.wait([connected, task], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        await connected
        yield bot
    finally:
        await bot.close()
        await asyncio.gather(task, return_exceptions=True)
        discord.http.Route.BASE, discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = before


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with pretended(window=0.3) as fake:
        yield fake


@pytest.fixture
def mara(fake: FakeDiscord) -> Member:
    server = fake.server()
    fake.channel(server)
    return fake.member("Mara", server)


def _channel(fake: FakeDiscord) -> Any:
    return next(channel for channel in fake.world.channels.values() if channel.server)


async def test_a_mention_is_answered_and_its_button_pressed_by_a_plain_client(fake: FakeDiscord, mara: Member) -> None:
    channel = _channel(fake)
    async with running(fake):
        await mara.mention(channel, "hello")
        answer: Any = await fake.until(lambda: mara.answers(channel))
        assert answer[0]["content"].endswith("hello")
        assert answer[0]["mentions"] == []
        assert labels(answer[0]) == ["3 · Ch. 1"]
        pressed = await mara.press(channel, answer[0], "3")
        shown = await mara.settled(pressed)
        assert [message["content"] for message in shown] == ["passage 3"]
        stranger = fake.member("Ivo", channel.server)
        assert len(stranger.answers(channel)) == 1


async def test_slash_commands_files_menus_and_what_is_offered_while_typing_work(
    fake: FakeDiscord, mara: Member
) -> None:
    channel = _channel(fake)
    async with running(fake):
        assert await mara.autocomplete(channel, "ask", "question", "wh") == ["wh!"]
        asked = await mara.slash(channel, "ask", {"question": "why"}, file=("a.epub", b"x" * 70_000))
        assert [message["content"] for message in await mara.settled(asked)] == ["why 70000"]
        posted = await mara.say(channel, "look", files=[("b.epub", b"y" * 5)])
        chosen = await mara.menu(channel, posted, "Read this")
        assert [message["content"] for message in await mara.settled(chosen)] == ["5"]


async def test_without_the_intent_only_what_is_addressed_to_the_bot_is_readable(
    fake: FakeDiscord, mara: Member
) -> None:
    channel = _channel(fake)
    async with running(fake) as bot:
        await mara.say(channel, "not for the bot", files=[("a.txt", b"x")])
        await mara.mention(channel, "for the bot")
        await mara.write("in private")
        await fake.until(lambda: len(bot.heard) == 3)
        assert [message.content.split("> ")[-1] for message in bot.heard] == ["", "for the bot", "in private"]
        assert not bot.heard[0].attachments


async def test_the_intent_is_refused_until_the_portal_grants_it(fake: FakeDiscord, mara: Member) -> None:
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with running(fake, content=True):
            pass
    fake.grant_message_content()
    async with running(fake, content=True) as bot:
        await mara.say(_channel(fake), "for everybody")
        await fake.until(lambda: bot.heard)
        assert bot.heard[0].content == "for everybody"


async def test_what_happened_while_the_socket_was_down_is_told_on_resume_and_lost_after_an_invalid_session(
    fake: FakeDiscord, mara: Member
) -> None:
    channel = _channel(fake)
    async with running(fake) as bot:
        await fake.gateway.drop()
        await mara.mention(channel, "while away")
        await fake.until(lambda: [m for m in bot.heard if "while away" in m.content])
        await fake.until(lambda: [e for e in fake.journal.entries if e.route == "resume"])
        await fake.gateway.ask_to_reconnect()
        await fake.until(lambda: len([e for e in fake.journal.entries if e.route == "resume"]) == 2)
        await fake.gateway.invalidate()
        await mara.mention(channel, "never told")
        await fake.until(lambda: len([e for e in fake.journal.entries if e.route == "identify"]) == 2, 12)
        await mara.mention(channel, "afterwards")
        await fake.until(lambda: [m for m in bot.heard if "afterwards" in m.content])
        assert not [m for m in bot.heard if "never told" in m.content]
        await fake.gateway.repeat_last("MESSAGE_CREATE")


async def test_the_vendors_limits_are_enforced(fake: FakeDiscord, mara: Member) -> None:
    channel = _channel(fake)
    async with running(fake) as bot:
        there = bot.get_channel(channel.id)
        assert isinstance(there, discord.TextChannel)
        view = discord.ui.View()
        for _ in range(2):
            view.add_item(discord.ui.Button(label="x", custom_id="same"))
        for how, code in (
            ({"content": "x" * 2001}, 50035),
            ({"content": "😀" * 1001}, 50035),
            ({"content": "  \n "}, 50006),
            ({"content": "x", "view": view}, 50035),
            ({"embed": discord.Embed(description="x" * 4097)}, 50035),
        ):
            with pytest.raises(discord.HTTPException) as caught:
                await there.send(**how)
            assert caught.value.code == code, how
        channel.denied_bot = 1 << 15
        with pytest.raises(discord.Forbidden):
            await there.send("x", file=discord.File(__file__))


async def test_a_flood_is_slowed_by_headers_and_a_forced_429_is_waited_out(fake: FakeDiscord, mara: Member) -> None:
    channel = _channel(fake)
    async with running(fake) as bot:
        there = bot.get_channel(channel.id)
        assert isinstance(there, discord.TextChannel)
        fake.buckets.forced.append((0.1, False))
        await asyncio.gather(*(there.send(str(number)) for number in range(12)))
        assert len(mara.answers(channel)) == 12
        assert [entry.status for entry in fake.journal.requests(*SEND)].count(429) >= 1


async def test_a_late_answer_a_second_answer_and_an_ended_token_are_refused(fake: FakeDiscord, mara: Member) -> None:
    channel = _channel(fake)
    async with running(fake) as bot:
        caught: list[int] = []
        held: list[discord.Interaction[Any]] = []

        @bot.tree.error
        async def on_error(_: discord.Interaction[Any], error: app_commands.AppCommandError) -> None:
            original = getattr(error, "original", None)
            if isinstance(original, discord.HTTPException):
                caught.append(original.code)

        async def before(interaction: discord.Interaction[Any]) -> bool:
            held.append(interaction)
            return True

        bot.tree.interaction_check = before  # type: ignore[method-assign]  # a hook the library offers
        invocation = await mara.slash(channel, "ask", {"question": "why"})
        await mara.settled(invocation)
        with pytest.raises(discord.HTTPException) as second:
            await discord.InteractionResponse(held[0]).defer()
        assert second.value.code == 40060
        fake.interactions.end_tokens()
        with pytest.raises(discord.HTTPException) as ended:
            await held[0].edit_original_response(content="later")
        assert ended.value.code == 50027


async def test_links_to_files_end_and_a_fresh_message_brings_a_fresh_link(fake: FakeDiscord, mara: Member) -> None:
    channel = _channel(fake)
    async with running(fake) as bot:
        await mara.mention(channel, "book", files=[("a.epub", b"abc")])
        await fake.until(lambda: bot.heard)
        fake.files.ahead = 48 * 3600
        with pytest.raises(discord.NotFound):
            await bot.heard[0].attachments[0].read()
        again = await bot.heard[0].channel.fetch_message(bot.heard[0].id)
        assert await again.attachments[0].read() == b"abc"


async def test_polls_are_made_voted_in_told_by_their_intents_and_ended_as_the_vendor_does(
    fake: FakeDiscord, mara: Member
) -> None:
    channel = _channel(fake)
    people = [mara, *(fake.member(f"Voter {number}", channel.server) for number in range(104))]
    async with running(fake) as bot:
        there = bot.get_channel(channel.id)
        assert isinstance(there, discord.TextChannel)
        for wrong in (discord.Poll("W" * 301, timedelta(hours=1)), discord.Poll("Which?", timedelta(hours=769))):
            with pytest.raises(discord.HTTPException) as caught:
                await there.send(poll=wrong.add_answer(text="Emma"))
            assert caught.value.code == 50035
        poll = discord.Poll("Which?", timedelta(hours=1)).add_answer(text="Emma").add_answer(text="Hamlet")
        sent = await there.send(poll=poll)
        with pytest.raises(discord.HTTPException) as caught:
            await sent.edit(content="x")
        assert caught.value.code == 520003
        told: list[tuple[str, int]] = []

        async def heard(event: discord.RawPollVoteActionEvent) -> None:
            told.append(("add", event.answer_id))

        async def lost(event: discord.RawPollVoteActionEvent) -> None:
            told.append(("remove", event.answer_id))

        bot.on_raw_poll_vote_add, bot.on_raw_poll_vote_remove = heard, lost  # type: ignore[attr-defined]
        message = channel.messages[sent.id]
        for member in people:
            await member.vote(channel, message, "Emma")
        await mara.vote(channel, message, "Hamlet")
        emma, hamlet = (answer.id for answer in sent.poll.answers) if sent.poll else (0, 0)
        await fake.until(lambda: len(told) == 107)
        assert told[-2:] == [("remove", emma), ("add", hamlet)]
        voters = await Line(bot, lambda: datetime.now(UTC)).voters(channel.id, sent.id)
        assert voters == {str(member.id): str(hamlet if member is mara else emma) for member in people}
        ended = await sent.end_poll()
        assert ended.poll is not None
        assert ended.poll.is_finalised()
        with pytest.raises(discord.HTTPException) as caught:
            await sent.end_poll()
        assert caught.value.code == 520001
        with pytest.raises(AssertionError, match="over"):
            await mara.vote(channel, message, "Emma")


async def test_calling_what_does_not_exist_fails_the_test() -> None:
    fake = FakeDiscord()
    await fake.start()
    mara = fake.member("Mara", fake.server())
    fake.channel(next(iter(fake.world.servers.values())))
    async with running(fake) as bot:
        with pytest.raises(discord.NotFound):
            await bot.fetch_invite("nowhere")
    with pytest.raises(AssertionError, match="unknown route"):
        await fake.stop()
    assert buttons({"components": []}) == []
    assert mara.id


async def test_servers_of_one_moment_are_servers_of_their_own() -> None:
    async with pretended() as fake:
        servers = [fake.server(f"Server {number}") for number in range(50)]
        assert len({server.id for server in servers}) == 50
