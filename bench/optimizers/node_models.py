"""The node models of the onnx package, through every optimizer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import onnx

from . import running

_RANDOM = {"Bernoulli", "Dropout", "RandomNormal", "RandomUniform", "Multinomial"}


class NodeModels:
    """The models that ONNX Runtime runs, as files in a folder."""

    def __init__(self, folder: Path, wanted: list[str], every: int) -> None:
        from onnx.backend.test.loader import load_node_model_tests

        self.folder = folder
        self.cases: dict[str, tuple[dict[str, Any], list[Any]]] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = load_node_model_tests()
        for case in cases[::every]:
            if wanted and not any(name in case.name for name in wanted):
                continue
            if case.model is None or not case.data_sets:
                continue
            if any(node.op_type in _RANDOM for node in case.model.graph.node):
                continue
            arrays = case.data_sets[0][0]
            path = folder / f"{case.name}.onnx"
            onnx.save(case.model, path)
            names = [value.name for value in case.model.graph.input]
            feed = dict(zip(names, arrays, strict=False))
            try:
                self.cases[case.name] = feed, running.session(path, optimize=False).run(None, feed)
            except Exception:  # no kernel for it, or it is not for inference
                path.unlink()

    def judged(self, tool: str, result: dict[str, Any]) -> dict[str, Any]:
        """All nodes, and the models whose answers differ, or that could not be optimized."""
        wrong, nodes = {}, 0
        for name, (feed, expected) in self.cases.items():
            path = self.folder / tool.replace(" ", "-") / f"{name}.onnx"
            if name in result["failed"]:
                continue
            nodes += len(onnx.load(path, load_external_data=False).graph.node)
            if told := running.answers_of(path, [feed], [expected]):
                wrong[name] = told
        return {**result, "nodes": nodes, "wrong": wrong}
