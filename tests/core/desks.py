"""At the desk of a test's club: lines typed, buttons found by their words and pressed, questions asked."""

from core.desk import Desk
from core.model import Answered, Choice, Conversation, Question, Reader, Reply, Turn
from tests.clubs import ROOM, TestClub

GROUP = Conversation("telegram", "-1001")
KEEPER = Reader("keeper", "en", manages=True)
GUEST = Reader("guest-77", "en")


def desk_of(club: TestClub) -> Desk:
    return Desk(club.club, lambda name: f"/{name}")


async def type_line(
    club: TestClub, line: str, reader: Reader = KEEPER, where: Conversation = ROOM, *, private: bool = False
) -> Reply:
    name, _, words = line.partition(" ")
    reply = await desk_of(club).command(where, reader, name, words, event=f"typed {line}", private=private)
    assert isinstance(reply, Reply)
    return reply


async def press(club: TestClub, choice: Choice, reader: Reader = KEEPER, where: Conversation = ROOM) -> Reply:
    reply = await desk_of(club).press(where, reader, choice.id, event="pressed")
    assert isinstance(reply, Reply)
    return reply


def labelled(reply: Reply, label: str) -> Choice:
    found = [choice for row in reply.choices for choice in row if choice.label == label]
    assert found, [choice.label for row in reply.choices for choice in row]
    return found[0]


async def answer_to(club: TestClub, question: Question) -> Turn:
    last = [event async for event in club.club.questions.ask(question)][-1]
    assert isinstance(last, Answered)
    return last.turn
