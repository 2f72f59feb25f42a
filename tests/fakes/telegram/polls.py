"""Polls on the fake server: what it takes of one, who has voted for what, and when it takes no more.

Figures: PollLimit of python-telegram-bot 22.8; refusals: the words of tdlib, which counts characters, not UTF-16 units.
"""

from dataclasses import dataclass, field

from tests.fakes.telegram.rules import JsonObject, Refusal, bad, checked_text

QUESTION, OPTION, MOST = 300, 100, 12
_KNOWN = frozenset(
    {"chat_id", "message_thread_id", "question", "options", "is_anonymous", "protect_content", "reply_parameters"}
)
_ENOUGH = 4096


@dataclass
class Poll:
    """A poll in a message. `votes`: by person, the option counted from 0."""

    id: str
    question: str
    options: tuple[str, ...]
    anonymous: bool
    closed: bool = False
    votes: dict[int, int] = field(default_factory=dict)

    def json(self) -> JsonObject:
        given = list(self.votes.values())
        return {
            "id": self.id,
            "question": self.question,
            "options": [
                {"persistent_id": f"{self.id}-{at}", "text": text, "voter_count": given.count(at)}
                for at, text in enumerate(self.options)
            ],
            "total_voter_count": len(given),
            "is_closed": self.closed,
            "is_anonymous": self.anonymous,
            "type": "regular",
            "allows_multiple_answers": False,
            "allows_revoting": True,
            "members_only": False,
        }


def checked_poll(params: JsonObject, id: str) -> Poll:
    """The poll that these parameters ask for. Raises Refusal."""
    if unknown := params.keys() - _KNOWN:
        raise Refusal(500, f"this fake knows no polls with {sorted(unknown)}")
    question = _checked(str(params.get("question", "")), "poll question", QUESTION)
    given = params.get("options") or []
    if not given:
        raise bad("poll must have at least 1 option")
    if len(given) > MOST:
        raise bad(f"poll can't have more than {MOST} options")
    options = tuple(_checked(option["text"], "poll options", OPTION) for option in given)
    return Poll(id, question, options, params.get("is_anonymous", True))


def _checked(text: str, what: str, most: int) -> str:
    text, _ = checked_text(text, [], _ENOUGH)
    if not text:
        raise bad("text must be non-empty")
    if len(text) > most:
        raise bad(f"{what} length must not exceed {most}")
    return text
