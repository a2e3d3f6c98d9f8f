"""What an export returns: a model that can be looked at, called and saved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from sardonyx import _native
from sardonyx._base.bytes_written import bytes_written
from sardonyx._base.errors import Diagnostic, OnnxExporterError, SaveError
from sardonyx._base.packages import package
from sardonyx._runtime.options import ONNXRuntimeOptions
from sardonyx._runtime.session import open_session, run

from .copies import over_the_same_weights
from .inputs import feed_of
from .ir import Shared, from_ir, tensor_of, to_ir
from .notebook import page_of
from .visualization import Measures, Visualization, visualization
from .weight_files import Paths, weights_in

if TYPE_CHECKING:
    import onnx
    import onnx_ir
    import torch
    from torch.export import ExportedProgram

    from sardonyx._compare.differences import VerificationInfo

T = TypeVar("T")


class ONNXProgram:
    """An ONNX model in memory, with the program that it was made of.

    Weights are not copied: they stay where PyTorch has them until they are written. Change a
    parameter in place, and what is saved afterwards has the new values.
    """

    def __init__(
        self,
        model: _native.Model | onnx_ir.Model,
        exported_program: ExportedProgram | None = None,
        notes: Sequence[Diagnostic] = (),
    ) -> None:
        """From a native model, as `sardonyx.export` makes one, or from an onnx_ir.Model."""
        self._ir: onnx_ir.Model | None = None
        self._shared: Shared = {}
        if isinstance(model, _native.Model):
            self._native = model
        else:
            self._ir = model
            self._native = from_ir(model, None, {})
        # None for a model that was read from a file.
        self._captured = exported_program
        self.notes: tuple[Diagnostic, ...] = tuple(notes)
        # The options of the conversion that made it, a _export.options.ConversionOptions.
        self._conversion: Any = None
        # How far each output was from PyTorch's, where the export verified it.
        self.accuracy: tuple[VerificationInfo, ...] = ()
        # The module's names of weights, where the user gave them others.
        self._given_names: dict[str, str] = {}
        self._session: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def captured(self) -> Any:
        """What the export captured, of which `exported_program` may have to be made yet."""
        return self._captured

    @property
    def exported_program(self) -> ExportedProgram | None:
        """The program that the model was made of; None for a model that was read from a file.

        Of a program that was captured quickly, and of TorchScript, torch.export's, which captures
        it when it is asked for.
        """
        on_demand = getattr(self._captured, "exported", None)
        return on_demand() if on_demand is not None else self._captured

    @exported_program.setter
    def exported_program(self, program: ExportedProgram | None) -> None:
        self._captured = program

    @property
    def _model(self) -> _native.Model:
        """The native model as it is now, with what was done to `model`."""
        if self._ir is None:
            return self._native
        return from_ir(self._ir, self._native, self._shared)

    # --- looking at it

    @property
    def input_names(self) -> list[str]:
        """The names of the model's inputs, in order."""
        return [name for name, _, _ in self._model.inputs]

    @property
    def output_names(self) -> list[str]:
        """The names of the model's outputs, in order."""
        return [name for name, _, _ in self._model.outputs]

    @property
    def node_count(self) -> int:
        """How many nodes the graph and all bodies in it have."""
        return self._model.node_count

    @property
    def opset_version(self) -> int:
        """The version of ONNX's own operators."""
        return self._model.opsets[""]

    @property
    def _warnings(self) -> list[str]:
        return [f"{n.severity}[{n.code}]: {n.message}" for n in self.notes if n.severity != "note"]

    def __str__(self) -> str:
        comments = "".join(f"# {line}\n" for text in self._warnings for line in text.splitlines())
        return comments + str(self._model)

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(self.input_names), ", ".join(self.output_names)
        count = len(self._warnings)
        warned = f", {count} warning{'s' if count > 1 else ''}" if count else ""
        return f"ONNXProgram(({inputs}) -> ({outputs}), {self.node_count} nodes{warned})"

    def _repr_html_(self) -> str:
        """What notebooks show: the graph to look at; as text, inputs, outputs and modules."""
        text = page_of(self._model, "ONNXProgram", self._warnings)
        shown = self.visualize()._repr_html_()
        return f"<div>{shown}<details><summary>Text</summary>{text}</details></div>"

    def visualize(
        self,
        *,
        measures: Measures | None = None,
        compare: ONNXProgram | None = None,
        title: str = "ONNXProgram",
    ) -> Visualization:
        """A page to look at the model: graph by module, search, details of nodes and weights.

        A notebook shows it in place; `.save("model.html")` writes it, `.show()` opens a browser.

        Args:
            measures: numbers of nodes, for colors: `{"time (ms)": {"node": 0.2}}`. Nodes are named
                by their names, or by those of values that they give.
            compare: another program, which the page shows on the other side, with what differs.
            title: what the page is called.
        """
        other = None if compare is None else (compare._model, f"{title} (other)")
        return visualization(self._model, title, measures, other)

    # --- copying it

    def __copy__(self) -> ONNXProgram:
        """A program of its own over the same weights: what is done to one, the other is not."""
        model = over_the_same_weights(self._model)
        return self._with_what_is_known(ONNXProgram(model, self._captured, self.notes))

    def __deepcopy__(self, memo: dict[int, Any]) -> ONNXProgram:
        """The same with weights of its own; SaveError above 2 GB."""
        model = _native.parse_model(self._serialize())
        return self._with_what_is_known(ONNXProgram(model, self._captured, self.notes))

    def _with_what_is_known(self, made: ONNXProgram) -> ONNXProgram:
        made.accuracy = self.accuracy
        made._given_names = dict(self._given_names)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """The model with its weights, which must not exceed 2 GB (SaveError).

        Without `exported_program`: what comes back takes its inputs flattened, in order.
        """
        return {
            "model": self._serialize(),
            "notes": self.notes,
            "accuracy": self.accuracy,
            "given_names": self._given_names,
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        ONNXProgram.__init__(self, _native.parse_model(state["model"]), notes=state["notes"])
        self.accuracy = state["accuracy"]
        self._given_names = state["given_names"]

    # --- more of what it is

    @property
    def function_names(self) -> list[str]:
        """The model-local functions, "domain::name", callees first."""
        return _native.functions(self._model)

    @property
    def captured_nodes(self) -> dict[str, str]:
        """The node of `exported_program` that each node of the main graph came from, by name.

        Nodes that came from none (a model's own outputs) are left out.
        """
        return {name: origin for name, _, _, origin, _, _ in _native.nodes(self._model) if origin}

    @property
    def model_proto(self) -> onnx.ModelProto:
        """The model as an onnx.ModelProto, weights included. Needs the package onnx.

        It is made anew each time; to change what is saved, change `model`.
        """
        onnx = package("onnx", "model_proto")
        try:
            return onnx.load_model_from_string(self._serialize())
        except SaveError:
            with tempfile.TemporaryDirectory(prefix="sardonyx-") as folder:
                path = Path(folder) / "model.onnx"
                self.save(path, external_data=True)
                return onnx.load_model(str(path))

    @property
    def model(self) -> onnx_ir.Model:
        """The model as an onnx_ir.Model. Needs the package onnx_ir.

        It shares the weights' memory. From its first use on it is what the program is: changes to
        it show in what is printed, run and saved.
        """
        if self._ir is None:
            self._ir, self._shared = to_ir(self._native)
        return self._ir

    @model.setter
    def model(self, model: onnx_ir.Model) -> None:
        self._native = self._model
        self._ir = model
        self.release()

    # --- changing it

    def optimize(self) -> list[str]:
        """Simplifies the model in place: constant folding, fusions, redundant nodes.

        Returns the names of the passes that changed something, in the order they ran.
        """
        native = self.as_native()
        changed = _native.optimize(native, stop_after="")
        self.take_native(native)
        return changed

    def as_native(self) -> _native.Model:
        """The native model as it is now, for those who change it; take_native() follows."""
        self.release()
        self._native = self._model
        return self._native

    def take_native(self, model: _native.Model) -> None:
        """The program becomes what was made of its native model."""
        self._native = model
        if self._ir is not None:
            # The same object, so that those who hold it see the change.
            made, self._shared = to_ir(model)
            self._ir.graph = made.graph

    def apply_weights(self, state_dict: Mapping[str, torch.Tensor] | Paths) -> None:
        """Replaces weights by the tensors of `state_dict`, whose memory is borrowed, not copied.

        In place of a state dict: a .safetensors file, several, an index of shards, or a folder with
        either. The files are mapped, and read when the model is saved, so that a model of any size
        is saved in little memory; they must stay what they are until then.

        Names are those of the module's parameters and buffers; of tied ones, any. Tensors that the
        module has and the program does not use are passed over. Raises OnnxExporterError, which
        lists all of them, for names that neither has, for tensors of another shape or dtype, and
        for weights that became one because they had the same elements, and differ now; the model
        is unchanged then.
        """
        self.release()
        if isinstance(state_dict, Mapping):
            problems = _not_tensors(state_dict) or _native.apply_weights(
                self._native, self._by_weight(state_dict), dict(state_dict)
            )
        else:
            in_files = {weight.name: weight for weight in weights_in(state_dict)}
            fitting = self._by_weight(in_files)
            problems = _native.apply_file_weights(
                self._native,
                [(name, *place[1:]) for name, place in fitting.items()],
                list(in_files.values()),
            )
        if problems:
            raise OnnxExporterError(
                "these tensors do not fit the model:\n  " + "\n  ".join(problems),
                [Diagnostic("SX1006", problem) for problem in problems],
            )
        if self._ir is not None:
            self._renew_tensors()

    def refresh(self, state_dict: Mapping[str, torch.Tensor] | Paths) -> None:
        """Replaces all weights by those of another checkpoint of the same program.

        As `apply_weights`, but for weights that the export folded into others, too: what was done
        to each is recorded, and done to the new one. What is saved afterwards is byte for byte
        what an export of the module with these weights would be. Tensors are borrowed, and files
        mapped, until then.

        Raises OnnxExporterError, and changes nothing, for names that are missing, shapes and
        dtypes that differ, and weights whose use is not recorded; it lists all of them.
        """
        self.release()
        native = self.as_native()
        if isinstance(state_dict, Mapping):
            if problems := _not_tensors(state_dict):
                raise OnnxExporterError(
                    "these are no weights:\n  " + "\n  ".join(problems),
                    [Diagnostic("SX1821", problem) for problem in problems],
                )
            given = {self._given_names.get(n, n): tensor for n, tensor in state_dict.items()}
            _native.refresh_model(native, [], given)
        else:
            names = self._given_names
            places = [
                (names.get(each.name, each.name), *each[1:]) for each in weights_in(state_dict)
            ]
            _native.refresh_model(native, places, {})
        if self._ir is not None:
            self._renew_tensors()

    def _renew_tensors(self) -> None:
        """Hands the weights that were replaced to `model`, where it still has them."""
        assert self._ir is not None
        for name, dtype, dims, _, is_weight, in_memory in _native.constants(self._native):
            value = self._ir.graph.initializers.get(name)
            known = self._shared.get(id(value.const_value)) if value is not None else None
            if value is None or not is_weight or known is None or known[1] != name:
                continue
            tensor = tensor_of(self._native, name, dtype, dims, in_memory)
            self._shared[id(tensor)] = (tensor, name)
            value.const_value = tensor

    def _name_weights(self, names: Mapping[str, str]) -> None:
        """Names weights otherwise than the module does, which apply_weights() still knows."""
        _native.rename_weights(self._native, dict(names))
        self._given_names = dict(names)

    def _by_weight(self, state_dict: Mapping[str, T]) -> dict[str, T]:
        """Tied tensors under the one name that the model has for them."""
        names = set(_native.weight_names(self._native))
        given = self._given_names
        captured = self._captured.state_dict if self._captured else {}
        by_tensor = {
            id(tensor): given.get(name, name)
            for name, tensor in captured.items()
            if given.get(name, name) in names
        }
        result: dict[str, T] = {}
        for name, tensor in state_dict.items():
            if given.get(name, name) in names or name not in captured:
                result[given.get(name, name)] = tensor
            elif (tied := by_tensor.get(id(captured[name]))) is not None:
                result.setdefault(tied, tensor)
        return result

    # --- saving it

    def save(
        self,
        destination: str | os.PathLike[str] | IO[bytes],
        *,
        include_initializers: bool = True,
        keep_initializers_as_inputs: bool = False,
        external_data: bool | None = None,
        strip_paths: bool = False,
    ) -> None:
        """Writes the model to a path (atomically) or a binary file object.

        - `include_initializers`: whether the weights are written at all.
        - `keep_initializers_as_inputs`: whether they are listed as inputs, too, so that they can be
          overridden or, when not included, supplied at run time.
        - `external_data`: True puts them into `<destination>.data`, False never does, and None does
          where the model would exceed 2 GB.
        - `strip_paths`: whether the model's metadata calls files of your own by their names alone.
          Those of installed packages are called "torch/nn/functional.py" in any case.

        Raises TypeError when external data is asked for and `destination` is no path, SaveError
        when the file cannot be written; what was there before is then still there.
        """
        if isinstance(destination, (str, os.PathLike)):
            with bytes_written(destination) as progress:
                _native.write(
                    self._model,
                    os.fspath(destination),
                    external_data=external_data,
                    include_initializers=include_initializers,
                    keep_initializers_as_inputs=keep_initializers_as_inputs,
                    strip_paths=strip_paths,
                    progress=progress,
                )
            return
        if not hasattr(destination, "write"):
            raise TypeError(f"destination is a {type(destination).__name__}, not a path or file")
        if external_data:
            raise TypeError("external_data=True needs a path as destination, not a file object")
        destination.write(
            self._serialize(include_initializers, keep_initializers_as_inputs, strip_paths)
        )

    def _serialize(
        self, include: bool = True, as_inputs: bool = False, strip_paths: bool = False
    ) -> bytes:
        return _native.serialize(
            self._model,
            include_initializers=include,
            keep_initializers_as_inputs=as_inputs,
            strip_paths=strip_paths,
        )

    # --- running it

    def initialize_inference_session(
        self,
        initializer: Callable[[str | bytes], Any] | None = None,
        *,
        options: ONNXRuntimeOptions | None = None,
    ) -> None:
        """Loads the model into ONNX Runtime; calling the program does so by itself.

        `initializer` gets the model's bytes, or its path when it exceeds 2 GB, and returns the
        onnxruntime.InferenceSession to use; without it, `options` say how it is made. Needs the
        package onnxruntime.
        """
        if initializer is None:
            initializer = open_session if options is None else options.session

        self.release()
        source: str | bytes
        try:
            source = self._serialize()
        except SaveError:
            self._folder = tempfile.TemporaryDirectory(prefix="sardonyx-")
            source = str(Path(self._folder.name) / "model.onnx")
            self.save(source, external_data=True)
        self._session = initializer(source)

    @property
    def session(self) -> Any:
        """The onnxruntime.InferenceSession that calls use; None before there is one."""
        return self._session

    def __call__(self, *args: Any, **kwargs: Any) -> Sequence[torch.Tensor]:
        """Runs the model in ONNX Runtime on the inputs of the PyTorch model.

        Arguments are as the model takes them, nested and by keyword; their leaves become the inputs
        of the ONNX model. Returns its outputs in order, flattened; complex ones as real tensors
        with a last dimension of 2. A keyword argument `options` that is an ONNXRuntimeOptions is
        not the model's, but says how a new session is made.
        """
        package("torch", "calling a program")
        options = kwargs.get("options")
        if isinstance(options, ONNXRuntimeOptions):
            kwargs = {name: value for name, value in kwargs.items() if name != "options"}
            self.initialize_inference_session(options=options)
        if self._session is None:
            self.initialize_inference_session()
        native = self._model
        names = [name for name, _, _ in native.inputs]
        outputs = [name for name, _, _ in native.outputs]
        return tuple(run(self._session, self._feed(names, args, kwargs), outputs))

    def compute_values(
        self,
        value_names: Sequence[str],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Sequence[torch.Tensor]:
        """What values of the main graph, by name, come to. Raises ValueError for unknown names."""
        package("torch", "computing values")
        native = self._model
        nodes = _native.nodes(native)
        known = {name for node in nodes for name in node[4]}
        for name in value_names:
            if name not in known:
                raise ValueError(f"the model has no value '{name}'")
        part = _native.extract(native, 0, len(nodes), list(value_names))
        whole = ONNXProgram(part, self._captured)
        feed = self._feed([name for name, _, _ in native.inputs], args, kwargs or {})
        taken = {name for name, _, _ in part.inputs}
        session = open_session(whole._serialize())
        return tuple(run(session, {k: v for k, v in feed.items() if k in taken}, list(value_names)))

    def call_reference(self, *args: Any, **kwargs: Any) -> Sequence[torch.Tensor]:
        """The same by the reference implementation of the package onnx, in place of a runtime."""
        torch = package("torch", "call_reference")
        reference = package("onnx.reference", "call_reference")
        evaluator = reference.ReferenceEvaluator(self.model_proto)
        feed = self._feed(self.input_names, args, kwargs)
        arrays = {name: torch.as_tensor(value).numpy(force=True) for name, value in feed.items()}
        return tuple(torch.from_numpy(array) for array in evaluator.run(None, arrays))

    def _feed(
        self, names: Sequence[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        values = feed_of(self._captured, args, kwargs)
        if len(values) != len(names):
            raise OnnxExporterError(
                f"the model takes {len(names)} inputs ({', '.join(names)}), got {len(values)}"
            )
        return dict(zip(names, values, strict=True))

    def release(self) -> None:
        """Drops the session and its temporary files. The next call makes a new one."""
        self._session = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _not_tensors(state_dict: Mapping[str, Any]) -> list[str]:
    torch = package("torch", "taking weights from a state dict")
    return [
        f"'{name}' is a {type(value).__name__}, not a tensor"
        for name, value in state_dict.items()
        if not isinstance(value, torch.Tensor)
    ]


ExportOutput = ONNXProgram  # what it was called first
