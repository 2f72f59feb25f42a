"""A question that the language model failed on: what is said, and the button that asks it once more."""

from dataclasses import replace

from core.desk.asking import packed
from core.desk.keys import Action, Visit
from core.desk.writing import paragraphs
from core.errors import LoccitError, Missing, UpstreamError
from core.model import Question, Reply
from core.strings import say

TO_MEND = frozenset({"model_key_refused", "model_quota", "model_unknown", "model_refused", "disk_full"})
"""What nobody but whoever runs the bot can mend."""


async def failed(visit: Visit, question: Question, error: LoccitError) -> Reply | None:
    """What stands in the place of an answer, with a way to ask again; None for what asking again does not mend."""
    if not isinstance(error, UpstreamError) and error.key not in TO_MEND:
        return None
    if await visit.club.questions.on_record(visit.conversation, question.event) is not None:
        action: Action = {"do": "try", "event": question.event}
    else:  # it failed before anything was kept of it
        action = {"do": "try", "question": packed(question)}
    again = await visit.choices([(say("desk_try_again", visit.locale), action)])
    return Reply(paragraphs(say(error.key, visit.locale, **error.params)), (again,))


async def again(visit: Visit, action: Action, event: str) -> Question:
    """The question anew. One that was kept for the provider is kept no longer, so that it gets one answer."""
    if "turn" in action:
        kept = await visit.club.questions.take_back(visit.conversation, str(action["turn"]), visit.reader)
        # The key goes on from the first one, which says what a late answer replies to.
        event = f"{kept.event}:{event.rsplit(':', 1)[-1]}"
        return replace(kept, event=event, conversation=visit.conversation, reader=visit.reader, patient=True)
    if "event" in action:
        asked = await visit.club.questions.on_record(visit.conversation, str(action["event"]))
        if asked is None:
            raise Missing("unknown_button")
        fields = packed(asked)
    else:
        fields = dict(action["question"])
    private = visit.private or bool(fields.get("without_book"))
    return Question(event, visit.conversation, visit.reader, private=private, patient=True, **fields)
