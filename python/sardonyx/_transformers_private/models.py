"""Classes of transformers for tasks, and models without their weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .probing import MissingError, Probe, has, lookup

# Where models are built without being drawn at random, which takes as long as the model is large.
UNINITIALIZED = Probe(
    "models that are built without drawing their weights",
    has("initialization", "no_init_weights"),
)
REMOTE = Probe(
    "classes in a checkpoint's own code",
    has("dynamic_module_utils", "get_class_from_dynamic_module"),
)


def _has_mapping() -> None:
    import transformers

    if not _names_of(transformers.AutoModel):
        raise MissingError("this transformers has no transformers.AutoModel._model_mapping")


CLASSES = Probe("classes of a task", _has_mapping)


def classes_of(auto: str, config: Any) -> tuple[type[Any], ...]:
    """The classes that an auto class makes of such a configuration."""
    import transformers

    mapping = getattr(getattr(transformers, auto, None), "_model_mapping", None)
    try:
        found = mapping[type(config)] if mapping is not None else ()
    except KeyError:
        return ()
    return found if isinstance(found, tuple) else (found,)


def makes_class(auto: str, name: str) -> bool:
    """Whether the class of that name is one of an auto class, of whichever configuration."""
    import transformers

    return name in _names_of(getattr(transformers, auto, None)).values()


def _names_of(auto: Any) -> dict[str, Any]:
    """The names of an auto class's classes, by the type of their configurations."""
    mapping = getattr(getattr(auto, "_model_mapping", None), "_model_mapping", None)
    return dict(mapping or {})


def remote_class(reference: str, config: Any) -> type[Any]:
    """A class of the checkpoint's own code, which its reader was allowed to run."""
    find = lookup("dynamic_module_utils", "get_class_from_dynamic_module")
    found: type[Any] = find(reference, config._name_or_path)
    return found


@contextlib.contextmanager
def without_initialization() -> Iterator[None]:
    """Within it, parameters are memory that nothing was written to; slower without the feature."""
    if not UNINITIALIZED.available:
        yield
        return
    with lookup("initialization", "no_init_weights")():
        yield


def built(model_class: type[Any], config: Any) -> Any:
    """A model of that class in float32, whose parameters hold nothing that means anything; what
    stands in no checkpoint has the values that its initialization computes."""
    import torch

    with torch.no_grad():
        with without_initialization():
            # Chooses the kind of attention, too; a class has it or is called.
            make = getattr(model_class, "_from_config", None)
            model = make(config, dtype=torch.float32) if make else model_class(config).float()
        for tensor in model.state_dict(keep_vars=True).values():
            tensor._is_hf_initialized = True
        model.initialize_weights()
        model.tie_weights()
    return model


def may_be_missing(model: Any) -> tuple[str, ...]:
    """Patterns of the names of weights that checkpoints leave out."""
    return tuple(getattr(model, "_keys_to_ignore_on_load_missing", None) or ())


def initialize(model: Any, path: str, module: Any) -> None:
    """Has the model that is nearest around the module at `path` initialize `module`."""
    while path:
        path = path.rpartition(".")[0]
        if hasattr(nearest := model.get_submodule(path), "_init_weights"):
            nearest._init_weights(module)
            return
    model._init_weights(module)


@contextlib.contextmanager
def batched_experts(model: Any) -> Iterator[None]:
    """Within it, layers of experts are batched products, of any type of elements; grouped ones know
    bfloat16 alone where tensors have no data."""
    may = getattr(model, "_can_set_experts_implementation", None)
    if may is None or not may():
        yield
        return
    former = model.get_experts_implementation()
    model.set_experts_implementation("batched_mm")
    try:
        yield
    finally:
        model.set_experts_implementation(former)
