"""What `deploy/` holds fits the program: every setting in the example, no root, nothing writable but the data."""

import configparser
import re
import tomllib

from bot.config import SETTINGS, read_config
from bot.running import LAST_RESORT, MISCONFIGURED
from tests.bot.running import CHECKOUT

DEPLOY = CHECKOUT / "deploy"


def example() -> str:
    return (DEPLOY / "loccit.example.toml").read_text(encoding="utf-8")


def test_the_example_file_names_every_setting_once_and_no_other() -> None:
    named = re.findall(r"^(?:# )?([a-z_]+) = ", example(), re.M)
    assert sorted(named) == sorted(SETTINGS)


def test_the_example_file_sets_nothing_by_itself_and_is_toml_when_all_of_it_is_set() -> None:
    assert tomllib.loads(example()) == {}
    filled = tomllib.loads(re.sub(r"^# (?=[a-z_]+ = )", "", example(), flags=re.M))
    assert set(filled) == set(SETTINGS)
    assert all(isinstance(value, str) for value in filled.values())


def test_the_example_values_are_accepted() -> None:
    file = CHECKOUT / "deploy" / "loccit.example.toml"
    assert read_config({"LOCCIT_CONFIG": str(file), "HOME": "/h"}).telegram_bot_token is None
    values = tomllib.loads(re.sub(r"^# (?=[a-z_]+ = )", "", example(), flags=re.M))
    config = read_config({SETTINGS[key]: value for key, value in values.items()} | {"HOME": "/h"})
    assert config.telegram_base_url == "http://localhost:8081/bot"


def test_the_container_is_not_root_and_the_root_is_read_only() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    stages = dockerfile.split("\nFROM ")
    assert re.search(r"^USER loccit$", stages[-1], re.M)
    assert "--require-hashes" in dockerfile
    compose = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    for line in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges:true", '"data:/data"'):
        assert line in compose
    grace = re.search(r"stop_grace_period: (\d+)s", compose)
    assert grace is not None
    assert int(grace[1]) > LAST_RESORT


def test_the_unit_restarts_what_failed_but_not_what_is_misconfigured() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    unit.read(DEPLOY / "loccit.service", encoding="utf-8")
    service = unit["Service"]
    assert service["RestartPreventExitStatus"] == str(MISCONFIGURED)
    assert service["DynamicUser"] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert int(service["TimeoutStopSec"]) > LAST_RESORT
    assert service["ExecStart"].endswith("loccit run")
