"""Builds a small model, captures it with dynamic batch and length, keeps program and answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch.export import Dim, ExportedProgram
from torch.utils import _pytree
from transformers.exporters.exporter_dynamo import register_cache_pytrees_for_model

from tests.harness.interface import model_inputs, model_outputs
from tests.models.example import unsettle

from .inputs import Recipe, recipes
from .store import Store
from .tiny import PROFILES, tiny_config, tiny_model

_MAX_PARAMETERS = 150_000_000


@dataclass
class _Runnable:
    model: torch.nn.Module
    recipe: Recipe
    profile: str
    parameters: int


def capture_architecture(name: str, store: Store) -> None:
    began = time.monotonic()
    attempts: list[str] = []
    runnable = first_runnable(name, attempts)
    if runnable is None:
        store.record("capture", name, status="no inputs", reasons=attempts[-8:])
        return
    register_cache_pytrees_for_model(runnable.model)
    example = runnable.recipe.make(2, runnable.recipe.lengths[0])
    program, varying = _captured(runnable, example, attempts)
    facts: dict[str, Any] = {
        "profile": runnable.profile,
        "recipe": runnable.recipe.name,
        "parameters": runnable.parameters,
    }
    if program is None:
        store.record("capture", name, status="not captured", reasons=attempts[-3:], **facts)
        return
    kept, sizes, notes = _answers(runnable, program, example, varying)
    torch.save(kept, store.answers(name))
    torch.export.save(program, store.program(name))
    store.record(
        "capture",
        name,
        status="captured",
        varying=sorted(varying),
        sizes=sizes,
        notes=notes,
        nodes=len(program.graph.nodes),
        seconds=round(time.monotonic() - began, 1),
        **facts,
    )


def first_runnable(name: str, attempts: list[str]) -> _Runnable | None:
    for profile in PROFILES:
        try:
            config = tiny_config(name, profile)
            with torch.device("meta"):
                blank = transformers.AutoModel.from_config(config)
            parameters = sum(p.numel() for p in blank.parameters())
            if parameters > _MAX_PARAMETERS:
                attempts.append(f"{profile.name}: {parameters} parameters")
                continue
            model = tiny_model(config)
        except Exception as error:
            attempts.append(f"{profile.name}: {_headline(error)}")
            continue
        for recipe in recipes(model, config):
            example = recipe.make(2, recipe.lengths[0])
            try:
                _run(model, example)
            except Exception as error:
                attempts.append(f"{profile.name}, {recipe.name}: {_headline(error)}")
                continue
            return _Runnable(_livelier(model, config, example), recipe, profile.name, parameters)
    return None


def _livelier(
    model: torch.nn.Module, config: Any, example: dict[str, torch.Tensor]
) -> torch.nn.Module:
    """With unsettled weights, unless its results are then not all finite."""
    torch.manual_seed(5)
    unsettle(model)
    finite = all(t.isfinite().all() for t in _run(model, example) if t.is_floating_point())
    return model if finite else tiny_model(config)


def _run(model: torch.nn.Module, example: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    with torch.no_grad():
        leaves = _pytree.tree_leaves(model(**{k: v.clone() for k, v in example.items()}))
    results = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    if not results:
        raise ValueError("no tensor among the results")
    return results


def _captured(
    runnable: _Runnable, example: dict[str, torch.Tensor], attempts: list[str]
) -> tuple[ExportedProgram | None, set[str]]:
    """With batch and length, else with batch, else with neither; and what stayed dynamic."""
    for wanted in ({"batch", "length"}, {"batch"}, set[str]()):
        shapes = {
            argument: {d: Dim.AUTO for d, what in dims.items() if what in wanted}
            for argument, dims in runnable.recipe.dims.items()
        }
        try:
            with torch.no_grad():
                copies = {k: v.clone() for k, v in example.items()}
                program = torch.export.export(
                    runnable.model, (), copies, dynamic_shapes=shapes, strict=False
                )
        except Exception as error:
            attempts.append(f"{sorted(wanted)}: {_headline(error)}")
            continue
        return program, _still_varying(program, runnable.recipe)
    return None, set()


def _still_varying(program: ExportedProgram, recipe: Recipe) -> set[str]:
    """Dims that the capture specialized anywhere do not vary."""
    fixed: set[str] = set()
    seen: set[str] = set()
    shapes = {
        node.name: node.meta["val"].shape
        for node in program.graph.nodes
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.Tensor)
    }
    for argument, dims in recipe.dims.items():
        for dim, what in dims.items():
            seen.add(what)
            # A size that a guard specialized may still be a SymInt.
            if str(shapes[argument][dim]).isdigit():
                fixed.add(what)
    return seen - fixed


def _answers(
    runnable: _Runnable,
    program: ExportedProgram,
    example: dict[str, torch.Tensor],
    varying: set[str],
) -> tuple[list[dict[str, Any]], list[list[int]], list[str]]:
    kept: list[dict[str, Any]] = []
    sizes: list[list[int]] = []
    notes: list[str] = []
    model, recipe = runnable.model, runnable.recipe
    first, second = recipe.lengths
    for batch, length in _sizes(varying, first, second):
        inputs = example if not sizes else recipe.make(batch, length)
        try:
            flat = model_inputs(program, (), inputs)
            expected = _all_results(program, model, inputs)
            again = _all_results(program, model, inputs)
        except Exception as error:
            notes.append(f"refused {batch} × {length}: {_headline(error)}")
            continue
        pairs = zip(expected, again, strict=True)
        if any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in pairs):
            notes.append("random")
        notes += _difference_of_capture(program, inputs, expected, (batch, length))
        kept.append({"inputs": flat, "outputs": expected})
        sizes.append([batch, length])
        if len(sizes) == 2:
            break
    return kept, sizes, notes


def _sizes(varying: set[str], first: int, second: int) -> list[tuple[int, int]]:
    batches = (3, 1) if "batch" in varying else (2,)
    lengths = (second, 2 * first, first) if "length" in varying else (first,)
    others = [(b, n) for b in batches for n in lengths]
    return [(2, first), *(o for o in others if o != (2, first))]


def _all_results(
    program: ExportedProgram, model: torch.nn.Module, inputs: dict[str, torch.Tensor]
) -> list[torch.Tensor]:
    with torch.no_grad():
        return model_outputs(program, model(**{k: v.clone() for k, v in inputs.items()}))


def _difference_of_capture(
    program: ExportedProgram,
    inputs: dict[str, torch.Tensor],
    expected: list[torch.Tensor],
    size: tuple[int, int],
) -> list[str]:
    """Where the captured program does not answer as the model, no converter is to blame."""
    try:
        captured = _all_results(program, program.module(), inputs)
    except Exception as error:
        return [f"the captured program refuses {size}: {_headline(error)}"]
    for got, want in zip(captured, expected, strict=True):
        same = got.shape == want.shape and torch.allclose(
            got.double(), want.double(), rtol=1e-3, atol=1e-4, equal_nan=True
        )
        if not same:
            return [f"the captured program answers otherwise at {size}"]
    return []


def _headline(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300] if lines else ''}"
