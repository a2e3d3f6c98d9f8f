"""Checks that the C++ layers depend on each other only in the direction of the design.

Every `#include "..."` of a source file and every `DEPENDS` of a layer's CMakeLists.txt is compared
with `LAYERS`, and no folder under src/ may be missing from that table. Inside a layer that has
libraries of its own, `ROOMS` lists which of them may depend on which. Headers must not include each
other in a circle.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Layer(NamedTuple):
    """A folder under src/ and the layers it may know; those they know it may know too."""

    folder: str
    knows: tuple[str, ...] = ()


LAYERS: dict[str, Layer] = {
    "base": Layer("base"),
    "symbolic": Layer("symbolic", ("base",)),
    "program": Layer("program", ("base", "symbolic")),
    "kernels": Layer("kernels", ("base",)),
    "onnx": Layer("onnx", ("symbolic", "kernels")),
    "archive": Layer("frontends/archive", ("base",)),
    "checkpoints": Layer("frontends/checkpoints", ("archive", "kernels")),
    "pt2": Layer("frontends/pt2", ("archive", "program")),
    "live": Layer("frontends/live", ("program",)),
    "torchscript": Layer("frontends/torchscript", ("archive", "program")),
    "functionalize": Layer("functionalize", ("program",)),
    "aten": Layer("aten", ("program", "onnx")),
    "rewriting": Layer("rewriting", ("onnx",)),
    "passes": Layer("passes", ("rewriting",)),
    "targets": Layer("targets", ("rewriting",)),
    "precision": Layer("precision", ("rewriting",)),
    "quantization": Layer("quantization", ("targets", "precision")),
    "proto": Layer("proto", ("onnx",)),
    "report": Layer("report", ("base",)),
    "refresh": Layer("refresh", ("report", "precision", "proto")),
    "viewer": Layer("viewer", ("report", "proto")),
    "pipeline": Layer(
        "pipeline",
        (
            "pt2",
            "torchscript",
            "functionalize",
            "aten",
            "passes",
            "targets",
            "precision",
            "proto",
            "refresh",
        ),
    ),
    "api": Layer("api", ("report", "pipeline", "quantization")),
    "serve": Layer("serve", ("api", "report", "viewer", "checkpoints")),
    "cli": Layer("cli", ("serve",)),
    "wasm": Layer("wasm", ("serve",)),
}

# The rooms of a layer, each of which may include those before it and the headers of the layer's
# root. Headers of the root include no room; its sources put the rooms together.
ROOMS: dict[str, tuple[str, ...]] = {
    "program": ("schema", "ir", "facts", "inference", "text"),
    "proto": ("wire", "reader", "writer"),
    "functionalize": ("views", "calls", "writes"),
    "torchscript": (
        "syntax",
        "values",
        "archive",
        "recording",
        "builtins",
        "control_flow",
        "interpreter",
    ),
    "passes": (
        "transposition",
        "loops",
        "outlining",
        "rules/reshape",
        "rules/indexing",
        "rules/dense",
        "rules/activations",
        "rules/attention",
        "rules/constants",
        "rules/identities",
        "rules/normalization",
        "rules/padding",
        "rules/quantization",
        "rules/recurrence",
        "rules/sequences",
        "rules/weights",
    ),
    "onnx": ("operators", "graph", "infer", "fold", "emit", "definitions"),
    "aten": (
        "elementwise",
        "reduction",
        "shape",
        "creation",
        "ordering",
        "indexing",
        "complex",
        "matrices",
        "random",
        "special",
        "signal",
        "products",
        "losses",
        "quantization",
        "images",
        "gradients",
        "networks",
        "control_flow",
        "interop",
        "translation",
    ),
}

# What is generated stands together; here is whose it is.
GENERATED_ROOMS = {"onnx/gen/operators.h": "emit", "onnx/gen/operators.cpp": "emit"}
OTHER_GENERATED = "operators"

# Public headers hold no layer's internals. Every layer raises public diagnostics; the rest of the
# public interface is the outermost layers' business.
PUBLIC = {"sardonyx/diagnostic.h", "sardonyx/export.h"}
PUBLIC_TO_ALL_OF_IT = {"report", "refresh", "viewer", "pipeline", "api", "serve", "cli", "wasm"}

# Headers of a third party that only some layers may include.
RESTRICTED = {
    "nanobind/": {"live"},
    "Python.h": {"live"},
    "torch/": set[str](),
    "google/protobuf/": set[str](),
    "protozero/": {"proto"},
    "CLI/": {"cli"},
    "httplib.h": {"serve"},
    "hwy/": {"kernels"},
    "simdjson": {
        "program",
        "archive",
        "checkpoints",
        "pt2",
        "refresh",
        "quantization",
        "viewer",
    },
}

# Layers in which no runtime is named, in code or comments.
RUNTIME_FREE = {"symbolic", "program", "functionalize", "aten", "onnx", "rewriting", "passes"}
RUNTIME_FREE |= {"precision", "pipeline"}
RUNTIME = re.compile(r"ONNX ?Runtime|\"?onnxruntime|OpenVINO|TensorRT|tensorrt")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
KEYWORDS = {"USES", "PRECOMPILE", "JOINED", "ALONE"}  # what may follow DEPENDS
LAYER_CALL = re.compile(r"sardonyx_layer\(([^)]*)\)")


def known(name: str) -> set[str]:
    """The layer itself and everything it may know, directly or not."""
    found = {name}
    for other in LAYERS[name].knows:
        found |= known(other)
    return found


def layer_of(path: str) -> str | None:
    """The layer whose folder holds `path`, relative to src/."""
    for name, layer in LAYERS.items():
        if path.startswith(layer.folder + "/"):
            return name
    return None


def check_includes(source: Path, file: Path, name: str) -> Iterator[str]:
    """Complaints about the #includes of one file of the layer `name`."""
    allowed = known(name)
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        place = f"{file}:{number}"
        if target.startswith("sardonyx/"):
            if target not in PUBLIC and name not in PUBLIC_TO_ALL_OF_IT:
                yield f"{place}: layer {name} must not include {target}"
        elif quote == '"':
            other = layer_of(target)
            if other is None and not (file.parent / target).exists():
                yield f"{place}: {target} is in no layer; includes are written from src/"
            elif other is None:
                yield f"{place}: write {(file.parent / target).relative_to(source)} from src/"
            elif other not in allowed:
                yield f"{place}: layer {name} must not know layer {other} ({target})"
        for prefix, layers in RESTRICTED.items():
            if target.startswith(prefix) and name not in layers:
                yield f"{place}: layer {name} must not include <{target}>"


def room_of(path: str, name: str) -> str:
    """The room of `path`, relative to src/, in its layer; empty at the layer's root."""
    room = path.removeprefix(LAYERS[name].folder + "/").rpartition("/")[0]
    if room == "gen":
        return GENERATED_ROOMS.get(path, OTHER_GENERATED)
    return room.removesuffix("/gen")


def check_rooms(source: Path, file: Path, name: str) -> Iterator[str]:
    """Complaints about the #includes between the rooms of the layer `name`."""
    rooms = ROOMS.get(name)
    if rooms is None or file.name.endswith("_test.cpp"):
        return
    own = room_of(file.relative_to(source).as_posix(), name)
    if own and own not in rooms:
        yield f"{file}: room {own} of {name} is not in the table of {Path(__file__).name}"
        return
    if not own and file.suffix == ".cpp":
        return
    may_know = rooms[: rooms.index(own) + 1] if own else ()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match or layer_of(match[2]) != name:
            continue
        other = room_of(match[2], name)
        if other and other not in may_know:
            yield f"{file}:{number}: {own or 'the root'} of {name} must not know {other}"


def check_runtimes(file: Path, name: str) -> Iterator[str]:
    """Complaints about runtimes that are named where their table is not: what a runtime can do and
    what it is slow at stands in targets/."""
    if name not in RUNTIME_FREE or file.name.endswith("_test.cpp"):
        return
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if match := RUNTIME.search(line):
            yield f"{file}:{number}: layer {name} must not name {match[0]}: that is for targets/"


def check_circles(source: Path) -> Iterator[str]:
    """Complaints about headers that include each other in a circle."""
    includes = {}
    for file in source.rglob("*.h"):
        found = [INCLUDE.match(line) for line in file.read_text(encoding="utf-8").splitlines()]
        path = file.relative_to(source).as_posix()
        includes[path] = [match[2] for match in found if match and match[1] == '"']
    done: set[str] = set()

    def visit(path: str, way: tuple[str, ...]) -> Iterator[str]:
        if path in way:
            yield "a circle of headers: " + " -> ".join((*way[way.index(path) :], path))
        elif path not in done:
            for other in includes.get(path, ()):
                yield from visit(other, (*way, path))
            done.add(path)

    for path in sorted(includes):
        yield from visit(path, ())


def check_public(include: Path) -> Iterator[str]:
    """Complaints about public headers that include anything but each other and the standard;
    torch.h is for programs that have libtorch."""
    for file in sorted(include.rglob("*.h")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if file.name == "torch.h" and match and match[2].startswith("torch/"):
                continue
            if match and not re.fullmatch(r"sardonyx/\w+\.h|\w+|std(def|int)\.h", match[2]):
                yield f"{file}:{number}: a public header must not include {match[2]}"


def check_cmake(source: Path) -> Iterator[str]:
    """Complaints about what the CMakeLists.txt of the layers link."""
    for file in sorted(source.rglob("CMakeLists.txt")):
        for call in LAYER_CALL.findall(file.read_text(encoding="utf-8")):
            words = call.split()
            name = words[words.index("NAME") + 1]
            if name not in LAYERS:
                yield f"{file}: layer {name} is not in the table of {Path(__file__).name}"
                continue
            if file.parent != source / LAYERS[name].folder:
                yield f"{file}: layer {name} belongs in {LAYERS[name].folder}"
            depends = words[words.index("DEPENDS") + 1 :] if "DEPENDS" in words else []
            for other in itertools.takewhile(lambda word: word not in KEYWORDS, depends):
                if other not in known(name):
                    yield f"{file}: layer {name} must not link layer {other}"


def check(source: Path) -> list[str]:
    """Every complaint about the tree under `source` (the folder src/, beside include/)."""
    complaints = [*check_cmake(source), *check_public(source.parent / "include")]
    complaints.extend(check_circles(source))
    for file in sorted([*source.rglob("*.h"), *source.rglob("*.cpp"), *source.rglob("*.inc")]):
        name = layer_of(file.relative_to(source).as_posix())
        if name is None:
            complaints.append(f"{file}: is in no layer of the table of {Path(__file__).name}")
        else:
            complaints.extend(check_includes(source, file, name))
            complaints.extend(check_rooms(source, file, name))
            complaints.extend(check_runtimes(file, name))
    return complaints


def main() -> int:
    complaints = check(Path(__file__).resolve().parent.parent / "src")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"layers: {len(complaints)} violations of the drawn direction")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
