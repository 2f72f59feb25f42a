"""Settings: where they come from, which wins, and what is said about a wrong one."""

from decimal import Decimal
from pathlib import Path

import pytest

from bot.config import read_config
from core.errors import OperatorError
from core.strings import say


def test_without_any_setting_the_data_lies_where_the_system_keeps_a_users_data(tmp_path: Path) -> None:
    config = read_config({"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")})
    assert config.data.is_relative_to(tmp_path)
    assert config.data.name == "loccit"
    assert config.database_url is None


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "loccit.toml"
    file.write_text('data = "/from/file"\nlocale = "pt_BR"\n', encoding="utf-8")
    environ = {"LOCCIT_CONFIG": str(file), "LOCCIT_DATA": "/from/environment"}
    assert read_config(environ, data="/from/line").data == Path("/from/line")
    assert read_config(environ).data == Path("/from/environment")
    assert read_config({"LOCCIT_CONFIG": str(file)}).data == Path("/from/file")
    assert read_config(environ).locale == "pt_BR"


@pytest.mark.parametrize(
    ("environ", "locale"),
    [
        ({"LANG": "es_ES.UTF-8"}, "es_ES.UTF-8"),
        ({"LANG": "es_ES.UTF-8", "LC_ALL": "pt_BR.UTF-8"}, "pt_BR.UTF-8"),
        ({"LANG": "es_ES.UTF-8", "LC_ALL": "pt_BR.UTF-8", "LOCCIT_LOCALE": "en"}, "en"),
    ],
)
def test_the_locale_is_the_systems_unless_a_setting_says_otherwise(environ: dict[str, str], locale: str) -> None:
    assert read_config(environ | {"HOME": "/h"}).locale == locale


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("dta = 'x'", "config_unknown_setting"),
        ("data = 3", "config_not_text"),
        ("data = ", "config_not_toml"),
        ("data = '\udcff'", "config_not_toml"),
    ],
)
def test_a_wrong_settings_file_is_one_sentence(tmp_path: Path, text: str, key: str) -> None:
    file = tmp_path / "loccit.toml"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(OperatorError) as caught:
        read_config({"LOCCIT_CONFIG": str(file)})
    assert caught.value.key == key
    assert str(file) in say(key, None, **caught.value.params)


def test_a_settings_file_may_begin_with_the_mark_that_some_editors_write(tmp_path: Path) -> None:
    file = tmp_path / "loccit.toml"
    file.write_text('locale = "es"\n', encoding="utf-8-sig")
    assert read_config({"HOME": "/h", "LOCCIT_CONFIG": str(file)}).locale == "es"


def test_a_settings_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="config_unreadable"):
        read_config({"LOCCIT_CONFIG": str(tmp_path / "none.toml")})


@pytest.mark.parametrize(
    ("setting", "ending", "key"),
    [
        ("LOCCIT_PUBLIC_URL", "", "config_public_url"),
        ("TELEGRAM_BASE_URL", "/bot", "config_telegram_base"),
        ("TELEGRAM_BASE_FILE_URL", "/file/bot", "config_telegram_base"),
        ("DISCORD_API_BASE", "/api/v10", "config_discord_base"),
        ("DISCORD_GATEWAY", "", "config_discord_gateway"),
        ("SLACK_API_BASE", "/api/", "config_slack_base"),
    ],
)
@pytest.mark.parametrize("host", ["[::1", "h:99999", "h:abc", "h:0", "a b", "", ":80"])
def test_an_address_that_cannot_be_one_is_one_sentence(setting: str, ending: str, key: str, host: str) -> None:
    scheme = "ws" if setting == "DISCORD_GATEWAY" else "http"
    environ = {"HOME": "/h", "LOCCIT_PUBLIC_PORT": "9", setting: f"{scheme}://{host}{ending}"}
    if setting != "LOCCIT_PUBLIC_URL":
        del environ["LOCCIT_PUBLIC_PORT"]
    with pytest.raises(OperatorError) as caught:
        read_config(environ)
    assert caught.value.key == key
    assert setting in say(key, None, **caught.value.params)


def test_a_password_in_the_database_address_is_never_printed() -> None:
    config = read_config({"LOCCIT_DATABASE_URL": "postgresql://u:hunter2@localhost/x", "HOME": "/h"})
    assert config.database_url is not None
    assert "hunter2" not in repr(config)


def test_no_colour_is_respected_when_it_is_set_and_not_empty() -> None:
    assert not read_config({"NO_COLOR": "1", "HOME": "/h"}).colour
    assert read_config({"NO_COLOR": "", "HOME": "/h"}).colour


def test_money_characters_and_names_are_read_exactly() -> None:
    config = read_config(
        {
            "HOME": "/h",
            "LOCCIT_PRICE_INPUT": "0",
            "LOCCIT_CAP_READER_DAY": "0.50",
            "LOCCIT_CAP_PASSAGES_DAY": "100_000",
            "LOCCIT_ALLOW_CHATS": "discord:1, telegram:-100:7,",
        }
    )
    assert (config.price_input, config.price_output, config.cap_total_month) == (Decimal(0), None, None)
    assert (config.cap_reader_day, config.cap_passages_day) == (Decimal("0.5"), 100_000)
    assert config.allow_chats == {"discord:1", "telegram:-100:7"}
    assert not config.allow_uploaders


@pytest.mark.parametrize(
    ("setting", "value", "key"),
    [
        *(
            ("LOCCIT_CAP_TOTAL_MONTH", value, "config_money")
            for value in ("ten", "-1", "1e9", "inf", "1,5", "5 €", "٣")
        ),
        *(("LOCCIT_CAP_PASSAGES_DAY", value, "config_characters") for value in ("all", "-1", "1.5", "9" * 13)),
        *(("LOCCIT_ALLOW_CHATS", value, "config_allowed") for value in ("discord", ":1", "discord:", "a:1, b", " , ")),
    ],
)
def test_a_cap_or_a_list_that_cannot_be_read_is_refused_and_never_taken_for_none(
    setting: str, value: str, key: str
) -> None:
    with pytest.raises(OperatorError, match=key) as caught:
        read_config({"HOME": "/h", setting: value})
    assert setting in say(key, None, **caught.value.params)
