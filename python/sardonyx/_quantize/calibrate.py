"""`sardonyx.calibrate`: what is observed of a model's values while it runs on samples."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sardonyx import _native
from sardonyx._base.errors import refusal, unwritable, usage_error

from .data import Array, Feed, count_of, feeds
from .options import Quantization
from .running import FloatModel, run

# Of the input of each product, at most so many rows are kept to round its weight by.
_ROWS = 256
# Samples that errors are measured on, and what they may take in memory.
_KEPT_FEEDS = 16
_KEPT_BYTES = 64 << 20

Progress = Callable[[int, int | None], object]


class Statistics:
    """Distributions of a model's values. Parts of one data set merge to what it gives at once."""

    def __init__(self, native: _native.Statistics) -> None:
        self._native = native

    @property
    def native(self) -> _native.Statistics:
        """For the native library."""
        return self._native

    @property
    def samples(self) -> int:
        """How many samples were run."""
        return self._native.samples

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file that `load` reads. Raises SX1601 where it can't be written."""
        try:
            Path(path).write_bytes(self._native.to_json())
        except OSError as error:
            raise unwritable(path, error) from error

    def to_bytes(self) -> bytes:
        """What `save` writes: to send it to another process."""
        return self._native.to_json()

    @staticmethod
    def from_bytes(data: bytes) -> Statistics:
        """The statistics that `to_bytes` gave. Raises SX1832 for anything else."""
        return Statistics(_native.Statistics.from_json(data))

    @staticmethod
    def load(*paths: str | os.PathLike[str]) -> Statistics:
        """The statistics of one file, or of several together, in any order.

        Raises SX1832 where a file is damaged, or of another model.
        """
        merged: Statistics | None = None
        for path in paths:
            if not Path(path).is_file():
                raise usage_error(f"there is no file {os.fspath(path)}")
            read = Statistics.from_bytes(Path(path).read_bytes())
            merged = read if merged is None else merged.merge(read)
        if merged is None:
            raise usage_error("statistics are of one file at least")
        return merged

    def merge(self, other: Statistics) -> Statistics:
        """Adds other statistics of the same model; returns itself."""
        self._native.merge(other.native)
        return self


class Observation:
    """One run over the samples: statistics, rows of the inputs of products, and a few samples with
    the outputs of the model."""

    def __init__(self, model: FloatModel, options: Quantization, count: int | None) -> None:
        self._model = model
        self._memory = options.memory
        rows = max(-(-_ROWS // max(count or 16, 1)), 4) if options.takes_rows else 0
        self.calibration = _native.Calibration(model.native(), options.native(), rows)
        self.feeds: list[Feed] = []
        self.outputs: list[list[Array]] = []

    def run(self, data: Any, batch: int, progress: Progress | None, count: int | None) -> None:
        """Runs the model on all samples: once, or once for each group of values where all of them
        would take more memory than allowed. Raises SX1834 for values that are not finite."""
        samples = feeds(data, self._model.inputs, batch)
        first = next(samples)
        groups = self._groups(first)
        if len(groups) > 1 and isinstance(data, Iterator):
            raise usage_error(
                f"the values take {len(groups)} runs over the samples within the memory allowed, "
                "and an iterator gives them once",
                "give a list, a file or a function, or allow more memory",
            )
        for number, group in enumerate(groups):
            if number:
                samples = feeds(data, self._model.inputs, batch)
                first = next(samples)
            self._run(itertools.chain([first], samples), group, number == 0, progress, count)
        statistics = self.calibration.statistics
        if statistics.is_empty:
            raise refusal(
                "SX1834",
                "the samples have no elements",
                "give samples with a size of one at least in each dimension",
            )
        bad = statistics.not_finite
        if bad:
            raise refusal(
                "SX1834",
                f"values of the model are NaN or infinite on these samples: {', '.join(bad[:4])}",
                "give samples that the model computes finite numbers of",
            )

    def _groups(self, feed: Feed) -> list[list[str]]:
        """Values that are observed in the same run."""
        observed = self.calibration.observed
        dims = {name: list(value.shape) for name, value in feed.items()}
        sizes = self.calibration.bytes(self._model.native(), dims)
        if all(size >= 0 for size in sizes):
            self._model.expect(sum(sizes))
        if self._memory is None:
            return [observed]
        groups: list[list[str]] = []
        used = 0
        for name, size in zip(observed, sizes, strict=True):
            needed = self._memory if size < 0 else size
            if not groups or used + needed > self._memory:
                groups.append([])
                used = 0
            groups[-1].append(name)
            used += needed
        return groups or [[]]

    def _run(
        self,
        samples: Iterable[Feed],
        observed: list[str],
        is_first: bool,
        progress: Progress | None,
        count: int | None,
    ) -> None:
        names = [*self._model.outputs, *observed]
        session = self._model.session(outputs=observed)
        for number, feed in enumerate(samples, start=1):
            values = run(session, feed, names)
            outputs = len(self._model.outputs)
            for name, value in zip(observed, values[outputs:], strict=True):
                self.calibration.add(name, value)
            if not is_first:
                continue
            self.calibration.count_sample()
            self._keep(feed, values[:outputs])
            if progress is not None:
                progress(number, count)

    def _keep(self, feed: Feed, outputs: list[Array]) -> None:
        kept = itertools.chain(feed.values(), outputs)
        size = sum(each.nbytes for each in kept)
        if len(self.feeds) < _KEPT_FEEDS and size * (len(self.feeds) + 1) <= _KEPT_BYTES:
            self.feeds.append(feed)
            self.outputs.append(outputs)


def calibrate(
    model: Any,
    data: Any,
    *,
    scheme: str | None = None,
    runtime: str = "onnxruntime-cpu",
    keep: Iterable[str] = (),
    batch: int = 1,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Statistics:
    """Runs a model on samples, and keeps how its values are distributed.

    Args:
        model: as in `sardonyx.quantize`.
        data: as in `sardonyx.quantize`.
        scheme: as in `sardonyx.quantize`.
        runtime: as in `sardonyx.quantize`; it decides which values are observed.
        keep: as in `sardonyx.quantize`.
        batch: samples of an array that are run at once, where the model's first dimension is
            dynamic.
        memory: bytes that observed values may take at once; the model runs several times over the
            samples where all take more.
        progress: called with the samples run so far, and their number, if that is known.

    Returns:
        The statistics, for `sardonyx.quantize(stats=...)`.

    Raises:
        UsageError: the samples do not fit the model (SX1834), or there is no such target.
        ConversionError: the model is quantized already (SX1831).
    """
    options = Quantization(
        scheme=scheme or "", runtime=runtime, keep=patterns(keep), round_adaptively=False,
        memory=memory, equalize="never", smooth="never",
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="sardonyx-") as folder:
        source = FloatModel(model, options.native().opset, Path(folder))
        count = count_of(data)
        observation = Observation(source, options, count)
        observation.run(data, batch, progress, count)
        return Statistics(observation.calibration.statistics)


def patterns(names: Iterable[str]) -> tuple[str, ...]:
    """One pattern, or several."""
    return (names,) if isinstance(names, str) else tuple(names)
