"""Samples of any kind as feeds of a model: what does not fit the model is one error."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import traceback
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sardonyx._base.errors import (
    OnnxExporterError,
    OnnxExporterWarning,
    UsageError,
    refusal,
    usage_error,
)

Array = npt.NDArray[Any]
Feed = dict[str, Array]

_HELP = "give arrays or tensors by the names, shapes and types of the model's inputs"


class Input(NamedTuple):
    """An input of the model; a size is None where any is taken."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...] | None


def feeds(data: Any, inputs: Sequence[Input], batch: int = 1) -> Iterator[Feed]:
    """The feeds of all samples, in order.

    Raises SX1834 for samples that the model cannot take, or none at all.
    """
    count = 0
    for count, sample in enumerate(_samples(data, inputs, batch), start=1):
        yield _feed(sample, inputs, count)
    if count == 0:
        raise _misfit("there are no samples")


@dataclass(frozen=True)
class RandomSamples:
    """So many samples of a normal distribution, and integers 0 and 1; dynamic sizes are 1."""

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise usage_error(f"random samples are one at least, not {self.count}")

    def __len__(self) -> int:
        return self.count

    def of(self, inputs: Sequence[Input]) -> Iterator[Feed]:
        """The samples; they are the same each time."""
        warnings.warn(
            "the samples are random: how exact the quantized model is on real data is not known",
            OnnxExporterWarning,
            stacklevel=2,
        )
        random = np.random.default_rng(0)
        for _ in range(self.count):
            yield {each.name: _random(each, random) for each in inputs}


def _random(wanted: Input, random: np.random.Generator) -> Array:
    shape = [1 if size is None else size for size in wanted.shape or ()]
    is_float = wanted.dtype.kind == "f"
    made = random.standard_normal(shape) if is_float else random.integers(0, 2, shape)
    return np.asarray(made).astype(wanted.dtype)


def count_of(data: Any) -> int | None:
    """How many samples there are, where that is known without reading them."""
    if isinstance(data, (str, os.PathLike, Mapping)):
        return None
    try:
        return len(data)
    except TypeError:
        return None


def _misfit(message: str) -> OnnxExporterError:
    return refusal("SX1834", message, _HELP, UsageError)


def _samples(data: Any, inputs: Sequence[Input], batch: int) -> Iterator[Any]:
    if isinstance(data, RandomSamples):
        yield from data.of(inputs)
    elif isinstance(data, (str, os.PathLike)):
        yield from _of_path(os.fspath(data), inputs, batch)
    elif isinstance(data, Mapping):
        yield from _split(data, inputs, batch)
    elif callable(data):
        yield from _iterable(data(), getattr(data, "__name__", "the function"))
    elif isinstance(data, Iterable):
        yield from data
    elif hasattr(data, "__getitem__") and hasattr(data, "__len__"):  # a Dataset of PyTorch
        yield from (data[i] for i in range(len(data)))
    else:
        raise _misfit(f"samples are no {type(data).__name__}")


def _of_path(text: str, inputs: Sequence[Input], batch: int) -> Iterator[Any]:
    script, colon, function = text.rpartition(":")
    if colon and script.endswith(".py"):
        yield from _called(Path(script), function)
        return
    path = Path(text)
    if path.is_dir():
        yield from _of_folder(path, inputs)
    elif not path.is_file():
        raise usage_error(
            f"there is no file or folder {path}",
            "name an .npz file, a folder of .npy or .npz files, or script.py:function",
        )
    else:
        yield from _split(_loaded(path), inputs, batch)


def _called(script: Path, function: str) -> Iterator[Any]:
    if not script.is_file():
        raise usage_error(f"there is no file {script}")
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(script.stem, module)
    with _errors_of(script):
        spec.loader.exec_module(module)
    if not callable(made := getattr(module, function, None)):
        raise usage_error(f"{script} has no function {function}")
    with _errors_of(script):
        samples = made()
    iterator = iter(_iterable(samples, f"{function} of {script}"))
    while True:
        with _errors_of(script):
            try:
                sample = next(iterator)
            except StopIteration:
                return
        yield sample


@contextlib.contextmanager
def _errors_of(script: Path) -> Iterator[None]:
    """What the user's script raises, with the last of its lines that led there."""
    try:
        yield
    except Exception as error:
        lines = [
            each.lineno
            for each in traceback.extract_tb(error.__traceback__)
            if Path(each.filename) == script
        ]
        line = f":{lines[-1]}" if lines else ""
        raise _misfit(f"{script}{line} raises {type(error).__name__}: {error}") from error


def _iterable(samples: Any, function: str) -> Iterable[Any]:
    if not isinstance(samples, Iterable):
        raise _misfit(f"{function} gives no samples, but {type(samples).__name__}")
    return samples


def _of_folder(folder: Path, inputs: Sequence[Input]) -> Iterator[Any]:
    """Each file is a sample: an .npz of all inputs, or an .npy of the model's only one."""
    for file in sorted(folder.iterdir()):
        if file.suffix == ".npz":
            yield _loaded(file)
        elif file.suffix == ".npy":
            loaded = _loaded(file)
            array = next(iter(loaded.values()))
            if len(inputs) != 1:
                names = ", ".join(each.name for each in inputs)
                raise _misfit(f"{file} is of one input, and the model has several: {names}")
            yield {inputs[0].name: array}


def _loaded(path: Path) -> dict[str, Array]:
    try:
        loaded = np.load(path)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise _misfit(f"{path}: {error}") from error


def _split(arrays: Mapping[str, Any], inputs: Sequence[Input], batch: int) -> Iterator[Feed]:
    """Samples of arrays that hold all of them along their first axis."""
    if set(arrays) == {""} and len(inputs) == 1:
        arrays = {inputs[0].name: arrays[""]}
    held = {name: _array(value) for name, value in arrays.items()}
    lengths = {
        len(held[each.name]) for each in inputs if each.name in held and held[each.name].ndim
    }
    if not lengths or any(each.name not in held for each in inputs):
        yield held  # the first check names what is missing
        return
    if len(lengths) > 1:
        raise _misfit(f"arrays of different numbers of samples: {sorted(lengths)}")
    begin, count = 0, lengths.pop()
    while begin < count:
        sample, step = {}, 1
        for each in inputs:
            array = held[each.name]
            is_batched = each.shape is None or len(each.shape) == array.ndim
            if is_batched:
                declared = each.shape[0] if each.shape else None
                step = batch if declared is None else max(declared, 1)
                sample[each.name] = array[begin : begin + step]
            else:
                sample[each.name] = array[begin]
        yield sample
        begin += step


def _array(value: Any) -> Array:
    if hasattr(value, "detach"):  # a tensor of PyTorch
        try:
            value = value.detach().cpu().numpy()
        except (TypeError, RuntimeError) as error:
            raise _misfit(f"a tensor of {value.dtype} has no array: {error}") from error
    return np.asarray(value)


def _feed(sample: Any, inputs: Sequence[Input], number: int) -> Feed:
    if not isinstance(sample, Mapping):
        parts = list(sample) if isinstance(sample, (tuple, list)) else [sample]
        if len(parts) < len(inputs):
            raise _misfit(
                f"sample {number} has {len(parts)} values, and the model {len(inputs)} inputs: "
                + ", ".join(each.name for each in inputs)
            )
        # What follows the inputs are labels.
        sample = {each.name: part for each, part in zip(inputs, parts, strict=False)}
    return {each.name: _fitting(each, sample, number) for each in inputs}


def _fitting(wanted: Input, sample: Mapping[str, Any], number: int) -> Array:
    if wanted.name not in sample:
        names = ", ".join(map(str, sample)) or "nothing"
        raise _misfit(f"sample {number} has no input '{wanted.name}': it has {names}")
    value = sample[wanted.name]
    array = _array(value)
    if isinstance(value, (int, float, list)):
        array = array.astype(wanted.dtype)
    if array.dtype.kind == "U" and wanted.dtype.kind == "O":
        array = array.astype(object)  # strings, as the runtime takes them
    where = f"input '{wanted.name}' of sample {number}"
    if array.dtype != wanted.dtype:
        raise _misfit(f"{where} is of {array.dtype}, and the model takes {wanted.dtype}")
    if wanted.shape is not None:
        if array.ndim + 1 == len(wanted.shape) and wanted.shape[0] in {None, 1}:
            array = array[np.newaxis]
        fits = array.ndim == len(wanted.shape) and all(
            size in {None, real} for size, real in zip(wanted.shape, array.shape, strict=True)
        )
        if not fits:
            declared = ", ".join("?" if size is None else str(size) for size in wanted.shape)
            raise _misfit(
                f"{where} is of shape {list(array.shape)}, and the model takes [{declared}]"
            )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise _misfit(f"{where} holds NaN or infinite numbers")
    return np.ascontiguousarray(array)
