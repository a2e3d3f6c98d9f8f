"""The optimizers, each a function from one file to another; run in the Python that has it.

python bench/optimizers/tools.py onnxslim in.onnx out.onnx [model type]
python bench/optimizers/tools.py onnxslim --several folder
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MARK = "tool result: "


def sardonyx(source: str, target: str, _kind: str) -> None:
    import sardonyx

    sardonyx.optimize(source, target)


def sardonyx_cpu(source: str, target: str, _kind: str) -> None:
    import sardonyx

    sardonyx.optimize(source, target, runtime="onnxruntime-cpu")


def onnxslim(source: str, target: str, _kind: str) -> None:
    import onnxslim

    onnxslim.slim(source, target)


def onnxsim(source: str, target: str, _kind: str) -> None:
    import onnx
    import onnxsim

    model, _ = onnxsim.simplify(source)
    onnx.save(model, target)


def onnxoptimizer(source: str, target: str, _kind: str) -> None:
    import onnx
    import onnxoptimizer

    passes = onnxoptimizer.get_fuse_and_elimination_passes()
    onnx.save(onnxoptimizer.optimize(onnx.load(source), passes, fixed_point=True), target)


def onnxscript(source: str, target: str, _kind: str) -> None:
    import onnx_ir
    import onnxscript.optimizer

    model = onnx_ir.load(source)
    onnxscript.optimizer.optimize(model)
    # Where weights lay beside the source, they would be looked for beside the target.
    outside = Path(source + ".data").exists()
    onnx_ir.save(model, target, external_data=Path(target).name + ".data" if outside else None)


def transformers(source: str, target: str, kind: str) -> None:
    from onnxruntime.transformers import optimizer

    optimizer.optimize_model(source, model_type=kind or "bert", opt_level=0).save_model_to_file(
        target
    )


TOOLS: dict[str, Callable[[str, str, str], None]] = {
    "sardonyx": sardonyx,
    "sardonyx cpu": sardonyx_cpu,
    "onnxslim": onnxslim,
    "onnxsim": onnxsim,
    "onnxoptimizer": onnxoptimizer,
    "onnxscript": onnxscript,
    "ort transformers": transformers,
}
# These may emit contrib operators.
OF_RUNTIME = ("sardonyx cpu", "ort transformers")

_IMPORTS = {
    "sardonyx": "sardonyx._native",
    "sardonyx cpu": "sardonyx._native",
    "onnxscript": "onnxscript.optimizer",
    "ort transformers": "onnxruntime.transformers.optimizer",
}


def one(tool: str, source: str, target: str, kind: str) -> dict[str, Any]:
    """Seconds of the quickest of some runs, and the most memory that the first took."""
    from bench.memory import Watch

    times = []
    with Watch() as watch:
        times.append(_seconds(tool, source, target, kind))
    while sum(times) < (10 if len(times) < 3 else 1) and len(times) < 5:
        times.append(_seconds(tool, source, target, kind))
    return {"seconds": min(times), "megabytes": watch.growth / 1e3}


def several(tool: str, folder: Path) -> dict[str, Any]:
    """Every model of a folder, each to `<name>.<tool>.onnx`; what went wrong by name."""
    failed, seconds = {}, 0.0
    for source in sorted(folder.glob("*.onnx")):
        target = folder / tool.replace(" ", "-") / source.name
        target.parent.mkdir(exist_ok=True)
        try:
            seconds += _seconds(tool, str(source), str(target), "")
        except Exception as error:
            failed[source.stem] = f"{type(error).__name__}: {error}"[:200]
    return {"seconds": seconds, "failed": failed}


def _seconds(tool: str, source: str, target: str, kind: str) -> float:
    began = time.perf_counter()
    TOOLS[tool](source, target, kind)
    return time.perf_counter() - began


def main() -> None:
    import importlib

    tool = sys.argv[1]
    importlib.import_module(_IMPORTS.get(tool, tool))
    if sys.argv[2] == "--several":
        result = several(tool, Path(sys.argv[3]))
    else:
        result = one(tool, *sys.argv[2:5])
    print(MARK + json.dumps(result))


if __name__ == "__main__":
    # Beside this file stands nothing that a peer might import by mistake.
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    main()
