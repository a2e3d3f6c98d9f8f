"""Weights that checkpoints leave out because transformers' own initialization computes them:
Marian's tables of positions."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from typing import Any

import torch

from sardonyx._torch_private import state
from sardonyx._transformers_private import models


def initial_values(model: Any, names: Iterable[str]) -> dict[str, torch.Tensor]:
    """Those of `names` that the model says may be missing and whose values its initialization
    computes, with these; what it draws at random is no weight of a trained model."""
    patterns = models.may_be_missing(model)
    made = {}
    for name in names:
        if any(re.search(pattern, name) for pattern in patterns):
            first, second = (_initialized(model, name, seed) for seed in (0, 1))
            if torch.equal(first, second):
                made[name] = first
    return made


def _initialized(model: Any, name: str, seed: int) -> torch.Tensor:
    """The parameter of that name, by the initialization of the model that is nearest to it."""
    path, _, own = name.rpartition(".")
    module: Any = copy.deepcopy(model.get_submodule(path))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        for key, parameter in state.parameters_of(module).items():
            if parameter is not None:
                fresh = torch.rand(parameter.shape, dtype=parameter.dtype)
                state.parameters_of(module)[key] = torch.nn.Parameter(fresh, requires_grad=False)
        models.initialize(model, path, module)
    found: torch.Tensor = state.parameters_of(module)[own].detach()
    return found
