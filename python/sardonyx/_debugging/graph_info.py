"""Finds the smallest parts of a program whose model differs from PyTorch, by halving."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import OnnxExporterError
from sardonyx._compare.options import VerificationOptions
from sardonyx._export.export import export

from .eager import name_of
from .partition import Source, essential

if TYPE_CHECKING:
    import torch


_WIDTH = 80


@dataclass
class GraphInfo:
    """A part of a captured program, and whether its model differs from PyTorch.

    Attributes:
        source: the program that it is a part of, and `begin` and `end` its nodes there.
        input_args: what it is run on; kept for parts that differ and are not halved further.
        export_options: what is passed on to `sardonyx.export`.
        mismatch_error: how the model differs; None where it does not.
        pt_outs: PyTorch's outputs, kept as long as `input_args`.
        upper_graph_info, lower_graph_info: the halves; None where it was not halved.
        every: whether every value in it is compared, rather than what is read behind it.
        ties: operators that chose among equal numbers, where the model took others than PyTorch.
        id: where it is in the tree: "" for the whole, then "0" for an upper, "1" for a lower half.
    """

    source: Source
    begin: int
    end: int
    input_args: tuple[Any, ...] | None
    export_options: Mapping[str, Any] = field(default_factory=dict)
    mismatch_error: AssertionError | None = None
    pt_outs: Sequence[Any] | None = None
    upper_graph_info: GraphInfo | None = None
    lower_graph_info: GraphInfo | None = None
    id: str = ""
    every: bool = False
    ties: list[str] = field(default_factory=list)

    # --- what it holds

    @property
    def graph(self) -> torch.fx.Graph:
        """The part as a torch.fx graph of its own."""
        return self.source.part(self.begin, self.end).module.graph

    @property
    def params_dict(self) -> dict[str, torch.Tensor]:
        """The weights that it reads, by name."""
        return self.source.part(self.begin, self.end).weights

    def essential_node_count(self) -> int:
        """How many operators it has, not counting what only takes tuples apart or checks sizes."""
        return sum(map(essential, self.source.nodes[self.begin : self.end]))

    def essential_node_kinds(self) -> set[str]:
        """The names of these operators, "aten::relu"."""
        nodes = self.source.nodes[self.begin : self.end]
        return {name_of(node) for node in nodes if essential(node)}

    def has_mismatch(self) -> bool:
        """Whether the model of this part differs from PyTorch."""
        return self.mismatch_error is not None

    def all_mismatch_leaf_graph_info(self) -> list[GraphInfo]:
        """The smallest parts that differ, in the order of the program."""
        if not self.has_mismatch():
            return []
        halves = (self.upper_graph_info, self.lower_graph_info)
        below = [leaf for half in halves if half for leaf in half.all_mismatch_leaf_graph_info()]
        return below or [self]

    def find_partition(self, id: str) -> GraphInfo | None:  # noqa: A002 (as PyTorch has it)
        """The part of this id, or None."""
        if id == self.id:
            return self
        length = len(self.id)
        if len(id) <= length or not id.startswith(self.id):
            return None
        half = self.upper_graph_info if id[length] == "0" else self.lower_graph_info
        return half.find_partition(id) if half else None

    def clear(self) -> None:
        """Forgets what was found and computed."""
        self.mismatch_error = None
        self.pt_outs = None
        self.ties = []
        self.upper_graph_info = self.lower_graph_info = None

    # --- finding out

    def find_mismatch(self, options: VerificationOptions | None = None) -> None:
        """Compares this part with PyTorch, and halves it for as long as it differs.

        Only the values between the halves at hand are held, and those of the parts found.
        """
        self.clear()
        self.mismatch_error, _, outputs = self.verify_export(options)
        if self.mismatch_error is None:
            self.input_args = None
            return
        middle = self.source.middle(self.begin, self.end)
        if middle is None:
            self.pt_outs = outputs
            return
        self._halve(middle, options)
        halves = [half for half in (self.upper_graph_info, self.lower_graph_info) if half]
        self.ties = [tie for half in halves for tie in half.ties]
        if self.ties and not any(half.has_mismatch() for half in halves):
            self.mismatch_error = None  # all that follows from another choice differs
        # What differs only as a whole is a part found, too.
        if self.upper_graph_info is None or self.all_mismatch_leaf_graph_info() != [self]:
            self.input_args = None
        else:
            self.pt_outs = outputs

    def _halve(self, middle: int, options: VerificationOptions | None) -> None:
        assert self.input_args is not None
        values = dict(zip(self.source.inputs(self.begin, self.end), self.input_args, strict=True))
        values.update(self.source.run(self.begin, middle, values))
        for half, (begin, end) in enumerate(((self.begin, middle), (middle, self.end))):
            inputs = tuple(values[name] for name in self.source.inputs(begin, end))
            info = GraphInfo(
                self.source,
                begin,
                end,
                inputs,
                self.export_options,
                id=f"{self.id}{half}",
                every=self.every,
            )
            if half == 0:
                self.upper_graph_info = info
            else:
                self.lower_graph_info = info
                values.clear()
            info.find_mismatch(options)

    def verify_export(
        self, options: VerificationOptions | None = None
    ) -> tuple[AssertionError | None, torch.fx.Graph, Sequence[Any]]:
        """How the model of this part differs (None if it does not), its graph, PyTorch's outputs.

        A part that cannot be exported or run counts as one that differs.
        """
        options = options or VerificationOptions()
        options.check()
        if self.input_args is None:
            raise ValueError("this part has let go of its inputs; find_mismatch() from the whole")
        names = self.source.inputs(self.begin, self.end)
        values = dict(zip(names, self.input_args, strict=True))
        part = self.source.part(self.begin, self.end, values, self.every)
        expected = self.source.run(self.begin, self.end, values, self.every)
        wanted = [expected[name] for name in part.outputs]
        tensors = tuple(values[name] for name in part.inputs)
        try:
            program = export(part.module, tensors, **self.export_options)
            actual = program(*tensors)
        except OnnxExporterError as error:
            return AssertionError(str(error)), part.module.graph, wanted
        findings = []
        for name, got, want in zip(part.outputs, actual, wanted, strict=False):
            text = options.difference(got, want)
            tie = self.source.tie(name, values, got, want) if text is not None else None
            if tie is not None:
                self.ties.append(tie)
            elif text is not None:
                findings.append(f"{name}: {text}")
        found = AssertionError("\n".join(findings)) if findings else None
        return found, part.module.graph, wanted

    # --- showing it

    def pretty_print_tree(self) -> None:
        """Prints the tree of parts, the smallest that differ, and their operators.

        A part is the number of its operators with X where it differs and √ where it does not.
        """
        print(" Tree: ".center(_WIDTH, "="))
        print("\n".join(line.rstrip() for line in self._block()))
        if not self.has_mismatch():
            return
        leaves = self.all_mismatch_leaf_graph_info()
        kinds = Counter(
            name_of(node)
            for leaf in leaves
            for node in self.source.nodes[leaf.begin : leaf.end]
            if essential(node)
        )
        print(" Mismatch leaf subgraphs: ".center(_WIDTH, "="))
        print([leaf.id for leaf in leaves])
        print(" Mismatch node kinds: ".center(_WIDTH, "="))
        print(dict(kinds))

    def _block(self) -> list[str]:
        head = f"{self.essential_node_count()} {'X' if self.has_mismatch() else '√'}"
        upper, lower = self.upper_graph_info, self.lower_graph_info
        if upper is None or lower is None:
            if self.has_mismatch():
                head += f" ({', '.join(sorted(self.essential_node_kinds()))})"
            return [head, f"id: {self.id}"]
        own = [head, f"id: {self.id}"]
        width = max(map(len, own)) + 1
        rows = upper._block()
        lines = [own[0].ljust(width) + " __" + rows[0], own[1].ljust(width) + "|  " + rows[1]]
        lines += [" " * width + "|  " + row for row in rows[2:]]
        lines.append(" " * width + "|")
        rows = lower._block()
        lines.append(" " * width + "|__" + rows[0])
        return lines + [" " * width + "   " + row for row in rows[1:]]

    def pretty_print_mismatch(self, graph: bool = False) -> None:
        """Prints how this part differs; with `graph` what PyTorch computes in it, too."""
        print(f" Mismatch info for graph partition {self.id}: ".center(_WIDTH, "="))
        if graph:
            print(self.graph)
        print(self.mismatch_error if self.has_mismatch() else "No mismatch")
        print(f"operators: {', '.join(sorted(self.essential_node_kinds()))}")

    def export_repro(self, repro_dir: str | None = None, name: str | None = None) -> str:
        """Writes this part for a report of the fault: model, inputs and PyTorch's outputs.

        The folder `<repro_dir>/<name>` gets model.onnx, and test_data_set_0 in the layout of ONNX's
        own backend tests. Returns its path. Needs the package onnx.
        """
        import onnx
        import torch

        if self.input_args is None:
            raise ValueError("this part has let go of its inputs; choose one that differs")
        names = self.source.inputs(self.begin, self.end)
        values = dict(zip(names, self.input_args, strict=True))
        part = self.source.part(self.begin, self.end, values)
        expected = self.source.run(self.begin, self.end, values)
        folder = Path(repro_dir or ".") / (name or f"mismatch_{self.id or 'whole'}")
        data = folder / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        tensors = tuple(values[name] for name in part.inputs)
        program = export(part.module, tensors, **self.export_options)
        program.save(folder / "model.onnx")
        groups = (
            ("input", program.input_names, tensors),
            ("output", program.output_names, [expected[name] for name in part.outputs]),
        )
        for group, labels, held in groups:
            for i, (label, value) in enumerate(zip(labels, held, strict=False)):
                array = torch.as_tensor(value).numpy(force=True)
                message = onnx.numpy_helper.from_array(array, label)
                (data / f"{group}_{i}.pb").write_bytes(message.SerializeToString())
        record = {"partition": self.id, "mismatch": str(self.mismatch_error)}
        (folder / "mismatch.json").write_text(json.dumps(record, indent=2), encoding="utf-8")
        return str(folder)


def find_mismatch(  # noqa: PLR0917 (as PyTorch has it)
    model: torch.nn.Module,
    input_args: torch.Tensor | tuple[Any, ...],
    do_constant_folding: bool = True,
    training: Any = None,
    opset_version: int | None = None,
    keep_initializers_as_inputs: bool = True,
    verbose: bool = False,
    options: VerificationOptions | None = None,
    **export_options: Any,
) -> GraphInfo:
    """Finds the smallest parts of a model that differ from PyTorch when exported.

    What the program returns is compared first, and every value in it where that is equal. Places
    that PyTorch and the model chose differently among equal numbers are `ties`, no mismatch. The
    captured program is halved for as long as a half differs, each half being exported and run
    on its own, with what PyTorch computed in front of it as inputs. Further `export_options` go to
    `sardonyx.export`. With `verbose` the tree is printed. Returns the GraphInfo of the whole.
    """
    del keep_initializers_as_inputs  # how a model is saved; none is
    args = tuple(input_args) if isinstance(input_args, (tuple, list)) else (input_args,)
    passed = {
        **export_options,
        "opset_version": opset_version,
        "training": training,
        "do_constant_folding": do_constant_folding,
    }
    source = Source.of(model, args)
    names = source.inputs(0, len(source.nodes))
    inputs = tuple(source.given[name] for name in names)
    whole = GraphInfo(source, 0, len(source.nodes), inputs, passed)
    whole.find_mismatch(options)
    if not whole.has_mismatch() and not whole.ties:
        # A value may differ without showing in what the program returns.
        whole = GraphInfo(source, 0, len(source.nodes), inputs, passed, every=True)
        whole.find_mismatch(options)
    if verbose:
        whole.pretty_print_tree()
        for leaf in whole.all_mismatch_leaf_graph_info():
            leaf.pretty_print_mismatch(graph=True)
    return whole
