"""PyTorch's own database of modules: each class of torch.nn with sample arguments and inputs.

Of each class and dtype every 25th sample, up to two; with SARDONYX_MODULES_EVERY=1 all of them.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from torch.export import ExportedProgram
from torch.testing._internal.common_modules import ModuleInfo, module_db

from tests.harness import assert_exports, capture

EVERY = int(os.environ.get("SARDONYX_MODULES_EVERY", "25"))
MAX = 2 if EVERY > 1 else None
DTYPES = (torch.float32, torch.float16)
# torch.export does not capture these, or not with every argument: shapes depend on the lengths, a
# check reads the variances, a mask makes nested tensors.
SOMETIMES_CAPTURED = {
    torch.nn.CTCLoss,
    torch.nn.GaussianNLLLoss,
    torch.nn.Transformer,
    torch.nn.TransformerEncoder,
    torch.nn.TransformerEncoderLayer,
}


def _name(value: object) -> str:
    return value.name if isinstance(value, ModuleInfo) else str(value).removeprefix("torch.")


def _module(info: ModuleInfo, sample: Any, dtype: torch.dtype) -> torch.nn.Module:
    torch.manual_seed(0)
    made = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
    module: torch.nn.Module = made.to(dtype).eval()
    if info.is_lazy:  # has its weights from the first call on
        module(*sample.forward_input.args, **sample.forward_input.kwargs)
    return module


def _captured(module: torch.nn.Module, given: Any) -> ExportedProgram | None:
    """None where eager PyTorch has no kernel for the dtype, or where capturing is known to fail."""
    try:
        with torch.no_grad():
            module(*given.args, **given.kwargs)
    except (RuntimeError, NotImplementedError):
        return None
    try:
        return capture(module, tuple(given.args), given.kwargs)
    except Exception:
        if type(module) in SOMETIMES_CAPTURED:
            return None
        raise


@pytest.mark.parametrize("dtype", DTYPES, ids=_name)
@pytest.mark.parametrize("info", sorted(module_db, key=lambda info: info.name), ids=_name)
def test_module(info: ModuleInfo, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    samples = info.module_inputs_func(info, "cpu", dtype, requires_grad=False, training=False)
    programs = 0
    for sample in samples[::EVERY][:MAX]:
        given = sample.forward_input
        program = _captured(_module(info, sample, dtype), given)
        if program is None:
            continue
        # Against the captured program: eager kernels of encoders treat masked places otherwise.
        assert_exports(program, tuple(given.args), given.kwargs)
        programs += 1
    if not programs:
        pytest.skip(f"PyTorch does not run or capture it in {_name(dtype)}")
