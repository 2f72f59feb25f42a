"""Slash commands: registered with localised descriptions, answered within the deadline, with books and chapters offered."""

from collections.abc import Awaitable, Sequence
from dataclasses import asdict, replace
from typing import Any

import discord
from discord import app_commands

from adapters.discord import polls, view
from adapters.discord.books import File
from adapters.discord.buttons import Interaction
from adapters.discord.connection import SPELLED, Connection
from adapters.discord.responses import in_time, respond
from adapters.discord.spots import PLATFORM, Who, spot_of, who_used
from adapters.discord.work import Work
from core.desk import COMMANDS
from core.errors import LoccitError, ReaderError
from core.model import Event, Question, Reply
from core.strings import say

_QUIET = frozenset(
    ("toc", "books", "export", "help", "about", "settings", "privacy", "forget", "place", "model", "discuss", "setup")
)
"""Commands whose reply only the one who typed them needs to see."""
_OWN = frozenset(("ask", "toc", "quote", "progress", "place", "export", "help", "about", *SPELLED))
"""Commands with a shape of their own here; any other one of the desk takes free words."""
_OFFERED = 25
_LOCALES = {
    discord.Locale.spain_spanish: "es",
    discord.Locale.latin_american_spanish: "es",
    discord.Locale.brazil_portuguese: "pt",
}


def _told(key: str) -> app_commands.locale_str:
    """A sentence of core.strings where the library wants a description."""
    return app_commands.locale_str(say(key, "en"), key=key)


class Translator(app_commands.Translator):
    async def translate(
        self, string: app_commands.locale_str, locale: discord.Locale, context: app_commands.TranslationContextTypes
    ) -> str | None:
        key = string.extras.get("key")
        if key is None or locale not in _LOCALES:
            return None
        return say(str(key), _LOCALES[locale])


class Slash:
    """The commands of one bot."""

    def __init__(self, connection: Connection, work: Work) -> None:
        self._connection = connection
        self._work = work

    def register(self, tree: "app_commands.CommandTree[Any]") -> None:
        """Put every command on the tree."""
        commands: list[Any] = [self._ask(), *self._plain(), *self._reaching(), self._toc(), self._quote(), self._book()]
        commands += [
            self._with_words(name, name, "words", "discord_option_text", None) for name in COMMANDS if name not in _OWN
        ]
        for command in commands:
            tree.add_command(command)
        tree.add_command(self._menu())

        @tree.error
        async def failed(interaction: Interaction, error: app_commands.AppCommandError) -> None:
            await self._failed(interaction, getattr(error, "original", error))

    # The commands

    def _ask(self) -> "app_commands.Command[Any, ..., Any]":
        async def ask(
            interaction: Interaction,
            question: app_commands.Range[str, 1, 2000],
            book: str | None = None,
            scope: str | None = None,
        ) -> None:
            await self._question(interaction, question, book, scope)

        command: Any = app_commands.Command(name="ask", description=_told("command_ask"), callback=ask)
        app_commands.describe(
            question=_told("discord_option_question"),
            book=_told("discord_option_book"),
            scope=_told("discord_option_scope"),
        )(command)
        app_commands.choices(
            scope=[
                app_commands.Choice(name=_told("discord_scope_all"), value="all"),
                app_commands.Choice(name=_told("discord_scope_without"), value="without"),
            ]
        )(command)
        command.autocomplete("book")(self._offer_books)
        made: app_commands.Command[Any, ..., Any] = command
        return made

    def _plain(self) -> list["app_commands.Command[Any, ..., Any]"]:
        return [self._simple(name, name) for name in ("export", "help", "about")]

    def _simple(self, name: str, does: str) -> "app_commands.Command[Any, ..., Any]":
        async def simple(interaction: Interaction) -> None:
            await self._command(interaction, does, "")

        return app_commands.Command(name=name, description=_told(f"command_{does}"), callback=simple)

    def _reaching(self) -> list["app_commands.Command[Any, ..., Any]"]:
        return [
            self._with_words(name, name, "how_far", "discord_option_how_far", self._offer_places)
            for name in ("progress", "place")
        ]

    def _toc(self) -> "app_commands.Command[Any, ..., Any]":
        return self._with_words("toc", "toc", "book", "discord_option_book", self._offer_books)

    def _quote(self) -> "app_commands.Command[Any, ..., Any]":
        return self._with_words("quote", "quote", "words", "discord_option_words", None, required=True)

    def _with_words(
        self, name: str, does: str, option: str, told: str, offer: Any, *, required: bool = False
    ) -> "app_commands.Command[Any, ..., Any]":
        """A command with one option of text."""

        async def optional(interaction: Interaction, words: app_commands.Range[str, 1, 1000] | None = None) -> None:
            await self._command(interaction, does, words or "")

        async def needed(interaction: Interaction, words: app_commands.Range[str, 1, 1000]) -> None:
            await self._command(interaction, does, words)

        callback: Any = needed if required else optional
        app_commands.rename(words=option)(callback)
        command: Any = app_commands.Command(name=name, description=_told(f"command_{does}"), callback=callback)
        app_commands.describe(words=_told(told))(command)
        if offer is not None:
            command.autocomplete("words")(offer)
        made: app_commands.Command[Any, ..., Any] = command
        return made

    def _book(self) -> app_commands.Group:
        group = app_commands.Group(name="book", description=_told("discord_command_book"))

        async def add(
            interaction: Interaction,
            file: discord.Attachment,
            password: app_commands.Range[str, 1, 200] | None = None,
        ) -> None:
            await self._add(interaction, [File.of(file)], password)

        command: Any = app_commands.Command(name="add", description=_told("discord_command_add"), callback=add)
        app_commands.describe(file=_told("discord_option_file"), password=_told("discord_option_password"))(command)
        group.add_command(command)
        for name in ("use", "remove"):
            group.add_command(self._with_words(name, name, "book", "discord_option_book", self._offer_books))
        for name, does in (("list", "books"), ("undo", "undo"), ("settings", "settings"), ("privacy", "privacy")):
            group.add_command(self._simple(name, does))
        group.add_command(self._with_words("forget", "forget", "what", "discord_option_forget", self._offer_forgetting))
        group.add_command(self._with_words("model", "model", "name", "discord_option_model", self._offer_models))
        return group

    def _menu(self) -> app_commands.ContextMenu:
        async def read(interaction: Interaction, message: discord.Message) -> None:
            await self._add(
                interaction, [File.of(file, message.channel.id, message.id) for file in message.attachments], None
            )

        return app_commands.ContextMenu(name=_told("discord_menu_read"), callback=read)

    # What they do

    async def _command(self, interaction: Interaction, name: str, words: str) -> None:
        who = self._connection.met(who_used(interaction))
        key = f"{PLATFORM}:{interaction.channel_id}:i{interaction.id}"
        quiet = name in _QUIET
        payload = {"do": "command", "name": name, "spot": asdict(spot_of(interaction, private=quiet)), **who.written()}
        event = Event(key, PLATFORM, self._work.lane(who.conversation), payload)
        post = self._connection.club.post

        async def work() -> Reply | Question | None:
            if not await post.receive(event):
                return None  # told twice: whoever was first answers
            reader, desk = await self._connection.reader(who), self._connection.desk
            return await desk.command(who.conversation, reader, name, words, event=key, private=who.direct)

        try:
            reply = await in_time(interaction, work(), private=quiet)
            if isinstance(reply, Reply):
                await respond(self._connection, interaction, view.messages(reply), private=quiet or reply.private)
                await polls.over(self._connection, reply.over)
            elif reply is not None:
                await self._work.put(interaction, replace(reply, event=f"{key}:q"), who)
        finally:
            await post.finish(key)
        self._work.nudge()
        await self._connection.keep_locale(who)

    async def _question(self, interaction: Interaction, text: str, book: str | None, scope: str | None) -> None:
        who = self._connection.met(who_used(interaction))
        key = f"{PLATFORM}:{interaction.channel_id}:i{interaction.id}"
        desk = self._connection.desk
        question = desk.question(
            who.conversation, who.reader, text, event=key, private=who.direct, by_command=scope is None
        )
        question = replace(
            question,
            book=book,
            every_book=question.every_book or scope == "all",
            without_book=question.without_book or scope == "without",
        )
        await self._work.put(interaction, question, who)
        await self._connection.keep_locale(who)

    async def _add(self, interaction: Interaction, files: Sequence[File], password: str | None) -> None:
        who = self._connection.met(who_used(interaction))
        if not files:
            raise ReaderError("discord_no_file")
        for number, file in enumerate(files):
            key = f"{PLATFORM}:{interaction.channel_id}:i{interaction.id}" + (f":{file.id}" if number else "")
            fields = asdict(replace(file, password=password))
            payload = {"do": "add", "file": fields, "spot": asdict(spot_of(interaction)), **who.written()}
            event = Event(key, PLATFORM, self._work.lane(who.conversation), payload)
            if number == 0:
                await self._work.begin(interaction, event, private=False)
            else:
                await self._work.take(event)
        await self._connection.keep_locale(who)

    async def _failed(self, interaction: Interaction, error: Exception) -> None:
        """The outer edge of a command: one sentence for the one who typed it."""
        if isinstance(error, discord.HTTPException) and error.code in (10062, 40060):
            return  # too late, or another process was faster
        who = who_used(interaction)
        reader = await self._connection.reader(who)
        said = view.Shown(view.sentence(self._connection.sentence(error, reader.locale)))
        try:
            await respond(self._connection, interaction, [said], private=True)
        except discord.HTTPException:
            return  # the token has ended: nobody can be told any more

    # What is offered while somebody types

    async def _offer_books(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return await _quietly(self._books(who_used(interaction), typed))

    async def _books(self, who: Who, typed: str) -> list[app_commands.Choice[str]]:
        shelf = await self._connection.club.shelf(who.conversation)
        titles = [(card.title[: view.NAME], card.sha256) for card in shelf]
        return _choices(titles, typed)

    async def _offer_places(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return await _quietly(self._places(who_used(interaction), typed))

    async def _places(self, who: Who, typed: str) -> list[app_commands.Choice[str]]:
        """Not begun, each chapter, the whole book; titles only as far as the club's limit lets them be seen."""
        locale = (await self._connection.reader(who)).locale
        card, contents = await self._connection.club.contents(who.conversation)
        titles = {chapter.number: chapter.title for chapter in contents.chapters}
        offered = [(say("desk_not_begun", locale), "start")]
        for number in range(1, card.chapters + 1):
            label = say("desk_finished", locale, number=number)
            title = titles.get(number, "")
            offered.append((f"{label} · {title}"[: view.NAME] if title else label, f"finished {number}"))
        offered.append((say("desk_whole_book", locale), "all"))
        return _choices(offered, typed)

    async def _offer_forgetting(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return await _quietly(self._forgetting(who_used(interaction), typed))

    async def _forgetting(self, who: Who, typed: str) -> list[app_commands.Choice[str]]:
        locale = (await self._connection.reader(who)).locale
        shelf = await self._connection.club.shelf(who.conversation)
        me, chat, book = (say(f"desk_word_{what}", locale) for what in ("me", "channel", "book"))
        offered = [(me, me), (chat, chat), *((f"{book} {card.title}"[: view.NAME],) * 2 for card in shelf)]
        return _choices(offered, typed)

    async def _offer_models(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return await _quietly(self._models(who_used(interaction), typed))

    async def _models(self, who: Who, typed: str) -> list[app_commands.Choice[str]]:
        _, offered = await self._connection.club.questions.model(who.conversation)
        return _choices([(name[: view.NAME], name[: view.NAME]) for name in offered], typed)


async def _quietly(offering: "Awaitable[list[app_commands.Choice[str]]]") -> list[app_commands.Choice[str]]:
    """What can be offered; nothing when there is no book yet. The command itself says what is wrong."""
    try:
        return await offering
    except LoccitError:
        return []


def _choices(offered: Sequence[tuple[str, str]], typed: str) -> list[app_commands.Choice[str]]:
    wanted = typed.strip().casefold()
    found = [
        app_commands.Choice(name=name or "–", value=value)
        for name, value in offered
        if wanted in name.casefold() or wanted in value.casefold()
    ]
    return found[:_OFFERED]
