"""What is written out becomes one operator, which computes the same: at every opset, in every
floating type, for NaN and infinities, and without more nodes than there were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.checker
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

from tests.harness.command import run_command

NUMBERS = {
    "half": 0.5,
    "one": 1.0,
    "two": 2.0,
    "three": 3.0,
    "six": 6.0,
    "sixth": 1 / 6,
    "zero": 0.0,
    "twenty": 20.0,
    "fifth": 0.2,
    "root2": 2**0.5,
    "slope": 1.702,
    "cubic": 0.044715,
    "root_2_pi": (2 / np.pi) ** 0.5,
    "e": 1.0 / 1024,  # the same in every type
}

# What it becomes, and how it is written out.
FORMS = {
    "gelu": ("Gelu", "a = Div(x, root2) b = Erf(a) c = Add(b, one) d = Mul(x, half) y = Mul(d, c)"),
    "gelu-tanh": (
        "Gelu",
        (
            "a = Pow(x, three) b = Mul(a, cubic) c = Add(x, b) d = Mul(c, root_2_pi) t = Tanh(d) "
            "s = Add(t, one) h = Mul(x, half) y = Mul(h, s)"
        ),
    ),
    "silu": ("Swish", "s = Sigmoid(x) y = Mul(x, s)"),
    "quick-gelu": ("Swish", "a = Mul(x, slope) s = Sigmoid(a) y = Mul(x, s)"),
    "sigmoid": ("Sigmoid", "n = Neg(x) a = Exp(n) s = Add(a, one) y = Div(one, s)"),
    "hard-sigmoid": (
        "HardSigmoid",
        "a = Add(x, three) c = Clip(a, zero, six) y = Div(c, six)",
    ),
    "keras-hard-sigmoid": (
        "HardSigmoid",
        "a = Mul(x, fifth) b = Add(a, half) y = Clip(b, zero, one)",
    ),
    "hard-swish": (
        "HardSwish",
        "a = Add(x, three) c = Clip(a, zero, six) p = Mul(x, c) y = Div(p, six)",
    ),
    "softplus": ("Softplus", "a = Exp(x) s = Add(a, one) y = Log(s)"),
    "mish": ("Mish", "a = Softplus(x) t = Tanh(a) y = Mul(x, t)"),
    "clip": ("Clip", "a = Max(x, zero) y = Min(a, six)"),
    "softmax": (
        "Softmax",
        (
            "m = ReduceMax<axes = [-1]>(x) d = Sub(x, m) a = Exp(d) s = ReduceSum(a, last) "
            "y = Div(a, s)"
        ),
    ),
    "log-softmax": ("LogSoftmax", "a = Softmax<axis = 1>(x) y = Log(a)"),
    "layer-normalization": (
        "LayerNormalization",
        (
            "m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Pow(d, two) "
            "v = ReduceMean<axes = [-1]>(q) s = Add(v, e) r = Sqrt(s) n = Div(d, r) p = Mul(n, w) "
            "y = Add(p, w)"
        ),
    ),
    "layer-normalization-of-tensorflow": (
        "LayerNormalization",
        (
            "m = ReduceMean<axes = [2]>(x) d = Sub(x, m) q = Mul(d, d) "
            "v = ReduceMean<axes = [2]>(q) s = Add(v, e) r = Sqrt(s) i = Reciprocal(r) "
            "g = Mul(i, w) a = Mul(x, g) b = Mul(m, g) c = Sub(w, b) y = Add(a, c)"
        ),
    ),
    "rms-normalization": (
        "RMSNormalization",
        (
            "q = Pow(x, two) v = ReduceMean<axes = [-1]>(q) s = Add(v, e) r = Sqrt(s) "
            "n = Div(x, r) y = Mul(n, w)"
        ),
    ),
    "group-normalization": (
        "GroupNormalization",
        (
            "g = Reshape(x, groups) n = InstanceNormalization(g, ones, zeros) k = Shape(x) "
            "b = Reshape(n, k) p = Mul(b, column) y = Add(p, column)"
        ),
    ),
}
FLOATS = {"float": np.float32, "double": np.float64, "float16": np.float16}
# Infinities make NaN of what is written out, where the operator has the limit.
SAFER = {"softplus", "log-softmax", "gelu-tanh"}
STATISTICS = {"softmax", "log-softmax"}


TENSORS = {
    "w": np.arange(8) / 4,
    "column": np.array([[1], [2], [3], [4]]),
    "ones": np.ones(2),
    "zeros": np.zeros(2),
}


def model_of(body: str, dtype: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 14]>
        graph ({dtype}[N, 4, 8] x) => ({dtype}[N, 4, 8] y)
        <int64[1] last = {{-1}}, int64[3] groups = {{0, 2, -1}}> {{ {body} }}"""
    )
    for name, value in {**NUMBERS, **TENSORS}.items():
        array = np.asarray(value, FLOATS[dtype])
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def reference(body: str, x: np.ndarray) -> np.ndarray:
    """In float64: what is written out in half precision is the less exact of the two."""
    with np.errstate(all="ignore"):
        evaluator = ReferenceEvaluator(model_of(body, "double"))
        return np.asarray(evaluator.run(None, {"x": x.astype(np.float64)})[0])


def answer(model: onnx.ModelProto, x: np.ndarray, optimized: bool) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return np.asarray(session.run(None, {"x": x})[0])


def examples(name: str, dtype: type) -> np.ndarray:
    x = np.random.default_rng(0).standard_normal((3, 4, 8)) * 3
    if "normalization" not in name:
        rare = [np.nan, 0.0, -0.0] if name in STATISTICS | SAFER else [np.nan, np.inf, -np.inf, 0.0]
        x[0, 0, : len(rare)] = rare
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FORMS)
def test_one_operator_of_the_same_meaning(name: str, dtype: str, tmp_path: Path) -> None:
    becomes, body = FORMS[name]
    model = model_of(body, dtype)
    source = tmp_path / "model.onnx"
    onnx.save(model, source)
    x = examples(name, FLOATS[dtype])
    wanted = reference(body, x)
    # onnx's reference has Erf in float32.
    tolerance = {"double": 1e-6 if name == "gelu" else 1e-9, "float": 2e-5, "float16": 1e-2}[dtype]
    seen = False
    for opset, runtime in (
        (14, "onnxruntime"),
        (17, "onnxruntime"),
        (20, "onnxruntime"),
        (23, "onnxruntime-cpu"),
        (25, "standard"),
    ):
        out = tmp_path / f"{opset}.onnx"
        done = run_command(
            "optimize", str(source), "-o", str(out), "--opset", str(opset), "--runtime", runtime
        )
        assert done.returncode == 0, done.stderr
        made = onnx.load(out)
        onnx.checker.check_model(made, full_check=True)
        kinds = [node.op_type for node in made.graph.node]
        seen = seen or becomes in kinds
        # Casts surround what the runtime has no kernel for. In double, that is decomposed.
        if dtype != "double":
            assert len([kind for kind in kinds if kind != "Cast"]) <= len(model.graph.node), kinds
        if runtime == "standard":
            continue
        for optimized in (False, True):
            got = answer(made, x, optimized)
            assert got.dtype == x.dtype
            assert got.shape == x.shape
            np.testing.assert_allclose(
                got.astype(np.float64),
                wanted,
                rtol=tolerance,
                atol=tolerance,
                err_msg=f"{opset} {kinds}",
            )
    # Some attributes are float32, which double does without.
    assert seen or dtype == "double", kinds
