"""How the modules of a command are imported: with the collector of garbage stopped."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Import inside this block. What it makes stays until the process ends, and the collector never looks at it again.

    It would go through all of it several times while it grows, and once more on the way out: a fifth of the processor
    time of a short command.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
