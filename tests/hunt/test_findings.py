"""What `make hunt` found, and that a program and a graph of each seed can be judged at all."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import onnx
import pytest

import sardonyx
import tests.hunt.__main__ as hunt
from tests.hunt import graphs
from tests.hunt.judge import Verdict, judge, shrunk
from tests.hunt.programs import Input, Line, Program


def program(inputs: dict[str, tuple[str, tuple[str | int, ...]]], *texts: str) -> Program:
    """Lines as they are reported: "v1 = a + 1", or a write."""
    lines = []
    for text in texts:
        target, _, rest = text.partition(" = ")
        lines.append(Line(target, rest) if target.isidentifier() else Line("", text))
    return Program(tuple(Input(n, d, s) for n, (d, s) in inputs.items()), tuple(lines))


FOUND = {
    "the shape of nothing, where two sizes move": program(
        {"a": ("float32", (2, "n", "n"))}, "v1 = torch.repeat_interleave(a, 2, -2)"
    ),
    "a write to the diagonal of nothing": program(
        {"b": ("int64", ("m", "m"))},
        "v1 = torch.nn.functional.pad(b, (1, 2))",
        "v1.diagonal().fill_(4)",
    ),
    "a free size that squeeze drops of what was written": program(
        {"a": ("float32", (2, "n", "n"))}, "v1 = a * 2", "v1.zero_()", "v2 = v1.squeeze(-2)"
    ),
    "the least length of a float16 vector": program(
        {"a": ("float16", ("m", "n"))}, "v1 = a * 0", "v2 = torch.cosine_similarity(v1, a, dim=1)"
    ),
    "the least length of one float16 vector of two": program(
        {"a": ("float32", (3,)), "b": ("float32", ("m",))},
        "v1 = torch.count_nonzero(b, 0)",
        "v2 = v1.half()",
        "v3 = torch.cosine_similarity(a, v2, dim=0)",
    ),
    "a mean of what is padded by more than its window": program(
        {"a": ("float32", (1, 3, "n"))},
        "v1 = torch.nn.functional.pad(a, (2, 4))",
        "v2 = torch.nn.functional.avg_pool1d(v1, 2)",
    ),
    "what is scaled and attends to itself": program(
        {"a": ("int64", (1, 2))},
        "v1 = torch.true_divide(a, 4)",
        "v2 = torch.nn.functional.scaled_dot_product_attention(v1, v1, v1)",
    ),
    "what is divided by zero and attends to itself": program(
        {"a": ("float64", (1, 3, 1))},
        "v1 = torch.var(a, 2)",
        "v2 = torch.nn.functional.scaled_dot_product_attention(v1, v1, v1)",
    ),
    "distinct rows of what may be nothing": program(
        {"a": ("int64", ("n", "m"))}, "v1 = torch.unique(a, dim=0)", "v2 = torch.unique(a, dim=1)"
    ),
    "places of a constant that squeeze keeps": program(
        {"a": ("float32", ("n", "m"))},
        "v1 = torch.nonzero(torch.scalar_tensor(2))",
        "v2 = torch.true_divide(v1, 3)",
        "v2.squeeze()[...] = 5",
        "v3 = a * 2",
    ),
    "an integer that is too wide for the next one": program(
        {"a": ("float32", ("n", 3))}, "v1 = a * 1e10", "v2 = v1.long()", "v3 = v2.to(torch.int32)"
    ),
    "a mean of what is sliced of nothing": program(
        {"a": ("float32", ("n", "n"))}, "v1 = a[1:, 1:]", "v2 = torch.mean(v1)", "v3 = v1.var()"
    ),
    "dimensions of a tensor without": program(
        {"a": ("bfloat16", ("m", 3))}, "v1 = a.sum()", "v2 = v1.movedim(-1, 0)"
    ),
    "a free size that squeeze drops at 1": program(
        {"a": ("float32", ("n", 3))}, "v1 = a.squeeze()"
    ),
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("quick", [True, False])
def test_findings_stay_mended(name: str, quick: bool) -> None:
    verdict = judge(FOUND[name], quick=quick)
    assert verdict.kind == "right", verdict.detail
    assert verdict.runs > 10
    assert verdict.limits == 0


def test_what_a_kernel_refuses_of_nothing_is_counted() -> None:
    verdict = judge(
        program(
            {"a": ("float32", (3, "m"))}, "v1 = torch.nn.functional.layer_norm(a, a.shape[-1:])"
        )
    )
    assert verdict.kind == "right"
    assert verdict.limits > 0


@pytest.mark.parametrize(
    "lines",
    [
        ["v1 = a.half()", "v2 = torch.norm(v1)", "v3 = torch.sin(v2 * 50)"],
        ["v1 = torch.cosine_similarity(a, a, dim=-1)", "v2 = F.layer_norm(v1, v1.shape[-1:])"],
        ["v1 = a * 0", "v2 = v1 / v1", "v3 = torch.copysign(a, v2)"],
    ],
)
def test_what_hangs_on_rounding_is_no_fault(lines: list[str]) -> None:
    lines = [line.replace("F.", "torch.nn.functional.") for line in lines]
    verdict = judge(program({"a": ("float16", ("n", 3))}, *lines))
    assert verdict.kind == "right", verdict.detail
    assert verdict.limits > 0


def test_two_writes_through_what_cannot_be_put_back() -> None:
    verdict = judge(
        program(
            {"a": ("float32", (1, 1))},
            'v1 = torch.meshgrid(a.reshape(-1), a.reshape(-1), indexing="ij")[1]',
            "v1.fill_(4)",
            "v2 = v1[..., ::2]",
            "v1.fill_(4)",
        )
    )
    assert verdict.kind == "refused"
    assert "SX1703" in verdict.detail


def test_parts_to_which_the_capture_leaves_a_dimension_too_many() -> None:
    verdict = judge(
        program({"a": ("float32", ("m", "m"))}, "v1 = (1 - a)[-2:, ...]", "v2 = v1.unbind(-2)[0]")
    )
    assert verdict.kind == "right", verdict.detail
    assert verdict.runs > 10


def test_a_program_that_ends_the_process_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def judged(program: Program, **_: object) -> Verdict:
        if program.text() == hunt.draw(3).text():
            os.kill(os.getpid(), signal.SIGSEGV)
        return Verdict("right", runs=1)

    state = tmp_path / "hunt.json"
    monkeypatch.setattr(hunt, "judge", judged)
    monkeypatch.setattr(
        "sys.argv", ["hunt", "--minutes", "0.02", "--state", str(state), "--of", "programs"]
    )
    assert hunt.main() == 1
    programs = json.loads(state.read_text())["programs"]
    assert programs["counts"]["crash"] == 1
    assert programs["counts"]["right"] > 1
    (finding,) = programs["found"].values()
    assert finding["seed"] == 3
    assert "SIGSEGV" in finding["detail"]


def test_what_is_wrong_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that is put in shows, and only the line at fault is left."""
    real = sardonyx.export

    def wrong(*args: object, **kwargs: object) -> sardonyx.ONNXProgram:
        made = real(*args, **kwargs)
        for node in made.model.graph:
            if node.op_type == "Floor":
                node.op_type = "Ceil"
        return made

    monkeypatch.setattr(sardonyx, "export", wrong)
    whole = program(
        {"a": ("float32", ("n", 3))}, "v0 = a * 2", "v1 = torch.floor(a)", "v2 = v0.sum(1)"
    )
    verdict = judge(whole)
    assert verdict.kind == "wrong"
    small, again = shrunk(whole, verdict)
    assert [line.text for line in small.lines] == ["torch.floor(a)"]
    assert again.kind == "wrong"


def test_graphs_are_judged() -> None:
    kinds = {graphs.judged(seed)[0].kind for seed in range(5)}
    assert kinds <= {"right", "not captured"}
    assert "right" in kinds
    assert Verdict("crash").is_fault


@pytest.mark.parametrize("seed", [24851, 26164, 34582])
def test_graphs_that_hang_on_rounding_or_do_nothing(seed: int) -> None:
    assert graphs.judged(seed)[0].kind == "right"


def test_a_graph_that_answers_otherwise_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    other, _ = sardonyx.optimize(graphs.drawn(2))
    other.graph.initializer.extend([onnx.numpy_helper.from_array(np.float32(1), "one")])
    last = other.graph.output[0].name
    made = next(node for node in other.graph.node if last in node.output)
    made.output[list(made.output).index(last)] = "before"
    other.graph.node.append(onnx.helper.make_node("Add", ["before", "one"], [last]))
    monkeypatch.setattr(sardonyx, "optimize", lambda model, opset: (other, None))
    assert graphs.judged(2)[0].kind == "wrong"
