"""How a letter of the outbox is shown in a channel."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from adapters.host import Host
from adapters.outbox import Outbox
from adapters.slack import view
from adapters.slack.incoming import Where
from adapters.slack.sending import Sender, bringing
from adapters.slack.tokens import PLATFORM
from core.desk import Desk
from core.model import Letter, Reader, Reply
from core.post import Post


class Letters:
    """The outbox of one app on Slack."""

    def __init__(
        self, post: Post, desk: Desk, sender: Sender, host: Host, taking_part: Callable[[Where], Awaitable[None]]
    ) -> None:
        self._desk = desk
        self._sender = sender
        self._host = host
        self._taking_part = taking_part
        self.outbox = Outbox(post, desk, PLATFORM, self._show)

    async def _show(self, letter: Letter, reply: Reply) -> None:
        conversation = letter.conversation
        place = Where(conversation.channel, conversation.thread, "", conversation.server or "")
        reader = await self._desk.reader(conversation, Reader("", self._host.locale))
        messages = view.messages(reply.document, reply.choices, locale=reader.locale)
        with bringing():
            names = await self._sender.bring(place, letter.id, messages, turn=reply.turn, locale=reader.locale)
        await self._taking_part(replace(place, thread=place.thread or names[0]))
