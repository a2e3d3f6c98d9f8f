"""Copies of a native model."""

from __future__ import annotations

from sardonyx import _native


def over_the_same_weights(model: _native.Model) -> _native.Model:
    """A model of its own, whose weights lie where those of `model` do; no weight is copied."""
    bare = _native.serialize(model, include_initializers=False, keep_initializers_as_inputs=True)
    result = _native.parse_model(bare)
    names = [name for name, *_ in _native.constants(model)]
    _native.attach(result, model, [(name, name) for name in names], [])
    _native.copy_origins(result, model)
    return result
