"""What a letter of the outbox says when its time has come."""

from core.desk import arriving, discussing, polling, quotations, scheduling
from core.desk.keys import Visit
from core.model import Letter, Reply


async def letter(visit: Visit, letter: Letter) -> Reply | None:
    """What it says now; None when there is nothing to say any more."""
    match letter.kind:
        case "hello":
            return arriving.hello(visit, letter)
        case "discussion":
            return await discussing.letter(visit, letter)
        case "reminder" if "poll" in letter.params:
            return await polling.letter(visit, letter)
        case "reminder":
            return await scheduling.letter(visit, letter)
        case "quote_of_the_day":
            return await quotations.letter(visit, letter)
        case "digest":
            return await arriving.digest(visit, letter)
        case _:
            return None
