"""Static quantization next to ONNX Runtime's quantize_static: `make bench-quantize`.

Small models are trained here on data that is drawn here, so that accuracy means something. Each is
quantized from the same samples, and measured on others: signal to noise of the outputs, accuracy,
CPU seconds, and the CPU time of a batch next to the model in float. Trained models are kept in
.cache/bench-quantize. Peers that are not installed are left out: onnxsim, NNCF.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import torch
from onnx import helper, numpy_helper
from torch import nn

import sardonyx

Arrays = dict[str, npt.NDArray[Any]]

# Digits of five by seven points, a row in an octal pair.
_GLYPHS = (
    "0e11191511130e 040c040404040e 0e11010204081f 1f02040201110e 02060a121f0202",
    "1f101e0101110e 0608101e11110e 1f010204080808 0e11110e11110e 0e11110f01020c",
)


def glyphs() -> torch.Tensor:
    """Ten pictures, [10, 7, 5]."""
    rows = [bytes.fromhex(each) for text in _GLYPHS for each in text.split()]
    bits = [[[row >> (4 - i) & 1 for i in range(5)] for row in glyph] for glyph in rows]
    return torch.tensor(bits, dtype=torch.float32)


def digits(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Digits somewhere in a picture of 32 points, scaled, dimmed and noisy."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (count,), generator=random)
    pictures = glyphs()[labels][:, None]
    angle = torch.randn(count, generator=random) * 0.25
    size = 1.4 + torch.rand(count, generator=random) * 1.2
    shift = torch.randn(count, 2, generator=random) * 0.3
    rows = torch.stack([angle.cos() * size * 1.4, -angle.sin() * size, shift[:, 0]], 1)
    columns = torch.stack([angle.sin() * size, angle.cos() * size, shift[:, 1]], 1)
    grid = nn.functional.affine_grid(
        torch.stack([rows, columns], 1), [count, 1, 32, 32], align_corners=False
    )
    drawn = nn.functional.grid_sample(pictures, grid, align_corners=False)
    contrast = 0.5 + torch.rand(count, 1, 1, 1, generator=random)
    noise = torch.randn(count, 1, 32, 32, generator=random) * 0.15
    return drawn * contrast + noise, labels


def sentences(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens of ten topics, a fifth and more of them of one, which is the label."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (count,), generator=random)
    tokens = torch.randint(0, 40, (count, 24), generator=random)
    of_topic = labels[:, None] + 10 * torch.randint(0, 4, (count, 24), generator=random)
    is_of_topic = torch.rand(count, 24, generator=random) < 0.2
    return torch.where(is_of_topic, of_topic, tokens), labels


def scenes(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A digit in a picture of 48 points; labels are its class, center and size, as parts of it."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (count,), generator=random)
    size = 0.3 + torch.rand(count, generator=random) * 0.3
    place = (torch.rand(count, 2, generator=random) - 0.5) * (2 - 2 * size[:, None])
    zero = torch.zeros(count)
    rows = torch.stack([1 / size, zero, -place[:, 0] / size], 1)
    columns = torch.stack([zero, 1 / size, -place[:, 1] / size], 1)
    grid = nn.functional.affine_grid(
        torch.stack([rows, columns], 1), [count, 1, 48, 48], align_corners=False
    )
    drawn = nn.functional.grid_sample(glyphs()[labels][:, None], grid, align_corners=False)
    noise = torch.randn(count, 1, 48, 48, generator=random) * 0.1
    boxes = torch.cat([labels[:, None].float(), place / 2 + 0.5, size[:, None]], 1)
    return drawn + noise, boxes


def convolution(inputs: int, outputs: int, stride: int = 1, size: int = 3) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs)
    )


class Residual(nn.Module):
    """Two convolutions, and what goes around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = convolution(inputs, outputs, stride)
        self.second = convolution(outputs, outputs)
        is_same = stride == 1 and inputs == outputs
        self.skip = nn.Identity() if is_same else convolution(inputs, outputs, stride, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """A picture of the same size, or of half of it."""
        y = self.second(torch.relu(self.first(x)))
        return torch.relu(y + self.skip(x))


def resnet(widths: list[int], blocks: int, inputs: int, classes: int, stem: int) -> nn.Module:
    layers: list[nn.Module] = [
        convolution(inputs, widths[0], 2 if stem > 3 else 1, stem),
        nn.ReLU(),
    ]
    if stem > 3:
        layers.append(nn.MaxPool2d(3, 2, 1))
    before = widths[0]
    for i, width in enumerate(widths):
        for block in range(blocks):
            layers.append(Residual(before, width, 2 if i and not block else 1))
            before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))


class MobileNet(nn.Module):
    """Depthwise convolutions with ReLU6."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [convolution(1, 16, 2), nn.ReLU6()]
        for inputs, outputs, stride in ((16, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2)):
            depthwise = nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False)
            layers += [depthwise, nn.BatchNorm2d(inputs), nn.ReLU6()]
            layers += [*convolution(inputs, outputs, 1, 1), nn.ReLU6()]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of each class."""
        scores: torch.Tensor = self.head(self.layers(x).mean((2, 3)))
        return scores


class Transformer(nn.Module):
    """An encoder over patches of pictures, or over tokens."""

    def __init__(self, *, of_tokens: bool) -> None:
        super().__init__()
        width = 128
        self.embedding: nn.Module = (
            nn.Embedding(42, width) if of_tokens else nn.Conv2d(1, width, 8, 8)
        )
        self.positions = nn.Parameter(torch.randn(1, 24 if of_tokens else 16, width) * 0.1)
        layer = nn.TransformerEncoderLayer(
            width, 4, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of each class."""
        embedded = self.embedding(x)
        if embedded.ndim == 4:
            embedded = embedded.flatten(2).transpose(1, 2)
        scores: torch.Tensor = self.head(self.encoder(embedded + self.positions).mean(1))
        return scores


class Recurrent(nn.Module):
    """An LSTM over the rows of a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of each class."""
        scores: torch.Tensor = self.layers(self.lstm(x.squeeze(1))[0][:, -1])
        return scores


class Detector(nn.Module):
    """Classes and a box, of a pyramid of two sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(convolution(1, 16, 2), nn.SiLU(), Residual(16, 32, 2))
        self.deep = Residual(32, 64, 2)
        self.lateral = convolution(64, 32, 1, 1)
        self.merged = nn.Sequential(
            convolution(64, 32), nn.ReLU(), convolution(32, 32, 2), nn.ReLU()
        )
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(32 * 36, 96), nn.ReLU(), nn.Linear(96, 13)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Ten classes, then center and size."""
        x = self.stem(x)
        deep = nn.functional.interpolate(self.lateral(self.deep(x)), scale_factor=2.0)
        found: torch.Tensor = self.head(self.merged(torch.cat([x, deep], 1)))
        return torch.cat([found[:, :10], found[:, 10:].sigmoid()], 1)


def class_loss(found: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(found, labels)


def box_loss(found: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    boxes = nn.functional.smooth_l1_loss(found[:, 10:], labels[:, 1:])
    return class_loss(found[:, :10], labels[:, 0].long()) + 20 * boxes


def classes(found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Of each sample; what follows the scores of the classes is a box."""
    best: npt.NDArray[Any] = found[:, :10].argmax(1)
    return best


def classified(found: npt.NDArray[Any], labels: npt.NDArray[Any]) -> float:
    """The share whose class is right."""
    return float((classes(found) == labels).mean())


def detected(found: npt.NDArray[Any], labels: npt.NDArray[Any]) -> float:
    """The share whose class is right and whose box overlaps by a half."""
    low = [each[:, 1:3] - each[:, 3:] / 2 for each in (found[:, 9:], labels)]
    high = [each[:, 1:3] + each[:, 3:] / 2 for each in (found[:, 9:], labels)]
    common = np.maximum(np.minimum(*high) - np.maximum(*low), 0).prod(1)
    areas = [(b - a).prod(1) for a, b in zip(low, high, strict=True)]
    overlap = common / (areas[0] + areas[1] - common)
    right = classes(found) == labels[:, 0]
    return float((right & (overlap > 0.5)).mean())


@dataclass
class Subject:
    """A model, and what it is trained on; None: not at all."""

    name: str
    make: Callable[[], nn.Module]
    data: Callable[[int, int], tuple[torch.Tensor, torch.Tensor]] | None = digits
    steps: int = 200
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = class_loss
    accuracy: Callable[[npt.NDArray[Any], npt.NDArray[Any]], float] = classified


SUBJECTS = (
    Subject("resnet", lambda: resnet([16, 32, 64], 2, 1, 10, 3), steps=400),
    Subject("mobilenet", MobileNet, steps=600),
    Subject("vit", lambda: Transformer(of_tokens=False), steps=200),
    Subject("bert", lambda: Transformer(of_tokens=True), sentences, 200),
    Subject("lstm", Recurrent, steps=1500),
    Subject("detector", Detector, scenes, 300, box_loss, detected),
    Subject("resnet18-random", lambda: resnet([64, 128, 256, 512], 2, 3, 1000, 7), None),
)


_CACHE = Path(".cache/bench-quantize")
_BATCH = 32
# Samples to measure on. Of the accuracy of 4 000, a tenth of a percent is noise; of 500 it is one.
_OTHERS = 4000


def trained(subject: Subject) -> nn.Module:
    """The model, from the cache where it is there."""
    torch.manual_seed(0)
    model = subject.make()
    kept = _CACHE / f"{subject.name}-{subject.steps}.pt"
    if kept.is_file():
        model.load_state_dict(torch.load(kept))
        return model.eval()
    if subject.data is None:  # statistics of normalization settle
        with torch.no_grad():
            for _ in range(20):
                model(torch.rand(16, 3, 64, 64))
    else:
        torch.set_num_threads(1)  # or sums, and with them the models, would differ by the machine
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        for step in range(subject.steps):
            x, labels = subject.data(_BATCH, step)
            optimizer.zero_grad()
            subject.loss(model(x), labels).backward()
            optimizer.step()
    _CACHE.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), kept)
    return model.eval()


def data_of(subject: Subject) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """(samples to calibrate on, others, labels of these)."""
    if subject.data is None:
        samples = torch.rand(32, 3, 64, 64, generator=torch.Generator().manual_seed(1))
        return samples[:16], samples[16:], None
    x, labels = subject.data(_OTHERS, 1_000_000)
    return subject.data(64, 1_000_001)[0], x, labels


@dataclass
class Result:
    """A row of the table."""

    model: str
    tool: str
    snr: float
    accuracy: float | None
    same: float | None  # the share of samples that get the class of the model in float
    seconds: float
    speedup: float


def session(path: Path, threads: int = 0) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def outputs(path: Path, name: str, x: torch.Tensor) -> npt.NDArray[Any]:
    runner = session(path)
    return np.concatenate([runner.run(None, {name: part.numpy()})[0] for part in x.split(16)])


def speedup(before: Path, after: Path, name: str, x: torch.Tensor) -> float:
    """Of the least CPU time of a batch of 16 on one thread, in interleaved runs."""
    runners = [session(each, 1) for each in (before, after)]
    least = [float("inf")] * 2
    for _ in range(40):
        for i, runner in enumerate(runners):
            begin = time.process_time()
            runner.run(None, {name: x[:16].numpy()})
            least[i] = min(least[i], time.process_time() - begin)
    return least[0] / least[1]


def feeds_of(name: str, samples: torch.Tensor) -> list[Arrays]:
    return [{name: part.numpy()} for part in samples.split(1)]


def with_onnxsim(source: Path, out: Path, name: str, samples: torch.Tensor) -> None:
    import onnxsim

    made = onnxsim.quantize_static(str(source), feeds_of(name, samples), method="mse")
    made = onnxsim.correct_bias(str(source), made, feeds_of(name, samples))
    onnx.save(made, out)


def with_nncf(source: Path, out: Path, name: str, samples: torch.Tensor) -> None:
    import nncf

    def quantized(fast_bias_correction: bool) -> onnx.ModelProto:
        data = nncf.Dataset(feeds_of(name, samples))
        return nncf.quantize(
            onnx.load(source),
            data,
            subset_size=len(samples),
            fast_bias_correction=fast_bias_correction,
        )

    try:
        made = quantized(fast_bias_correction=False)
    except RuntimeError:  # of NNCF 3.4, whose exact correction cuts residual models in two wrongly
        made = quantized(fast_bias_correction=True)
    onnx.save(made, out)


def with_sardonyx(source: Path, out: Path, _: str, samples: torch.Tensor) -> None:
    sardonyx.quantize(source, samples.split(1), out)


def with_onnxruntime(method: str) -> Callable[[Path, Path, str, torch.Tensor], None]:
    def quantize(source: Path, out: Path, name: str, samples: torch.Tensor) -> None:
        from onnxruntime import quantization
        from onnxruntime.quantization.shape_inference import quant_pre_process

        class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]  # has no types
            def __init__(self) -> None:
                self.rest: Iterator[torch.Tensor] = iter(samples.split(1))

            def get_next(self) -> Arrays | None:
                sample = next(self.rest, None)
                return None if sample is None else {name: sample.numpy()}

        prepared = out.with_suffix(".prepared.onnx")
        try:
            quant_pre_process(str(source), str(prepared))
        except Exception:  # of what its symbolic inference does not know
            quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        quantization.quantize_static(
            str(prepared),
            str(out),
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            calibrate_method=getattr(quantization.CalibrationMethod, method),
        )

    return quantize


TOOLS = {
    "sardonyx": with_sardonyx,
    "onnxruntime MinMax": with_onnxruntime("MinMax"),
    "onnxruntime Percentile": with_onnxruntime("Percentile"),
    "onnxruntime Entropy": with_onnxruntime("Entropy"),
    "onnxsim": with_onnxsim,
    "nncf": with_nncf,
}


def compare(subject: Subject, folder: Path) -> Iterator[Result]:
    model = trained(subject)
    samples, others, labels = data_of(subject)
    source = folder / f"{subject.name}.onnx"
    program = sardonyx.export(model, (others[:2],), dynamic_shapes=({0: "batch"},))
    program.save(source)
    name = session(source).get_inputs()[0].name
    exact = outputs(source, name, others)
    accuracy = None if labels is None else subject.accuracy(exact, labels.numpy())
    same = None if labels is None else 1.0
    yield Result(subject.name, "float32", float("inf"), accuracy, same, 0, 1)
    for tool, quantize in TOOLS.items():
        out = folder / f"{subject.name}-{tool.replace(' ', '-')}.onnx"
        begin = time.process_time()
        try:
            # Some peers leave files in the working folder.
            with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(folder):
                quantize(source, out, name, samples)
        except ImportError:
            continue
        except Exception as error:  # of whatever the other tool raises
            print(f"{subject.name}: {tool}: {error}", file=sys.stderr)
            continue
        seconds = time.process_time() - begin
        found = outputs(out, name, others)
        noise = float(((found - exact) ** 2).sum() / (exact**2).sum())
        accuracy = None if labels is None else subject.accuracy(found, labels.numpy())
        same = None if labels is None else float((classes(found) == classes(exact)).mean())
        decibels = float(-10 * np.log10(max(noise, 1e-20)))
        faster = speedup(source, out, name, others)
        yield Result(subject.name, tool, decibels, accuracy, same, seconds, faster)


def figures_of(results: list[Result]) -> dict[str, Any]:
    """The table of the pages; of ONNX Runtime's methods the one of the best signal to noise."""
    rows = []
    for model in dict.fromkeys(each.model for each in results):
        own = [each for each in results if each.model == model]
        peers = [each for each in own if each.tool.startswith("onnxruntime")]
        best = max(peers, key=lambda each: each.snr, default=None)
        for each in own:
            if each in peers and each is not best:
                continue
            is_float = each.tool == "float32"
            rows.append(
                [
                    model,
                    each.tool,
                    None if is_float else f"{each.snr:.1f} dB",
                    None if each.accuracy is None else f"{each.accuracy:.1%}",
                    None if is_float or each.same is None else f"{each.same:.1%}",
                    None if is_float else f"{each.seconds:.2f} s",
                    None if is_float else f"{each.speedup:.2f}",
                ]
            )
    return {
        "about": "Signal to noise and accuracy on samples that were not calibrated on, how many of "
        "these get the class of the model in float, CPU time to quantize, and how many times "
        "faster than float32 a batch of 16 runs in ONNX Runtime on one thread, by CPU time. Of the "
        "methods of `quantize_static`, the best is shown.",
        "command": "make bench-quantize",
        "columns": [
            "model",
            "tool",
            "signal to noise",
            "accuracy",
            "same class",
            "CPU time",
            "speedup",
        ],
        "rows": rows,
    }


def load_tools() -> None:
    """What tools import and load once is no time of the first model."""
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 8])],
            [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 8])],
            [numpy_helper.from_array(np.eye(8, dtype=np.float32), "w")],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "m.onnx"
        onnx.save(model, source)
        for quantize in TOOLS.values():
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                quantize(source, Path(folder) / "q.onnx", "x", torch.randn(2, 8))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", nargs="+", help="some of the models")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument(
        "--figures", metavar="FILE", help="write the entry of docs/data/figures.json"
    )
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    load_tools()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for subject in SUBJECTS:
            if options.names and subject.name not in options.names:
                continue
            for each in compare(subject, Path(folder)):
                results.append(each)
                accuracy, same = (
                    "      -" if share is None else f"{share:7.2%}"
                    for share in (each.accuracy, each.same)
                )
                print(
                    f"{each.model:16} {each.tool:24} {each.snr:6.1f} dB {accuracy} {same} "
                    f"{each.seconds:6.2f} s {each.speedup:5.2f}x",
                    flush=True,
                )
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(each) for each in results], indent=1))
    if options.figures:
        Path(options.figures).write_text(json.dumps(figures_of(results), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
