"""Connections: one writer and a few readers on SQLite, two pools on PostgreSQL; database failures as sentences."""

from pathlib import Path


class Engines:
    """Where statements go."""

    version: str

    @classmethod
    async def open(cls, url: str, folder: Path) -> "Engines":
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError
