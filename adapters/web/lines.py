"""What happens in the club as lines for the browser: HTML to put on the page, plain words to be read out."""

from collections import OrderedDict
from collections.abc import Callable

from adapters.web import markup
from adapters.web.pages import Pages
from adapters.web.streams import Line
from core.club import Club
from core.desk import Desk, lead
from core.document import plain
from core.model import (
    Accepted,
    Answered,
    AskEvent,
    Attachment,
    Conversation,
    Drafting,
    Form,
    LibraryEvent,
    Reader,
    Reading,
    Ready,
    Refused,
    Reply,
    Searching,
    Turn,
    Unanswered,
    Waiting,
)
from core.strings import say, tell

HERE = Conversation("console", "local", "web")
"""The page shares the shelf of this machine's data folder with the terminal; its answers are a thread of their own."""
_PICTURES = ((b"\x89PNG\r\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))
"""Kinds of pictures that are shown, by how they begin; a book's cover may be anything."""
_FILES = 12
"""Attachments kept in memory for download; the oldest goes first."""


class Lines:
    """Makes them; keeps the files that replies carry until they are fetched."""

    def __init__(self, club: Club, desk: Desk, pages: Pages, new_id: Callable[[], str]) -> None:
        self._club = club
        self._desk = desk
        self._pages = pages
        self._new_id = new_id
        self._files: OrderedDict[str, Attachment] = OrderedDict()

    def file(self, id: str) -> Attachment | None:
        """A file that a reply carried."""
        return self._files.get(id)

    async def line(self, event: LibraryEvent | AskEvent, reader: Reader) -> Line | None:
        locale = reader.locale
        match event:
            case Accepted(filename):
                return {"do": "working", "text": say("web_accepted", locale, file=filename)}
            case Reading(stage):
                return {"do": "working", "text": say(f"web_reading_{stage}", locale)}
            case Ready(card):
                reply = await self._desk.ready(HERE, reader, event, private=True)
                line = self.reply(reply, reader)
                text = say("web_known" if event.known else "web_ready", locale, title=card.title, count=card.chapters)
                return {**line, "book": card.title, "text": text}
            case Waiting(filename):
                return {"do": "working", "text": say("still_reading", locale, file=filename)}
            case Searching():
                return {"do": "working", "text": say("looking", locale)}
            case Drafting(document):
                return {"do": "draft", "html": markup.answer(document, (), locale)}
            case Answered(turn):
                return await self._answered(turn, reader)
            case Refused(filename, notice):
                return {"do": "failed", "text": f"{filename}: {tell(notice, locale)}"}
            case Unanswered(question, notice):
                return {"do": "failed", "text": f"{question}: {tell(notice, locale)}"}
        return None

    async def _answered(self, turn: Turn, reader: Reader) -> Line:
        line = {
            "do": "answer",
            "turn": turn.id,
            "html": await self.article(turn, reader),
            "text": plain(turn.answer.document),
        }
        await self._club.questions.shown(turn.id)
        return line

    async def article(self, turn: Turn, reader: Reader) -> str:
        notes = await self._desk.note_choices(HERE, reader, turn)
        ways = await self._desk.ways_on(HERE, reader, turn, private=True)
        return self._pages.render(
            "answer.html",
            reader.locale,
            turn=turn.id,
            question=turn.question,
            answer=markup.answer(turn.answer.document, notes, reader.locale),
            notices=[tell(notice, reader.locale) for notice in turn.answer.notices],
            notes=markup.rows([notes]),
            ways=markup.rows(ways),
        )

    def reply(self, reply: Reply, reader: Reader) -> Line:
        files = [(self._keep(file), file.name) for file in reply.attachments]
        media = next((media for start, media in _PICTURES if (reply.picture or b"").startswith(start)), None)
        picture = self._keep(Attachment("picture", reply.picture, media)) if reply.picture and media else None
        html = self._pages.render(
            "reply.html",
            reader.locale,
            passage=reply.passage,
            words=markup.reply(lead(reply, reader.locale)) + (markup.passage(reply.passage) if reply.passage else ""),
            choices=markup.rows(reply.choices),
            files=files,
            picture=picture,
        )
        said = plain(lead(reply, reader.locale))
        if reply.passage is not None:  # read out: where it stands, and what was cited; the surroundings are on the page
            found = reply.passage
            where = " · ".join(filter(None, (found.title, found.heading, found.label)))
            said = " ".join(filter(None, (said, f"{where}: {found.quote}")))
        return {"do": "reply", "html": html, "text": said, "deleted": reply.deleted}

    def form(self, form: Form, id: str, reader: Reader) -> Line:
        """A text to be filled in, under the reply whose button `id` brought it."""
        return {"do": "form", "html": self._pages.render("form.html", reader.locale, form=form, id=id)}

    def _keep(self, file: Attachment) -> str:
        id = self._new_id()
        self._files[id] = file
        while len(self._files) > _FILES:
            self._files.popitem(last=False)
        return id
