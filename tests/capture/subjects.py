"""What torch.export and fake-tensor tracing both capture, by group and name."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Iterator

import torch
from torch.export import Dim

from .comparison import Subject

Maker = Callable[[], Subject]


def zoo() -> Iterator[tuple[str, Maker]]:
    """Whole models."""
    from tests.models.decoding import cached_decoder
    from tests.models.zoo import ZOO, Example

    def subject(example: Example) -> Subject:
        inputs = example.inputs
        return Subject(example.model.eval(), inputs.args, inputs.kwargs, example.dynamic_shapes)

    for name in ZOO:
        yield name, lambda name=name: subject(ZOO.build(name))  # type: ignore[misc]
    for name in ("gpt2", "llama", "mistral", "qwen3"):
        yield f"{name} with a cache", lambda name=name: subject(cached_decoder(name))  # type: ignore[misc]


def operators() -> Iterator[tuple[str, Maker]]:
    """The rows of tests/operators."""
    import tests.operators
    from tests.operators.check import Call, Case

    def subject(case: Case) -> Subject:
        shapes = [{d: Dim.AUTO for d, n in enumerate(t.shape) if n > 1} for t in case.inputs]
        return Subject(
            Call(case.function),
            case.inputs,
            shapes={"tensors": tuple(shapes)} if case.dynamic else None,
        )

    for module in pkgutil.iter_modules(tests.operators.__path__):
        if not module.name.startswith("test_"):
            continue
        found = importlib.import_module(f"tests.operators.{module.name}")
        for test, function in vars(found).items():
            marks = getattr(function, "pytestmark", ())
            cases = [m.args[1] for m in marks if m.name == "parametrize" and m.args[0] == "case"]
            for number, case in enumerate(case for table in cases for case in table):
                if isinstance(case, Case):
                    name = f"{module.name}.{test}.{number}"
                    yield name, lambda case=case: subject(case)  # type: ignore[misc]


def mutation() -> Iterator[tuple[str, Maker]]:
    """Programs that write in place."""
    from tests.mutation.idioms import IDIOMS
    from tests.mutation.programs import product

    return _programs([*IDIOMS, *product()])


def control_flow() -> Iterator[tuple[str, Maker]]:
    """Branches, loops and regions."""
    from tests.control_flow.test_control_flow import PROGRAMS

    return _programs(PROGRAMS)


def _programs(programs: list) -> Iterator[tuple[str, Maker]]:
    def subject(program) -> Subject:
        return Subject(program.module(), program.example, shapes=program.dynamic)

    for program in programs:
        yield program.name, lambda program=program: subject(program)  # type: ignore[misc]


def architectures() -> Iterator[tuple[str, Maker]]:
    """Small models of the architectures in transformers, batch and length open."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import transformers

    from tests.architectures.capturing import first_runnable
    from tests.architectures.tiny import architectures as names

    transformers.logging.set_verbosity_error()

    def subject(name: str) -> Subject:
        attempts: list[str] = []
        runnable = first_runnable(name, attempts)
        if runnable is None:
            raise LookupError(f"no inputs: {attempts[-1] if attempts else ''}")
        recipe = runnable.recipe
        example = recipe.make(2, recipe.lengths[0])
        dims = {key: dict.fromkeys(axes, Dim.AUTO) for key, axes in recipe.dims.items()}
        return Subject(runnable.model, (), example, {k: dims.get(k) for k in example})

    for name in names():
        yield name, lambda name=name: subject(name)  # type: ignore[misc]


GROUPS: dict[str, Callable[[], Iterator[tuple[str, Maker]]]] = {
    "zoo": zoo,
    "operators": operators,
    "mutation": mutation,
    "control_flow": control_flow,
    "architectures": architectures,
}


def quiet() -> None:
    """One thread, and no warnings of what torch and transformers have to say. Cycles of objects are
    looked for seldom: going over all that both hold takes longer than a small program."""
    import gc
    import warnings

    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
