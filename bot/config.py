"""The settings of one run, from the command line, the environment and an optional TOML file; nothing else reads them.

Order of precedence: command line, environment, file, default. The table of settings in the README is checked against
`SETTINGS` by tests/test_house.py.
"""

import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from core.errors import OperatorError

SETTINGS = {
    "data": "LOCCIT_DATA",
    "database_url": "LOCCIT_DATABASE_URL",
    "locale": "LOCCIT_LOCALE",
    "ocr": "LOCCIT_OCR",
    "source_url": "LOCCIT_SOURCE_URL",
    "web_port": "LOCCIT_WEB_PORT",
    "public_url": "LOCCIT_PUBLIC_URL",
    "public_port": "LOCCIT_PUBLIC_PORT",
    "llm_base_url": "LOCCIT_LLM_BASE_URL",
    "llm_api_key": "LOCCIT_LLM_API_KEY",
    "llm_model": "LOCCIT_LLM_MODEL",
    "llm_models": "LOCCIT_LLM_MODELS",
    "llm_context": "LOCCIT_LLM_CONTEXT",
    "price_input": "LOCCIT_PRICE_INPUT",
    "price_output": "LOCCIT_PRICE_OUTPUT",
    "cap_reader_day": "LOCCIT_CAP_READER_DAY",
    "cap_channel_day": "LOCCIT_CAP_CHANNEL_DAY",
    "cap_server_month": "LOCCIT_CAP_SERVER_MONTH",
    "cap_total_month": "LOCCIT_CAP_TOTAL_MONTH",
    "ask_above": "LOCCIT_ASK_ABOVE",
    "summaries": "LOCCIT_SUMMARIES",
    "cap_passages_day": "LOCCIT_CAP_PASSAGES_DAY",
    "keep_questions_days": "LOCCIT_KEEP_QUESTIONS_DAYS",
    "keep_history_days": "LOCCIT_KEEP_HISTORY_DAYS",
    "allow_chats": "LOCCIT_ALLOW_CHATS",
    "allow_uploaders": "LOCCIT_ALLOW_UPLOADERS",
    "telegram_bot_token": "TELEGRAM_BOT_TOKEN",
    "telegram_base_url": "TELEGRAM_BASE_URL",
    "telegram_base_file_url": "TELEGRAM_BASE_FILE_URL",
    "discord_token": "DISCORD_TOKEN",
    "discord_api_base": "DISCORD_API_BASE",
    "discord_gateway": "DISCORD_GATEWAY",
    "slack_bot_token": "SLACK_BOT_TOKEN",
    "slack_app_token": "SLACK_APP_TOKEN",
    "slack_api_base": "SLACK_API_BASE",
    "slack_signing_secret": "SLACK_SIGNING_SECRET",
    "slack_port": "SLACK_PORT",
    "slack_sockets": "SLACK_SOCKETS",
    "slack_managers": "SLACK_MANAGERS",
    "slack_refresh_token": "SLACK_REFRESH_TOKEN",
    "slack_client_id": "SLACK_CLIENT_ID",
    "slack_client_secret": "SLACK_CLIENT_SECRET",
}
"""Key in the TOML file -> name in the environment. `LOCCIT_CONFIG` names the file itself."""

FILE_SETTING = "LOCCIT_CONFIG"

WEB_PORT = 8321
"""The default of LOCCIT_WEB_PORT."""
_LAST_PORT = 65_535
ASK_ABOVE = Decimal(5)
"""Money, where a price is set: an ordinary novel stays below it at a large hosted model's prices."""

_DIGITS = 12
"""More than any sum or book needs, and the products still fit into 64 bits."""
_MONEY = re.compile(rf"[0-9]{{1,{_DIGITS}}}(\.[0-9]{{1,6}})?")


@dataclass(frozen=True, slots=True)
class Config:
    data: Path
    """The folder that holds books, database and log."""
    locale: str
    """What the system or the operator prefers, as named there ("pt_BR.UTF-8"); `core.strings` picks from it."""
    database_url: str | None = field(default=None, repr=False)
    """None = SQLite in the data folder. May hold a password, so it never appears in a repr."""
    ocr: str = ""
    """Languages in which `ocrmypdf` may read picture pages ("eng+spa"); empty = it may not."""
    web_port: int | None = None
    """Where the page, health and metrics are on this machine; None: WEB_PORT. 0: any port that is free."""
    public_url: str | None = None
    """Under what address the reading view is reached from outside, without a slash at its end."""
    public_port: int | None = None
    """Where it listens; both or neither."""
    source_url: str = ""
    """Where readers of the chats can get the source of this very version (AGPL); shown by `about`."""
    llm_base_url: str | None = None
    """Where an OpenAI-compatible provider listens. Without this and without a key: offline, answers are quotations."""
    llm_api_key: str | None = field(default=None, repr=False)
    llm_model: str | None = None
    llm_models: tuple[str, ...] = ()
    """Other models of the same provider that a channel may choose."""
    llm_context: int | None = None
    """Tokens the model reads at once; None: the server is asked."""
    price_input: Decimal | None = None
    """Money for a million tokens; None: not known."""
    price_output: Decimal | None = None
    cap_reader_day: Decimal | None = None
    """Money; None = no cap."""
    cap_channel_day: Decimal | None = None
    cap_server_month: Decimal | None = None
    cap_total_month: Decimal | None = None
    ask_above: Decimal | None = None
    """Money; a book whose summaries cost more waits for a yes. None: ASK_ABOVE where a price is set, else never."""
    summaries: bool = True
    """Whether `run` and `chat` make summaries themselves; on a server they may leave it to workers."""
    cap_passages_day: int | None = None
    """Characters of a book; None: a share of it."""
    keep_questions_days: int | None = None
    """Days after which what people asked is blanked; None: kept until it is forgotten."""
    keep_history_days: int | None = None
    """Days after which answers are blanked too."""
    allow_chats: frozenset[str] = frozenset()
    """`platform:id`; empty = everyone."""
    allow_uploaders: frozenset[str] = frozenset()
    telegram_bot_token: str | None = field(default=None, repr=False)
    telegram_base_url: str | None = None
    """None = Telegram's own; ends in `/bot`."""
    telegram_base_file_url: str | None = None
    """Where files are fetched; None = Telegram's own, or beside an overridden base. Ends in `/file/bot`."""
    discord_token: str | None = field(default=None, repr=False)
    discord_api_base: str | None = None
    """None = Discord's own; ends in `/api/v10`."""
    discord_gateway: str | None = None
    """None = Discord's own; `ws://` or `wss://`."""
    slack_bot_token: str | None = field(default=None, repr=False)
    slack_app_token: str | None = field(default=None, repr=False)
    slack_api_base: str | None = None
    """None = Slack's own; ends in `/api/`."""
    slack_signing_secret: str | None = field(default=None, repr=False)
    slack_port: int | None = None
    """Where HTTP mode listens; None = Socket Mode."""
    slack_sockets: int = 2
    slack_managers: str = ""
    """A user group whose members manage every channel."""
    slack_refresh_token: str | None = field(default=None, repr=False)
    slack_client_id: str | None = None
    slack_client_secret: str | None = field(default=None, repr=False)
    verbose: bool = False
    colour: bool = True
    """False when the reader asked for no colours (NO_COLOR)."""

    @property
    def served(self) -> bool:
        """True when a PostgreSQL server holds the rows: then many processes may write."""
        return (self.database_url or "").startswith("postgres")


def read_config(environ: Mapping[str, str] | None = None, *, data: str | None = None, verbose: bool = False) -> Config:
    """The settings for this run; `data` and `verbose` come from the command line.

    Raises OperatorError for a file that cannot be read, is not TOML, or holds an unknown or ill-typed setting.
    """
    environ = os.environ if environ is None else environ
    file = _read_file(environ.get(FILE_SETTING))
    found = {key: environ.get(name) or file.get(key) for key, name in SETTINGS.items()}
    folder = data or found["data"]
    return Config(
        data=Path(folder).expanduser().absolute() if folder else default_folder(environ),
        locale=found["locale"] or system_locale(environ),
        database_url=found["database_url"],
        ocr=found["ocr"] or "",
        source_url=found["source_url"] or "",
        web_port=_read_port("web_port", found),
        public_url=_read_public(found),
        public_port=_read_port("public_port", found),
        llm_base_url=found["llm_base_url"],
        llm_api_key=found["llm_api_key"],
        llm_model=found["llm_model"],
        llm_models=tuple(name.strip() for name in (found["llm_models"] or "").split(",") if name.strip()),
        llm_context=_read_tokens(found["llm_context"]),
        price_input=_read_money("price_input", found),
        price_output=_read_money("price_output", found),
        cap_reader_day=_read_money("cap_reader_day", found),
        cap_channel_day=_read_money("cap_channel_day", found),
        cap_server_month=_read_money("cap_server_month", found),
        cap_total_month=_read_money("cap_total_month", found),
        ask_above=_read_ask_above(found),
        summaries=_read_summaries(found["summaries"]),
        cap_passages_day=_read_characters("cap_passages_day", found),
        keep_questions_days=_read_days("keep_questions_days", found),
        keep_history_days=_read_days("keep_history_days", found),
        allow_chats=_read_allowed("allow_chats", found),
        allow_uploaders=_read_allowed("allow_uploaders", found),
        telegram_bot_token=found["telegram_bot_token"],
        telegram_base_url=_read_telegram("telegram_base_url", "/bot", found),
        telegram_base_file_url=_read_telegram("telegram_base_file_url", "/file/bot", found),
        discord_token=found["discord_token"],
        discord_api_base=_read_discord(found, "discord_api_base", ("http", "https"), "/api/v10", "config_discord_base"),
        discord_gateway=_read_discord(found, "discord_gateway", ("ws", "wss"), "", "config_discord_gateway"),
        slack_bot_token=found["slack_bot_token"],
        slack_app_token=found["slack_app_token"],
        slack_api_base=_read_slack_base(found),
        slack_signing_secret=found["slack_signing_secret"],
        slack_port=_read_port("slack_port", found),
        slack_sockets=_read_sockets(found),
        slack_managers=found["slack_managers"] or "",
        slack_refresh_token=found["slack_refresh_token"],
        slack_client_id=found["slack_client_id"],
        slack_client_secret=found["slack_client_secret"],
        verbose=verbose,
        colour=not environ.get("NO_COLOR"),
    )


def _read_tokens(text: str | None) -> int | None:
    if not text:
        return None
    digits = text.replace("_", "").replace(",", "").strip()
    # less than this leaves no room for a question and its evidence
    if not digits.isascii() or not digits.isdecimal() or int(digits) < 1_000:
        raise OperatorError("config_context", value=text)
    return int(digits)


def _read_money(key: str, found: Mapping[str, str | None]) -> Decimal | None:
    """An amount such as "0.50"; no exponent, no sign, no "infinity": a cap that is misread is a cap that does not hold."""
    text = found[key]
    if not text:
        return None
    if not _MONEY.fullmatch(text.strip()):
        raise OperatorError("config_money", setting=SETTINGS[key], value=text)
    return Decimal(text.strip())


def _read_telegram(key: str, ending: str, found: Mapping[str, str | None]) -> str | None:
    """The SDK puts the token right behind it."""
    text = (found[key] or "").strip()
    if not text:
        return None
    parts = _address(text)
    if parts is None or not parts.path.endswith(ending):
        raise OperatorError("config_telegram_base", setting=SETTINGS[key], ending=ending)
    return text


def _read_discord(
    found: Mapping[str, str | None], key: str, schemes: tuple[str, ...], ending: str, error: str
) -> str | None:
    """Another place than the vendor's."""
    text = (found[key] or "").strip()
    if not text:
        return None
    parts = _address(text, schemes)
    if parts is None or not parts.path.rstrip("/").endswith(ending):
        raise OperatorError(error, value=text)
    return text


def _address(text: str, schemes: tuple[str, ...] = ("http", "https")) -> SplitResult | None:
    """The parts of an address; None for what is none."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is no number or too large
        return None
    return parts if known and not re.search(r"\s", text) else None


def _read_ask_above(found: Mapping[str, str | None]) -> Decimal | None:
    if found["ask_above"]:
        return _read_money("ask_above", found)
    priced = found["price_input"] or found["price_output"]
    return ASK_ABOVE if priced else None


def _read_summaries(text: str | None) -> bool:
    if text not in (None, "", "here", "workers"):
        raise OperatorError("config_summaries", value=text)
    return text != "workers"


def _read_characters(key: str, found: Mapping[str, str | None]) -> int | None:
    text = found[key]
    if not text:
        return None
    digits = text.replace("_", "").replace(",", "").strip()
    if not digits.isascii() or not digits.isdecimal() or len(digits) > _DIGITS:
        raise OperatorError("config_characters", setting=SETTINGS[key], value=text)
    return int(digits)


def _read_port(key: str, found: Mapping[str, str | None]) -> int | None:
    text = (found[key] or "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 5 or int(text) > _LAST_PORT:
        raise OperatorError("config_port", setting=SETTINGS[key], value=text)
    return int(text)


def _read_slack_base(found: Mapping[str, str | None]) -> str | None:
    """The SDK puts a method's name right behind it."""
    base = (found["slack_api_base"] or "").strip()
    if not base:
        return None
    parts = _address(base)
    if parts is None or not parts.path.endswith("/api/"):
        raise OperatorError("config_slack_base", value=base)
    return base


def _read_sockets(found: Mapping[str, str | None]) -> int:
    """Slack gives one app ten sockets at most."""
    text = (found["slack_sockets"] or "2").strip()
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:3]) <= 10:
        raise OperatorError("config_slack_sockets", value=text)
    return int(text)


def _read_public(found: Mapping[str, str | None]) -> str | None:
    """The public address; it makes sense with its port only."""
    url, port = (found["public_url"] or "").strip().rstrip("/"), (found["public_port"] or "").strip()
    if not url and not port:
        return None
    if not url or not port:
        raise OperatorError("config_public_both")
    parts = _address(url)
    if parts is None or parts.query or parts.fragment or parts.username:
        raise OperatorError("config_public_url", value=url)
    return url


def _read_days(key: str, found: Mapping[str, str | None]) -> int | None:
    text = found[key]
    if not text:
        return None
    if not re.fullmatch("[0-9]{1,5}", text.strip()) or int(text) < 1:
        raise OperatorError("config_days", setting=SETTINGS[key], value=text)
    return int(text)


def _read_allowed(key: str, found: Mapping[str, str | None]) -> frozenset[str]:
    names = [name.strip() for name in (found[key] or "").split(",")]
    allowed = frozenset(name for name in names if name)
    for name in allowed:
        platform, _, id = name.partition(":")
        if not platform or not id:
            raise OperatorError("config_allowed", setting=SETTINGS[key], value=name)
    if found[key] and not allowed:  # a list that names nobody must not let everybody in
        raise OperatorError("config_allowed", setting=SETTINGS[key], value=str(found[key]))
    return allowed


def system_locale(environ: Mapping[str, str] | None = None) -> str:
    """The name of the locale the system runs in, by POSIX precedence; "" when it names none."""
    environ = os.environ if environ is None else environ
    return environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""


def default_folder(environ: Mapping[str, str]) -> Path:
    """Where programs keep a user's data on this system."""
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "loccit"
    shared = environ.get("XDG_DATA_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    return (Path(shared) if shared.startswith("/") else home / ".local" / "share") / "loccit"


def _read_file(name: str | None) -> dict[str, str]:
    if not name:
        return {}
    path = Path(name).expanduser()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin it with a mark
    except OSError as error:
        raise OperatorError("config_unreadable", path=str(path), reason=error.strerror or "") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        # The parser's own words name a line, never a value: secrets may stand in this file.
        raise OperatorError("config_not_toml", path=str(path)) from error
    for key, value in values.items():
        if key not in SETTINGS:
            raise OperatorError("config_unknown_setting", path=str(path), setting=key, known=", ".join(SETTINGS))
        if not isinstance(value, str):
            raise OperatorError("config_not_text", path=str(path), setting=key)
    return values
