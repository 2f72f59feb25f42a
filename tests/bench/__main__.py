"""Every measurement, one after the other, each in a process of its own: what `make bench` runs. Names pick some."""

import subprocess
import sys
from pathlib import Path

MEASUREMENTS = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def main(names: list[str]) -> int:
    """The number of measurements that missed their mark or broke."""
    missed = 0
    for name in names or MEASUREMENTS:
        print(f"\n## {name}", flush=True)
        missed += subprocess.run([sys.executable, "-m", f"tests.bench.{name}"], check=False).returncode != 0
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
