"""Refuses a model that is larger or slower than another: compare.py BASE MODEL"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path


def bytes_of(model: Path) -> int:
    """The size of the model and of the weights next to it."""
    data = model.with_name(model.name + ".data")
    return model.stat().st_size + (data.stat().st_size if data.exists() else 0)


def seconds_of(model: Path, repeat: int) -> float:
    """The median of a run on random inputs."""
    words = ["sardonyx", "run", str(model), "--random", "--repeat", str(repeat), "--json"]
    words = [sys.executable, "-m", *words]
    return float(
        json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)["seconds"]
    )


def main() -> int:
    """1 where the model is refused."""
    parser = argparse.ArgumentParser()
    parser.add_argument("base", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--size", type=float, default=1.02)
    parser.add_argument("--time", type=float, default=1.10)
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    # In turns, the least of three each: what else the machine does is in all of them.
    times: dict[Path, list[float]] = {options.base: [], options.model: []}
    for _ in range(3):
        for model, measured in times.items():
            measured.append(seconds_of(model, options.repeat))
    larger = bytes_of(options.model) / bytes_of(options.base)
    slower = min(times[options.model]) / min(times[options.base])
    print(f"size: {larger:.3f} of the base's, at most {options.size}")
    print(f"time: {slower:.3f} of the base's, at most {options.time}")
    return int(larger > options.size or slower > options.time)


if __name__ == "__main__":
    sys.exit(main())
