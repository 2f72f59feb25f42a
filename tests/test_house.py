"""The rules of the house that a machine can check: sentences, settings, commands, docstrings, pins, skips."""

import ast
import re
import string
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bot.__main__ import parser
from bot.config import FILE_SETTING, SETTINGS
from core.strings import LOCALES
from tests.bot.running import CHECKOUT, environment

OURS = ("bot", "adapters", "core")
MODULES = sorted(
    path for folder in (*OURS, "tests") for path in (CHECKOUT / folder).rglob("*.py") if path.stat().st_size > 0
)
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def sentences(locale: str) -> dict[str, str | dict[str, str]]:
    return tomllib.loads((CHECKOUT / "core" / "strings" / f"{locale}.toml").read_text(encoding="utf-8"))


def forms(sentence: str | dict[str, str]) -> dict[str, str]:
    return sentence if isinstance(sentence, dict) else {"": sentence}


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


# Sentences


@pytest.mark.parametrize("locale", [locale for locale in LOCALES if locale != "en"])
def test_every_locale_has_the_same_keys_forms_and_places(locale: str) -> None:
    english, other = sentences("en"), sentences(locale)
    assert set(english) == set(other)
    for key, sentence in english.items():
        assert set(forms(sentence)) == set(forms(other[key])), key
        for form, text in forms(sentence).items():
            assert places(text) == places(forms(other[key])[form]), key


def test_no_sentence_is_left_that_no_code_says() -> None:
    literals: set[str] = set()
    prefixes: set[str] = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literals.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                prefixes.add(str(node.values[0].value))
    prefixes = {prefix for prefix in prefixes if re.fullmatch(r"[a-z]+_[a-z_]*", prefix)}
    unused = [key for key in sentences("en") if key not in literals and not key.startswith(tuple(prefixes))]
    assert unused == []


def test_every_error_and_notice_in_the_code_has_its_sentence() -> None:
    known = sentences("en")
    raised = re.compile(
        r"\b(?:BadBook|Missing|ReaderError|OperatorError|UpstreamError|BrokenPromise|Notice)\(\s*\"(\w+)\""
    )
    named = {
        key for folder in OURS for path in (CHECKOUT / folder).rglob("*.py") for key in raised.findall(path.read_text())
    }
    assert named - set(known) == set()


SCREENS = {"console_help", "desk_help", "desk_help_empty"}
"""Texts that fill a screen."""


def test_every_sentence_is_one_line_and_ends_like_one() -> None:
    for locale in LOCALES:
        for key, sentence in sentences(locale).items():
            for text in forms(sentence).values():
                assert text == text.strip() or key in SCREENS, (locale, key)
                assert "\n" not in text or key in SCREENS, (locale, key)
                assert not re.search(r"[<>{]\s|\*\*|`", text.replace("< ", "").replace("> ", "")), (locale, key)


# What the README says


@pytest.mark.parametrize("setting", [*SETTINGS.values(), FILE_SETTING, "NO_COLOR"])
def test_every_setting_is_in_the_readme(setting: str) -> None:
    assert f"`{setting}`" in README


def test_the_readme_names_every_command_and_no_other() -> None:
    [choices] = [action.choices for action in parser()._actions if action.choices]
    named = set(re.findall(r"`?loccit ([a-z]+)\b", README))
    assert set(choices) <= named
    assert named - set(choices) == set()


def test_the_readme_and_the_help_name_every_word_of_the_dialogue() -> None:
    source = (CHECKOUT / "adapters" / "console" / "app.py").read_text(encoding="utf-8")
    words = set(re.findall(r'"(/[a-z]+)"', source)) - {"/exit"}
    assert {"/add", "/books", "/export", "/quit"} <= words
    for word in words - {"/help"}:
        assert word in README, word
        for locale in LOCALES:
            assert word in str(sentences(locale)["console_help"]), (locale, word)


def test_the_make_targets_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert targets == {"help", "demo", "test", "check", "fmt", "bench"}
    assert set(re.findall(r"`make ([a-z]+)`", README)) <= targets


# Code


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_every_module_begins_by_saying_what_lives_there(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring
    assert docstring.split("\n")[0].strip()


def test_the_environment_is_read_in_one_module() -> None:
    readers = [
        path.relative_to(CHECKOUT).as_posix()
        for folder in OURS
        for path in (CHECKOUT / folder).rglob("*.py")
        if re.search(r"\bos\.environ\b|\bgetenv\(", path.read_text(encoding="utf-8"))
    ]
    assert readers == ["bot/config.py"]


def test_tests_pass_things_in_and_skip_only_by_naming_a_part() -> None:
    words = re.compile(
        r"\bunittest\.mock\b|\bMagicMock\b|\bmonkeypatch\.(set|del)(attr|item)\b|pytest\.skip\(|importorskip|pytest\.mark\.xfail"
    )
    for path in (CHECKOUT / "tests").rglob("*.py"):
        if path.name != "test_house.py":
            assert not words.search(path.read_text(encoding="utf-8")), path
            skips = path.read_text(encoding="utf-8").count("skipif(")
            assert skips == 0 or path.name == "parts.py", path


# Project files


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_requirements_are_pinned_with_hashes_and_name_no_address(name: str) -> None:
    text = (CHECKOUT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--(extra-)?index-url|--find-links|--trusted-host)", text, re.M)
    for entry in text.replace("\\\n", "").splitlines():
        assert re.match(r"[a-z0-9._-]+(\[[a-z,]+\])?==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_requirements_hold_every_dependency_of_the_project() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(lines: list[str]) -> set[str]:
        return {re.split(r"[\[<>=]", line)[0].lower().replace(".", "-") for line in lines}

    def pinned(name: str) -> set[str]:
        return names(re.findall(r"^[a-z0-9._\[\]-]+==", (CHECKOUT / name).read_text(encoding="utf-8"), re.M))

    assert names(project["dependencies"]) <= pinned("requirements.txt")
    extras = [line for extra in project["optional-dependencies"].values() for line in extra]
    assert names(project["dependencies"]) | names(extras) <= pinned("requirements-dev.txt")


def test_the_scripts_of_the_project_are_valid_bash() -> None:
    subprocess.run(["bash", "-n", str(CHECKOUT / ".ci" / "run")], check=True)
    assert (CHECKOUT / ".ci" / "run").stat().st_mode & 0o111


def test_the_licence_is_the_full_text() -> None:
    text = (CHECKOUT / "LICENSE").read_text(encoding="utf-8")
    assert text.lstrip().startswith("GNU AFFERO GENERAL PUBLIC LICENSE")
    assert "END OF TERMS AND CONDITIONS" in text


# The guards of the tests themselves


def test_a_test_that_reaches_for_the_network_fails() -> None:
    program = (
        "import socket\nimport tests.conftest\n"
        "for reach in (lambda: socket.create_connection(('192.0.2.1', 80)), lambda: socket.getaddrinfo('example.invalid', 80)):\n"
        "    try:\n        reach()\n    except AssertionError as error:\n        print(error)\n"
        "socket.getaddrinfo('127.0.0.1', 80)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment(), check=True)
    assert ran.stdout.count("tests may use loopback only") == 2
