"""`backup` and `restore`: everything in one file and back."""

import asyncio
import sys
from argparse import Namespace
from pathlib import Path

from bot.config import Config
from bot.folder import hold_for
from bot.output import print_lines
from bot.wiring import now
from core.store import Backup, restore_backup, write_backup
from core.strings import say


def run(arguments: Namespace, config: Config) -> int:
    """Run the command; its exit code. `backup` takes no lock and changes nothing: it always works."""
    file, url = Path(arguments.file).absolute(), config.database_url or ""
    if arguments.command == "backup":
        done = asyncio.run(write_backup(url, config.data, file, now()))
    else:
        with hold_for(config, "command"):
            done = asyncio.run(restore_backup(file, url, config.data, force=arguments.force))
    key = "backup_done" if arguments.command == "backup" else "restore_done"
    print_lines([_told(key, file, done, config.locale)])
    if done.lost:
        print(say("backup_lost", config.locale, count=len(done.lost)), file=sys.stderr)
    return 0


def _told(key: str, file: Path, done: Backup, locale: str) -> str:
    rows = done.rows
    return say(
        key,
        locale,
        file=str(file),
        books=rows.get("extraction", 0),
        answers=rows.get("turn", 0),
        files=done.originals,
        revision=done.revision,
    )
