"""What capture touches of a model and of PyTorch is put back, whenever it ends."""

from __future__ import annotations

import os
import random
import signal
import time
import warnings
from collections import OrderedDict
from threading import Timer

import pytest
import torch

import sardonyx
from sardonyx._capture.context import capturing
from sardonyx._capture.meta_tracer.entry.capture import quick_capture
from sardonyx._capture.patches.restoration import module_kept
from sardonyx._capture.shapes.dynamic_shapes import prepare


class Keeps(torch.nn.Module):
    """Assigns buffers, keeps tensors in attributes, draws random numbers and changes settings."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(4), persistent=False)
        self.last, self.seen, self.sizes = None, [], {"n": 0}
        self.layers[0].register_forward_hook(lambda *_: None)

    def forward(self, x):
        self.count = self.count + 1
        before = self.mean * 1
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        self.mean.add_(1)
        random.random()
        torch.rand(1)
        for layer in self.layers:
            with torch.autocast("cpu", torch.bfloat16, enabled=False), torch.enable_grad():
                x = layer(x)
            self.last = x
            self.seen.append(x * 2)
            self.sizes["n"] += 1
        self.train()
        return torch.cond(x.sum() > 0, lambda x: x + before, lambda x: x - self.count, (x,))


def everything(model):
    """What has to be the same before and behind a capture."""
    from torch._higher_order_ops import utils

    return {
        "attributes": {path: dict(vars(m)) for path, m in model.named_modules()},
        "buffers": [(name, id(each), each.tolist()) for name, each in model.named_buffers()],
        "hooks": [dict(m._forward_hooks) for m in model.modules()],
        "held": (list(model.seen), dict(model.sizes)),
        "training": [m.training for m in model.modules()],
        "random": (random.getstate(), torch.get_rng_state().tolist()),
        "gradients": torch.is_grad_enabled(),
        "autocast": (torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled()),
        "modes": torch.overrides._get_current_function_mode_stack(),
        "dispatch": torch._ops._len_torch_dispatch_stack_pre_dispatch(),
        "calls": (torch.nn.Module.__call__, torch.nn.Module.__getattr__),
        "functions": (
            getattr(utils, "_hop_compile_and_call", None),
            any,
            all,
            min,
            max,
            torch.tensor,
        ),
        "tracing": (torch.fx._symbolic_trace.is_fx_tracing(), torch.compiler.is_exporting()),
    }


def captured(model):
    args = (torch.ones(3, 4),)
    dynamic = prepare(model, args, {}, {"x": {0: "rows"}})
    with capturing():
        return quick_capture(model, args, {}, dynamic.shapes, lambda: pytest.fail("asked"))


def seeded(model):
    random.seed(11)
    torch.manual_seed(11)
    return everything(model)


def test_an_interrupt_at_any_moment_puts_all_back():
    model = Keeps().eval()
    seeded(model)
    captured(model)
    drawn = everything(model)["random"]
    began = time.perf_counter()
    captured(model)
    takes = time.perf_counter() - began
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    moments, interrupted = random.Random(7), 0
    try:
        for _ in range(40):
            before = seeded(model)
            interrupt = Timer(moments.random() * takes, os.kill, (os.getpid(), signal.SIGINT))
            try:
                interrupt.start()
                captured(model)
                interrupt.join()
            except KeyboardInterrupt:
                interrupted += 1
            now = everything(model)
            if now["random"] == drawn:  # the capture was complete, whether or not it had returned
                before["random"] = drawn
            assert [name for name in now if now[name] != before[name]] == []
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)
    assert interrupted > 20


class Waits(torch.nn.Module):
    def forward(self, x):
        while True:
            time.sleep(0.01)


def test_a_model_that_calls_no_operator_is_interrupted():
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            captured(Waits())
    finally:
        signal.signal(signal.SIGINT, usual)


def test_what_is_put_back_is_warned_of():
    model, x = Keeps().eval(), torch.randn(3, 4)
    before = everything(model)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = sardonyx.export(model, (x,), dynamic_shapes={"x": {0: "rows"}}, capture="quick")
    now = everything(model)
    assert [name for name in now if name != "random" and now[name] != before[name]] == []
    said = [str(each.message) for each in told if "keeps in attributes" in str(each.message)]
    assert len(said) == 1
    assert said[0].startswith("self.last, self.seen: ")
    x = torch.randn(5, 4)
    results = [each.clone() for each in made(x)]
    wanted = [model(x), model.count, model.mean]
    for got, want in zip(results, wanted, strict=True):
        torch.testing.assert_close(got, want)


class Made(dict):
    """Makes what it holds for those who ask, as transformers' table of activations does."""

    def __getitem__(self, key):
        return super().__getitem__(key)()

    def keys(self):
        return list(super().keys())

    def __iter__(self):
        return iter(self.keys())


def test_a_table_that_makes_what_it_is_asked_for_stays_as_it_is():
    class Chooses(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = Made(silu=torch.nn.SiLU)
            self.library = torch

        def forward(self, x):
            return self.table["silu"](self.library.abs(x))

    model = Chooses()
    sardonyx.export(model, (torch.randn(3),))
    assert dict.__getitem__(model.table, "silu") is torch.nn.SiLU


class Frozen(OrderedDict):
    """Lets nobody write to it, as configurations of diffusers."""

    def update(self, *_, **__):
        raise TypeError("frozen")

    pop = setdefault = clear = update


class Reads(torch.nn.Module):
    """Decides by data; `writes` whether it writes to its configuration past the lock."""

    def __init__(self, *, writes):
        super().__init__()
        self.config, self.writes = Frozen(scale=2.0, last=0), writes

    def forward(self, x):
        if self.writes:
            OrderedDict.__setitem__(self.config, "last", 1)
            OrderedDict.__setitem__(self.config, "new", 1)
        return x * self.config["scale"] if x.sum() > 0 else -x


@pytest.mark.parametrize("writes", [False, True])
def test_a_table_that_lets_nobody_write_to_it_is_put_back(writes):
    model = Reads(writes=writes)
    with module_kept(model):
        model(torch.ones(2))
    assert list(model.config.items()) == [("scale", 2.0), ("last", 0)]
    if not writes:
        x = torch.tensor([-3.0, 1.0])
        torch.testing.assert_close(sardonyx.export(model, (torch.ones(2),))(x)[0], -x)
        assert list(model.config) == ["scale", "last"]


class Converts(torch.nn.Module):
    """Converts a layer as routers of experts do."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2).half()

    def forward(self, x):
        self.layer = self.layer.to(x.dtype)
        return self.layer(x) + self.layer.double()(x.double()).to(x.dtype)


def test_a_module_converted_in_forward_has_its_own_weights_again():
    model, x = Converts(), torch.randn(3, 4)
    weight = model.layer.weight
    program = sardonyx.export(model, (x,), capture="quick")
    assert model.layer.weight is weight
    expected = torch.nn.functional.linear(x, weight.float(), model.layer.bias.float()) * 2
    torch.testing.assert_close(program(x)[0], expected.detach())
