"""The key under which a model's answer to one exact request is kept. Pure."""

import hashlib
import json
from dataclasses import asdict

from core.model.chat import ChatRequest


def request_key(request: ChatRequest, model: str) -> str:
    """sha256 over purpose, prompt stamp, model and the exact input (DESIGN section 5): 64 hexadecimal digits.

    The book is left out: the same input of another edition has the same answer. So is who pays.
    """
    fields = {name: value for name, value in asdict(request).items() if name not in ("book", "payer")}
    exact = json.dumps({"model": model, **fields}, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(exact.encode("utf-8", "surrogatepass")).hexdigest()
