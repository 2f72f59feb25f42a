"""The log holds facts, never what people wrote or what a book says."""

import json
import logging

from bot.logs import JsonLines


def test_an_error_is_logged_by_type_and_place_without_its_message() -> None:
    try:
        try:
            raise ValueError("a line of the book")
        except ValueError as inner:
            raise KeyError("a name") from inner
    except KeyError as error:
        record = logging.LogRecord("core.x", logging.ERROR, __file__, 1, "failed", (), (type(error), error, None))
    record.key = "disk_full"
    text = JsonLines().format(record)
    line = json.loads(text)
    assert "a line of the book" not in text
    assert "a name" not in text
    assert [link["type"] for link in line["error"]] == ["KeyError", "ValueError"]
    assert line["error"][0]["where"][0].startswith("test_logs.py:")
    assert (line["event"], line["level"], line["key"]) == ("failed", "error", "disk_full")
