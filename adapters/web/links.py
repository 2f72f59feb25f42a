"""Links from chats into the reading view: signed, expiring, each bound to one channel, one range and who asked for it.

A link opens what its channel may read now: a removed book, a limit moved back or a book of another channel is refused
whatever the signature says.
"""

import hashlib
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from itsdangerous import BadData, SignatureExpired, TimestampSigner, URLSafeTimedSerializer

from adapters.web.spots import Spot
from core.errors import Missing, OperatorError
from core.model import Conversation, Passage, Position, Reader, Span

LIFETIME = timedelta(days=30)
"""Long enough for an export to be read; a press of the footnote makes a new link at any time."""

_KEY_FILE = "web.key"
_KEY_BYTES = 32
_LONGEST = 2_000
"""Characters of a token; ours have about 200."""


def signing_key(folder: Path) -> bytes:
    """The key of this data folder, made once; readable by its owner alone. Raises OperatorError.

    Written beside and linked into place, so that of two processes that start together both use the same one.
    """
    path = folder / _KEY_FILE
    try:
        if not path.exists():
            draft = folder / f"{_KEY_FILE}.{secrets.token_hex(8)}"
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(secrets.token_bytes(_KEY_BYTES))
                    file.flush()
                    os.fsync(file.fileno())
                os.link(draft, path)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        key = path.read_bytes()
    except OSError as error:
        raise OperatorError("data_folder_unusable", path=str(path), reason=error.strerror or "") from error
    if len(key) < _KEY_BYTES:
        raise OperatorError("web_key_damaged", path=str(path))
    return key


@dataclass(frozen=True, slots=True)
class Permit:
    """What a link opens, and for whom it counts."""

    conversation: Conversation
    spot: Spot
    reader: Reader | None
    """None: it counts for the whole chat."""


class Links:
    """Makes and reads links. `base` is the public address without a slash at its end; `now` the time of day."""

    def __init__(self, key: bytes, base: str, now: Callable[[], datetime]) -> None:
        class Signer(TimestampSigner):
            def get_timestamp(self) -> int:
                return int(now().timestamp())

        self._base = base
        self._signer = URLSafeTimedSerializer(
            key,
            salt="loccit.reading",
            signer=Signer,
            signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
        )

    def link_for(self, conversation: Conversation, passage: Passage, reader: Reader | None = None) -> str:
        """The address under which this passage, and nothing else, can be read for LIFETIME."""
        span = passage.span
        # The platform's id, never a name: what is read by the link counts with what this reader presses in the chat.
        who = reader.id if reader else None
        facts = [conversation.platform, conversation.channel, passage.book, passage.text_version, *span, who]
        return f"{self._base}/book/{self._signer.dumps(facts)}"

    def read(self, token: str) -> Permit:
        """What a token permits. Raises Missing for one that is forged, incomplete or expired."""
        try:
            if len(token) > _LONGEST:
                raise BadData(token[:0])
            facts = self._signer.loads(token, max_age=int(LIFETIME.total_seconds()))
        except SignatureExpired as error:
            raise Missing("link_expired") from error
        except BadData as error:
            raise Missing("link_broken") from error
        platform, channel, book, text_version, file, start, end, who = facts
        span = Span(file, start, end)
        return Permit(
            Conversation(platform, channel),
            Spot(book, text_version, Position(file, start), span),
            Reader(who) if who else None,
        )
