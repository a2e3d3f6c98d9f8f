"""Models that are captured without the memory that their weights would take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sardonyx._torch_private.fake_tensors import FakeTensorMode


@dataclass(frozen=True)
class ONNXFakeContext:
    """What `enable_fake_mode()` is entered with."""

    fake_mode: FakeTensorMode


@contextmanager
def enable_fake_mode() -> Iterator[ONNXFakeContext]:
    """Within it, tensors, and so a model's parameters, have shapes and types but no data.

    Buffers that no checkpoint has (persistent=False), and tensors that are no buffers, are computed
    after the export, by what the model computed them with in this mode.

    with sardonyx.enable_fake_mode():
        model, x = Model(), torch.randn(2, 2)
    program = sardonyx.export(model, (x,))
    program.save("architecture.onnx", include_initializers=False)
    program.apply_weights("folder/of/safetensors/shards")
    program.save("model.onnx")
    """
    from sardonyx._torch_private import fake_tensors, sizes

    from .fake_values import RecordingFakeMode

    mode = RecordingFakeMode(
        allow_non_fake_inputs=not fake_tensors.is_fake_mode_active(),
        shape_env=sizes.new_environment(),
    )
    with mode:
        yield ONNXFakeContext(mode)
