"""The mode of a model during its export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sardonyx._base.enumerators import TrainingMode
from sardonyx._base.errors import Diagnostic

if TYPE_CHECKING:
    import torch


@contextmanager
def select_model_mode_for_export(model: Any, mode: Any) -> Iterator[Any]:
    """Within it, `model` and each module in it is in the mode that `mode` asks for.

    `mode` is a TrainingMode, ours or torch.onnx's: EVAL, TRAINING, or PRESERVE, which leaves them
    as they are. Modules are as they were afterwards, each for itself. TypeError for another mode.
    """
    name = getattr(mode, "name", None)
    if mode is not None and name not in TrainingMode.__members__:
        raise TypeError(f"mode should be a TrainingMode, but got {mode!r}")
    before: dict[torch.nn.Module, bool | None] = {}
    if hasattr(model, "modules") and name in ("EVAL", "TRAINING"):
        # Frozen TorchScript modules have no mode.
        before = {module: getattr(module, "training", None) for module in model.modules()}
        model.train(name == "TRAINING")
    try:
        yield model
    finally:
        for module, training in before.items():
            if training is None:
                vars(module).pop("training", None)
            else:
                module.training = training


def notes_of_training(model: Any) -> list[Diagnostic]:
    """A warning where modules are in training mode whose code asks for it, as dropout's and batch
    normalization's do."""
    if not hasattr(model, "modules"):
        return []
    names = [
        f"'{path}' ({type(module).__name__})" if path else type(module).__name__
        for path, module in model.named_modules()
        if getattr(module, "training", False) and _asks_for_mode(module)
    ]
    if not names:
        return []
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return [
        Diagnostic(
            "SX1025",
            f"the model is exported in training mode, which {', '.join(names[:3])}{more} computes "
            "in another way: dropout is random, statistics are those of the batch",
            help="call model.eval() first; training=TrainingMode.PRESERVE says that it is intended",
            severity="warning",
        )
    ]


def _asks_for_mode(module: Any) -> bool:
    """Whether a method of its class reads `training`."""
    # Dropout that drops nothing: of a layer, or between those of a recurrent one.
    if getattr(module, "p", None) == 0.0 or getattr(module, "dropout", None) == 0.0:
        return False
    import torch

    if isinstance(module, torch.jit.ScriptModule):
        return "self.training" in getattr(module, "code", "")
    return any(
        "training" in getattr(getattr(method, "__code__", None), "co_names", ())
        for kind in type(module).__mro__
        if kind is not torch.nn.Module and issubclass(kind, torch.nn.Module)
        for method in vars(kind).values()
    )
