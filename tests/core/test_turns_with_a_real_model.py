"""Whole turns with a real, small model behind a real server: it is wrong about everything, and P1 to P5 hold all the same."""

from pathlib import Path

from tests.fakes.local_model import local_model
from tests.parts import needs_local_model
from tests.promises.real_turns import questions, real_turns

pytestmark = needs_local_model


async def test_six_turns_with_a_real_model_keep_every_promise(tmp_path: Path) -> None:
    async with local_model() as url:
        turns = [
            judged
            for long in (False, True)
            async for judged in real_turns(tmp_path / str(long), url, questions(3, long=long), long=long)
        ]
    assert len(turns) == 6
    assert [fault for turn in turns for fault in turn.faults] == []
    assert {turn.turn.model for turn in turns} == {"local"}
    assert sum(turn.turn.usage.output_tokens for turn in turns) > 30
