"""GGUF files: conversions of transformers' loader, and what its older reader knows."""

from __future__ import annotations

from typing import Any

from .probing import Probe, has, lookup

LOADER = Probe(
    "GGUF files by conversions of the loader",
    has("integrations.gguf", "is_gguf_arch_supported", "get_gguf_conversion_mapping"),
)
NAMES = Probe(
    "GGUF files by the names of the package gguf",
    has(
        "modeling_gguf_pytorch_utils",
        "TENSOR_PROCESSORS",
        "TensorProcessor",
        "get_gguf_hf_weights_map",
    ),
)


def conversions_of(architecture: str, config: Any) -> list[Any] | None:
    """The conversions of transformers' loader; None where it has none for the architecture."""
    if not LOADER.available:
        return None
    module = lookup("integrations.gguf")
    if not module.is_gguf_arch_supported(architecture):
        return None
    found: list[Any] = module.get_gguf_conversion_mapping(architecture, config)
    return found


def processor_of(architecture: str, config: dict[str, Any]) -> Any:
    """What stores tensors as transformers has them."""
    made = lookup("modeling_gguf_pytorch_utils", "TENSOR_PROCESSORS").get(architecture)
    return (made or lookup("modeling_gguf_pytorch_utils", "TensorProcessor"))(config=config)


def names_of(model: Any, processor: Any) -> dict[str, str]:
    """The model's names for llama.cpp's. NotImplementedError for an architecture without names."""
    find = lookup("modeling_gguf_pytorch_utils", "get_gguf_hf_weights_map")
    found: dict[str, str] = find(model, processor)
    return found
