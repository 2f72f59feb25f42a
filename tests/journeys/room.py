"""A room: what a reader can do and see on any platform. Journeys are written against it and run on every adapter."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol

from tests import programs

Capability = Literal[
    "closes from outside", "second member", "several channels", "buttons only", "buttons", "sees files"
]

PATIENCE = 60.0
"""Seconds until a room that says nothing counts as broken."""


class Room(Protocol):
    """One channel with the bot in it. What a verb shows is its result; `seen` is everything so far."""

    capabilities: frozenset[Capability]
    """"closes from outside": the press that opened a passage closes it as well. "buttons only": a footnote that no
    answer has cannot be typed. "buttons": what else can be done stands on buttons too (`choose`, `buttons`). "sees files": the bot may see what people
    send without addressing it (`drop`)."""

    async def upload(self, file: Path) -> str:
        """Drop a file into the channel."""
        ...

    async def ask(self, words: str) -> str:
        """Ask in plain words, the way the platform addresses the bot."""
        ...

    async def command(self, name: str, words: str = "") -> str:
        """A command such as `books` or `remove`, spelled the platform's way."""
        ...

    async def press(self, label: str) -> str:
        """Press the button, or type the number, of a footnote of the latest answer; also `<` and `>` in a passage."""
        ...

    async def restart(self, *, kill: bool = False) -> str:
        """Stop the bot, by force with `kill`, and start it again on the same data; what it says unasked."""
        ...

    async def second_member(self) -> "Room":
        """The same channel seen by somebody else, where the room has that capability."""
        ...

    def seen(self) -> list[str]:
        """Everything shown in this room, oldest first."""
        ...

    async def close(self) -> None:
        """Leave, and stop the bot."""
        ...


class ConsoleRoom:
    """`loccit chat` over pipes: the whole program in a process of its own."""

    capabilities: frozenset[Capability] = frozenset({"closes from outside"})

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._settings = settings or {}
        self._process: programs.Program | None = None
        self._shown: list[str] = []
        self._lines = 0

    async def upload(self, file: Path) -> str:
        return await self._say(f"/add {file}")

    async def ask(self, words: str) -> str:
        return await self._say(words)

    async def command(self, name: str, words: str = "") -> str:
        return await self._say(f"/{name} {words}".strip())

    async def press(self, label: str) -> str:
        return await self._say(label)

    async def choose(self, label: str) -> str:
        """Press the newest button with this label: here its words are typed."""
        return await self._say(label)

    async def restart(self, *, kill: bool = False) -> str:
        process = await self._running()
        if kill:
            process.kill()
        elif process.stdin is not None:
            process.stdin.close()
        await asyncio.wait_for(process.wait(), PATIENCE)
        self._process = None
        await self._running()
        return self._shown[-1]

    async def second_member(self) -> Room:
        raise NotImplementedError("one person sits at a terminal")

    def seen(self) -> list[str]:
        return list(self._shown)

    async def said(self, words: str) -> str:
        """Wait for a text that comes unasked: a terminal shows it with the next line typed."""
        async with asyncio.timeout(PATIENCE):
            while words not in (text := await self._say("/progress")):  # noqa: ASYNC110  # another process says it
                await asyncio.sleep(1)
        return text

    async def close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            code = await asyncio.wait_for(self._process.wait(), PATIENCE)
            assert code == 0, f"the end of input ended the chat with {code}"

    async def _running(self) -> programs.Program:
        if self._process is None:
            self._process = await programs.start(
                *(programs.LOCCIT, "chat", "--data", self._folder / "data"),
                folder=self._folder,
                environment=os.environ | {"LC_ALL": "C.UTF-8", **self._settings},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            await self._hear_out(self._process)
        return self._process

    async def _say(self, line: str) -> str:
        process = await self._running()
        assert process.stdin is not None
        process.stdin.write(f"{line}\n".encode())
        await self._hear_out(process)
        return self._shown[-1]

    async def _hear_out(self, process: programs.Program) -> None:
        """Read until all is said. A pipe has no prompt, so an unknown command marks the end: its refusal names it."""
        self._lines += 1
        mark = f"/end-{self._lines}"
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{mark}\n".encode())
        text = b""
        while mark.encode() not in text:
            piece = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
            assert piece, f"the chat ended after saying: {text.decode()}"
            text += piece
        await process.stdout.readline()  # the blank line after the refusal
        self._shown.append("".join(text.decode().splitlines(keepends=True)[:-1]).strip())
