"""How a letter of the outbox is shown in a chat."""

from adapters.outbox import Outbox
from adapters.telegram import deliveries, view
from adapters.telegram.ballots import Ballots
from adapters.telegram.connection import PLATFORM, Connection
from adapters.telegram.group import Groups
from adapters.telegram.payloads import Spot
from core.model import Letter, Reply


class Letters:
    """The outbox of one bot on Telegram."""

    def __init__(self, connection: Connection, groups: Groups, ballots: Ballots) -> None:
        self._connection = connection
        self._groups = groups
        self._ballots = ballots
        self.outbox = Outbox(connection.club.post, connection.desk, PLATFORM, self._show)

    async def _show(self, letter: Letter, reply: Reply) -> None:
        where = letter.conversation
        place = Spot(int(where.channel), int(where.thread) if where.thread else None)
        async with self._groups.bringing(place.chat):
            if reply.over is not None:
                await self._ballots.end(reply.over)
            await deliveries.show(self._connection, where, place, letter.id, view.messages(reply), reply.turn)
