"""The checks of `make check` must be able to complain."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import check_diagnostics  # noqa: E402
import check_layers  # noqa: E402
import check_packages  # noqa: E402
import check_private_names  # noqa: E402
import check_torch_private  # noqa: E402
import check_tree  # noqa: E402
import check_words  # noqa: E402


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("file", "include", "complaint"),
    [
        ("onnx/graph/ir.h", '"base/dtype.h"', None),
        ("aten/call.h", '"symbolic/expr.h"', None),
        ("aten/call.cpp", "<vector>", None),
        ("onnx/graph/ir.h", '"program/ir/program.h"', "onnx must not know layer program"),
        ("passes/rule.cpp", '"aten/call.h"', "passes must not know layer aten"),
        ("frontends/archive/zip.cpp", '"onnx/graph/ir.h"', "archive must not know layer onnx"),
        ("proto/writer.cpp", '"aten/call.h"', "proto must not know layer aten"),
        ("base/x.h", '"nowhere/y.h"', "in no layer"),
        ("aten/linear.cpp", "<nanobind/nanobind.h>", "must not include"),
        ("aten/linear.cpp", '"sardonyx/diagnostic.h"', None),
        ("api/read.cpp", '"sardonyx/sardonyx.h"', None),
        ("aten/linear.cpp", '"sardonyx/sardonyx.h"', "must not include"),
        ("../include/sardonyx/sardonyx.h", '"base/dtype.h"', "a public header must not"),
        ("stray/x.h", "<vector>", "is in no layer"),
        ("aten/images/pooling.cpp", '"aten/elementwise/operands.h"', None),
        ("aten/images/pooling.cpp", '"aten/call.h"', None),
        ("aten/elementwise/power.cpp", '"aten/images/spatial.h"', "must not know images"),
        ("aten/call.h", '"aten/images/spatial.h"', "the root of aten must not know images"),
        ("onnx/infer/infer.cpp", '"onnx/emit/emit.h"', "infer of onnx must not know emit"),
        ("onnx/infer/infer_test.cpp", '"onnx/emit/emit.h"', None),
        ("onnx/rewrite/rule.cpp", "<vector>", "room rewrite of onnx is not in the table"),
        ("onnx/graph/ir.h", '"onnx/graph/ir.h"', "a circle of headers"),
    ],
)
def test_layers(tmp_path, file, include, complaint):
    write(tmp_path / "src" / file, f"#pragma once\n#include {include}\n")
    complaints = check_layers.check(tmp_path / "src")
    if complaint is None:
        assert complaints == []
    else:
        assert len(complaints) == 1
        assert complaint in complaints[0]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        ("NAME proto DEPENDS onnx USES protozero::protozero", None),
        ("NAME proto DEPENDS onnx aten USES fmt::fmt", "must not link layer aten"),
        ("NAME other", "not in the table"),
    ],
)
def test_linked_layers(tmp_path, call, complaint):
    write(tmp_path / "proto" / "CMakeLists.txt", f"sardonyx_layer({call})\n")
    complaints = check_layers.check(tmp_path)
    assert complaints == [] if complaint is None else complaint in complaints[0]


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("_model/program.py", "from sardonyx._base.errors import Diagnostic", None),
        ("_model/program.py", "from .ir import x", None),
        ("_model/program.py", "from sardonyx import _native", None),
        ("_model/program.py", "import torch", None),
        ("verification.py", "from ._export.export import export", None),
        ("__init__.py", "from . import verification", None),
        ("_base/errors.py", "import sardonyx._model.program", "_base must not know package _model"),
        ("_model/program.py", "from .._export import export", "must not know package _export"),
        ("_model/program.py", "from sardonyx import export", "must not import the root's __init__"),
        ("_model/program.py", "from sardonyx.verification import x", "the root's verification"),
        ("_new/x.py", "", "is in no package of the table"),
        ("other.py", "", "is in no package of the table"),
    ],
)
def test_packages(tmp_path, file, line, complaint):
    package = tmp_path / "sardonyx"
    for name in ("_base/errors", "_model/program", "_model/ir", "_export/export", "verification"):
        write(package / f"{name}.py", "")
    for indented in (line, f"if TYPE_CHECKING:\n    {line or 'pass'}"):
        write(package / file, indented + "\n")
        complaints = check_packages.check(package)
        assert len(complaints) == (complaint is not None)
        assert complaint is None or complaint in complaints[0]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("import torch", None),
        ("import torch._ops", "torch._ops is private"),
        ("from torch.utils import _pytree as pytree", "torch.utils._pytree is private"),
        ("from torch.export import _trace", "torch.export._trace is private"),
        ("from torch.fx.experimental.sym_node import SymNode", "SymNode is private"),
        ("importlib.import_module('torch._subclasses.fake_tensor')", "is private"),
        ("env._set_replacement(a, b)", "env._set_replacement is private"),
        ("x = torch._C._jit_get_all_schemas()", "torch._C is private"),
        ("schema = getattr(node.target, '_schema', None)", "asks for a private name"),
        ("name = model.config._name_or_path", "_name_or_path is private"),
        ("torch._check(x > 1)", None),
        ("torch.ops.aten._to_copy.default(x)", None),
        ("row._replace(name='x')", None),
        ("class A:\n    def _own(self):\n        return other._own()", None),
        ('"""It stands for torch._ops."""', None),
    ],
)
def test_private_names_of_torch(tmp_path, line, complaint):
    package = tmp_path / "sardonyx"
    write(package / "_torch_private/sizes.py", "env._set_replacement(target._schema)\n")
    write(package / "_model/x.py", f"{line}\n")
    complaints = check_torch_private.check(package)
    if complaint is None:
        assert complaints == []
    else:
        assert any(complaint in each for each in complaints)


def test_circles_of_imports(tmp_path):
    package = tmp_path / "sardonyx"
    write(package / "_base/a.py", "def later():\n    from .b import b\n")
    write(package / "_base/b.py", "from . import c\n")
    write(package / "_base/c.py", "from sardonyx._base.a import later\n")
    write(package / "_base/d.py", "from . import a, b, c\n")
    assert check_packages.check(package) == [
        "circle of imports: _base.a -> _base.b -> _base.c -> _base.a"
    ]


@pytest.mark.parametrize(
    ("line", "is_private"),
    [
        ("from transformers import AutoModel, __version__", False),
        ("import transformers.utils.logging", False),
        ("from transformers.utils import logging", False),
        ("transformers.utils.logging.disable_progress_bar()", False),
        ("from transformers.cache_utils import DynamicCache", True),
        ("import transformers.masking_utils", True),
        ("from transformers import masking_utils", True),
        ("transformers.masking_utils.create()", True),
        ("sys.modules.get('transformers.cache_utils')", True),
        ("'transformers is not installed'", False),
        ("import diffusers", False),
        ("from diffusers.models import attention", True),
        ("model._init_weights(module)", True),
        ("getattr(model, '_init_weights', None)", True),
        ("tensor._is_initialized = True", True),
        ("class A:\n    def _own(self): self._kept = self._own()", False),
        ("torch._C._functions()", False),
        ("from onnxruntime import InferenceSession", False),
        ("from onnxruntime.capi import _pybind_state", True),
        ("import_module('onnxruntime.capi.onnxruntime_pybind11_state')", True),
    ],
)
def test_private_names(tmp_path, line, is_private):
    package = tmp_path / "sardonyx"
    write(package / "hf/module.py", line + "\n")
    complaints = check_private_names.check(package)
    assert bool(complaints) == is_private
    (package / "hf").rename(package / "_transformers_private")
    assert not check_private_names.check(package) or "diffusers" in line or "onnxruntime" in line


def test_diagnostic_codes(tmp_path):
    write(tmp_path / "docs" / "diagnostics.md", "| SX1101 | a |\n| SX1102 | b |\n| SX1102 | c |\n")
    write(tmp_path / "src" / "a.cpp", 'fail("SX1101", x); // as "SX1998"\nfail("SX1999", y);\n')
    write(tmp_path / "src" / "a_test.cpp", 'EXPECT_EQ(code, "SX1997");\n')
    complaints = check_diagnostics.check(tmp_path)
    assert len(complaints) == 2
    assert "SX1102 is listed 2 times" in complaints[0]
    assert "SX1999 is not in" in complaints[1]


def test_tracked_files(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path / "src" / "a.cpp", "")
    write(tmp_path / "model.onnx", "")
    write(tmp_path / "build-x" / "CMakeCache.txt", "")
    write(tmp_path / "large.txt", "x" * 500_001)
    write(tmp_path / "src" / "long.h", "\n" * 601)
    write(tmp_path / "src" / "gen" / "long.h", "\n" * 601)
    subprocess.run(["git", "-C", str(tmp_path), "add", "-f", "."], check=True)
    complaints = check_tree.check(tmp_path)
    assert [complaint.split(":")[0] for complaint in complaints] == [
        "build-x/CMakeCache.txt",
        "large.txt",
        "model.onnx",
        "src/long.h",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Sizes that vary have names.\n", "write dynamic dimensions"),
        ("The graph is optimised.\n", "write American spelling"),
        ("`optimised` is a name of code, and code is left out.\n", None),
        ("```sh\nsardonyx optimise\n```\n", None),
        ("word " * 121 + "\n", "a paragraph of 121 words"),
        ("| " + "word " * 100 + "|\n| " + "word " * 100 + "|\n", None),
        ("Dynamic dimensions have names.\n", None),
    ],
)
def test_words(tmp_path, text, complaint):
    write(tmp_path / "docs" / "page.md", text)
    complaints = check_words.check(tmp_path)
    assert (complaint is None) == (complaints == [])
    assert complaint is None or complaint in complaints[0]


@pytest.mark.parametrize(
    ("file", "text", "complains"),
    [
        ("python/a.py", "    said = str(error)\n", True),
        ("python/a.py", "def _told(error): ...\n", True),
        ("python/a.py", "# What a message said = what it says.\nif said == 1: ...\n", False),
        ("src/a.cpp", "  const auto said = message();\n", True),
        ("src/a.cpp", "  const auto message = read();  // as said\n", False),
    ],
)
def test_names_that_tell_nothing(tmp_path, file, text, complains):
    write(tmp_path / file, text)
    assert bool(check_words.check(tmp_path)) == complains
