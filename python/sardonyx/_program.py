"""What an export returns: a model that can be looked at, called and saved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ._errors import Diagnostic, OnnxExporterError, SaveError
from ._inputs import feed_of

if TYPE_CHECKING:
    import onnx
    import onnx_ir
    import torch
    from torch.export import ExportedProgram

    from . import _native

# Above this, a model does not fit one protobuf message and is handed over in files.
_LARGEST_MESSAGE = 2**31 - 1


class ONNXProgram:
    """An ONNX model in memory, with the program that it was made of.

    Weights are not copied: they stay where PyTorch has them until they are written. Change a
    parameter in place, and what is saved afterwards has the new values.
    """

    def __init__(
        self,
        model: _native.Model,
        exported_program: ExportedProgram | None,
        notes: Sequence[Diagnostic] = (),
    ) -> None:
        """From a native model; users get one from `sardonyx.export`."""
        self._model = model
        self._exported_program = exported_program
        self.notes: tuple[Diagnostic, ...] = tuple(notes)
        self._session: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._proto: onnx.ModelProto | None = None

    # --- looking at it

    @property
    def exported_program(self) -> ExportedProgram | None:
        """The torch.export.ExportedProgram; None for a model that was read from a file."""
        return self._exported_program

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

    def __str__(self) -> str:
        return str(self._model)

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(self.input_names), ", ".join(self.output_names)
        return f"ONNXProgram(({inputs}) -> ({outputs}), {self.node_count} nodes)"

    @property
    def model_proto(self) -> onnx.ModelProto:
        """The model as an onnx.ModelProto, weights included. Needs the package onnx.

        The message is made at the first use and kept; changes to it do not change what is saved.
        """
        import onnx

        if self._proto is not None:
            return self._proto
        try:
            self._proto = onnx.load_model_from_string(self._serialize())
        except SaveError:
            with tempfile.TemporaryDirectory(prefix="sardonyx-") as folder:
                path = Path(folder) / "model.onnx"
                self.save(path, external_data=True)
                self._proto = onnx.load_model(str(path))
        return self._proto

    @property
    def model(self) -> onnx_ir.Model:
        """The model as an onnx_ir.Model. Needs the package onnx_ir."""
        import onnx_ir

        return onnx_ir.serde.deserialize_model(self.model_proto)

    # --- changing it

    def optimize(self) -> list[str]:
        """Simplifies the model in place: constant folding, fusions, redundant nodes.

        Returns the names of the passes that changed something, in the order they ran.
        """
        from . import _native

        self._changed()
        return _native.optimize(self._model, stop_after="")

    def apply_weights(self, state_dict: Mapping[str, torch.Tensor]) -> None:
        """Replaces weights by the tensors of `state_dict`, whose memory is borrowed, not copied.

        Names are those of the module's parameters and buffers; of tied ones, any. Tensors that the
        module has and the program does not use are passed over. Raises OnnxExporterError, which
        lists all of them, for names that neither has and for tensors of another shape or dtype; the
        model is unchanged then.
        """
        from . import _native

        self._changed()
        problems = _native.apply_weights(self._model, self._by_weight(state_dict))
        if problems:
            raise OnnxExporterError(
                "these tensors do not fit the model:\n  " + "\n  ".join(problems),
                [Diagnostic("SX1006", problem) for problem in problems],
            )

    def _by_weight(self, state_dict: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Tied tensors under the one name that the model has for them."""
        from . import _native

        names = set(_native.weight_names(self._model))
        captured = self._exported_program.state_dict if self._exported_program else {}
        result: dict[str, torch.Tensor] = {}
        for name, tensor in state_dict.items():
            tied = [other for other in names if captured.get(other) is captured.get(name)]
            if name in names or name not in captured:
                result[name] = tensor
            elif tied:
                result.setdefault(tied[0], tensor)
        return result

    def _changed(self) -> None:
        self._proto = None
        self.release()

    # --- saving it

    def save(
        self,
        destination: str | os.PathLike[str] | IO[bytes],
        *,
        include_initializers: bool = True,
        keep_initializers_as_inputs: bool = False,
        external_data: bool | None = None,
    ) -> None:
        """Writes the model to a path (atomically) or a binary file object.

        - `include_initializers`: whether the weights are written at all.
        - `keep_initializers_as_inputs`: whether they are listed as inputs, too, so that they can be
          overridden or, when not included, supplied at run time.
        - `external_data`: True puts them into `<destination>.data`, False never does, and None does
          where the model would exceed 2 GB.

        Raises TypeError when external data is asked for and `destination` is no path, SaveError
        when the file cannot be written; what was there before is then still there.
        """
        from . import _native

        if isinstance(destination, (str, os.PathLike)):
            _native.write(
                self._model,
                os.fspath(destination),
                external_data=external_data,
                include_initializers=include_initializers,
                keep_initializers_as_inputs=keep_initializers_as_inputs,
            )
            return
        if not hasattr(destination, "write"):
            raise TypeError(f"destination is a {type(destination).__name__}, not a path or file")
        if external_data:
            raise TypeError("external_data=True needs a path as destination, not a file object")
        destination.write(self._serialize(include_initializers, keep_initializers_as_inputs))

    def _serialize(self, include: bool = True, as_inputs: bool = False) -> bytes:
        from . import _native

        return _native.serialize(
            self._model, include_initializers=include, keep_initializers_as_inputs=as_inputs
        )

    # --- running it

    def initialize_inference_session(
        self, initializer: Callable[[str | bytes], Any] | None = None
    ) -> None:
        """Loads the model into ONNX Runtime; calling the program does so by itself.

        `initializer` gets the model's bytes, or its path when it exceeds 2 GB, and returns the
        onnxruntime.InferenceSession to use. Needs the package onnxruntime.
        """
        from ._runtime import default_session

        self.release()
        source: str | bytes
        try:
            source = self._serialize()
        except SaveError:
            self._folder = tempfile.TemporaryDirectory(prefix="sardonyx-")
            source = str(Path(self._folder.name) / "model.onnx")
            self.save(source, external_data=True)
        self._session = (initializer or default_session)(source)

    def __call__(self, *args: Any, **kwargs: Any) -> Sequence[torch.Tensor]:
        """Runs the model in ONNX Runtime on the inputs of the PyTorch model.

        Arguments are as the model takes them, nested and by keyword; their leaves become the inputs
        of the ONNX model. Returns its outputs in order, flattened; complex ones as real tensors
        with a last dimension of 2.
        """
        from ._runtime import run

        if self._session is None:
            self.initialize_inference_session()
        names = self.input_names
        return tuple(run(self._session, self._feed(names, args, kwargs), self.output_names))

    def _feed(
        self, names: Sequence[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        values = feed_of(self._exported_program, args, kwargs)
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
