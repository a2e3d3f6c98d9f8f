"""Fake-tensor tracing gives torch.export's program, call by call, or declines."""

# Models draw numbers of NumPy's global state, as users' may.
# ruff: noqa: NPY002

from __future__ import annotations

import copy
import random
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._capture.capture import capture
from sardonyx._capture.context import capturing
from sardonyx._capture.meta_tracer.entry.capture import quick_capture
from sardonyx._capture.meta_tracer.entry.program_text import lines_that_count
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.shapes.dynamic_shapes import prepare

from .comparison import text_of


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(8, 24)
        self.norm = torch.nn.LayerNorm(8)
        self.outer = torch.nn.Linear(8, 8)
        self.register_buffer("scale", torch.tensor([0.5]), persistent=False)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.inner(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (each.view(batch, length, 2, 4).transpose(1, 2) for each in parts)
        y = torch.nn.functional.scaled_dot_product_attention(q * self.scale, k, v)
        return self.outer(y.transpose(1, 2).reshape(batch, length, 8)) + x


class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(64, 8)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        mask = places[None, :] <= places[:, None]
        return torch.cat([self.table(tokens), self.table(places)[None]], 0), mask


class Rotary(torch.nn.Module):
    def forward(self, x):
        half = x.shape[-1] // 2
        turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
        x = x.transpose(1, 2)
        return x * x.cos() + turned.transpose(1, 2) * x.float().pow(2).mean(-1, keepdim=True)


class Looked(torch.nn.Module):
    def forward(self, x):
        rows = torch.arange(x.shape[0])[:, None, None]
        columns = torch.arange(x.shape[1])[None, None, :]
        return (x != 1).cumsum(-1)[rows, columns.expand(-1, 2, -1)] * x.new_ones(1, 1, 1)


class Outputs(torch.nn.Module):
    def forward(self, x, flag=True, *, y):
        return {"sum": x + y if flag else x, "none": None, "pair": (y.to(torch.float32), 3)}


class Constants(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.arange(4.0)

    def forward(self, x):
        return x * torch.tensor([1.0, 2.0, 3.0, 4.0]) + self.shift, x.shape[0]


class Writes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(4))

    def forward(self, x):
        self.calls.add_(1)
        y = x * self.calls
        y[:, 1:3].mul_(2)
        y[0] = 7
        return y, y.sort(-1)


class Shared(torch.nn.Module):
    """One module in several places: which of its paths led to a call is seen."""

    def __init__(self):
        super().__init__()
        self.one = torch.nn.Linear(4, 4)
        self.rest = torch.nn.ModuleList([torch.nn.Sequential(self.one), torch.nn.ReLU(), self.one])

    def forward(self, x):
        x = self.one(x)
        for module in self.rest:
            x = module(x)
        return self.rest[2](x)


class Items(torch.nn.Module):
    def forward(self, x, *, n):
        torch._check((n.sum() < 100).item())
        first, second, third = n.item(), (n + 1).item(), (n + 2).item()
        return x * second, torch.full((2, 2), third), x + first, x * n.sum().item()


class Kinds(torch.nn.Module):
    """Asks what tensors are, by operators."""

    def forward(self, x):
        is_float = torch.ops.aten.is_floating_point(x)
        return x * torch.ops.aten.dim(x) if is_float else x


class Asserted(torch.nn.Module):
    def forward(self, x):
        torch._check((x.sum() < 100).item())
        return x * 2


_TOKENS = torch.randint(0, 64, (1, 5))
MODELS = {
    "heads": (Heads(), (torch.randn(2, 5, 8),), {}, {"x": {0: "batch", 1: "length"}}),
    "positions": (Positions(), (_TOKENS,), {}, {"tokens": {1: "length"}}),
    "rotary": (Rotary(), (torch.randn(2, 3, 4, 8),), {}, {"x": {0: "batch", 1: "length"}}),
    "looked": (Looked(), (torch.randn(3, 5),), {}, {"x": {0: "batch", 1: "length"}}),
    "constants": (Constants(), (torch.randn(3, 4),), {}, {"x": {0: "batch"}}),
    "shared": (Shared(), (torch.randn(3, 4),), {}, {"x": {0: "batch"}}),
    "writes": (Writes(), (torch.randn(3, 4),), {}, {"x": {0: "batch"}}),
    "items": (
        Items(),
        (torch.randn(3, 4),),
        {"n": torch.tensor([2])},
        {"x": {0: "batch"}, "n": None},
    ),
    "kinds": (Kinds(), (torch.randn(3, 4),), {}, {"x": {0: "batch"}}),
    "asserted": (Asserted(), (torch.randn(3, 4),), {}, {"x": {0: "batch"}}),
    "outputs": (
        Outputs(),
        (torch.randn(3, 4),),
        {"y": torch.randn(4)},
        {"x": {0: "batch"}, "flag": None, "y": None},
    ),
}


def programs(name, is_dynamic):
    """The text of torch.export's program, and of fake-tensor tracing's."""
    model, args, kwargs, shapes = MODELS[name]
    dynamic = prepare(model.eval(), args, kwargs, shapes if is_dynamic else None)
    usual = capture(model, args, kwargs, dynamic, report=lambda _: None).program
    with capturing():
        quick = quick_capture(model, args, kwargs, dynamic.shapes, lambda: usual)
    # By name and without max(1, size) in strides: torch.export's symbols may be 0 to sympy.
    ranges = [{str(k): v for k, v in e.range_constraints.items()} for e in (quick, usual)]
    assert ranges[0] == ranges[1]
    texts = [re.sub(r"max\(1, (s\d+)\)", r"\1", text_of(each)) for each in (usual, quick)]
    return [lines_that_count(each) for each in texts]


@pytest.mark.parametrize("name", MODELS)
def test_program_of_numbers_is_the_same(name):
    usual, quick = programs(name, False)
    assert quick == usual


@pytest.mark.parametrize("name", MODELS)
def test_program_of_open_sizes_is_the_same_but_for_their_arithmetic(name):
    usual, quick = programs(name, True)
    assert quick == usual


@pytest.mark.parametrize("name", MODELS)
def test_exported_model_computes_the_same(name):
    model, args, kwargs, shapes = MODELS[name]
    made = sardonyx.export(
        model.eval(), args, kwargs=kwargs, dynamic_shapes=shapes, capture="quick"
    )
    assert type(made._captured).__name__ == "QuickProgram"
    for scale in (1, 2):
        # What is open is the batch, and of tokens their number.
        given = tuple(torch.cat([arg] * scale, 1 if name == "positions" else 0) for arg in args)
        with torch.no_grad():
            eager = copy.deepcopy(model)
            wanted = torch.utils._pytree.tree_leaves(eager(*given, **kwargs))
        got = made(*given, **kwargs)
        wanted = [each for each in wanted if isinstance(each, torch.Tensor)]
        for one, other in zip(got, wanted, strict=False):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


class Branch(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.shape[0] == 3 else x


class Assigned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        self.scale = (self.scale * 2)[:2]
        return x[:, :2] * self.scale


class Raises(torch.nn.Module):
    def forward(self, x):
        raise ValueError("mine")


class Data(torch.nn.Module):
    def forward(self, x):
        return x * x.numpy().sum()


class Number(torch.nn.Module):
    def forward(self, x):
        return x[: int(x.sum().item())].expand(2, *x.shape)


class Forgiving(torch.nn.Module):
    """A model that catches what is raised in it must not be captured without that."""

    def forward(self, x):
        try:
            return x * x.numpy()[0][0]
        except Exception:
            return x


class Grows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        self.more = self.weight
        return x * self.more


class Derived(torch.nn.Module):
    def forward(self, x):
        return torch.func.grad(lambda row: (row**2).sum())(x)


DECLINED = [
    *(Branch(), Assigned(), Grows(), Raises(), Data(), Number(), Forgiving(), Derived()),
]


# Of a branch on a size nothing is asked where no size is open.
ALSO_STATIC = [model for model in DECLINED if not isinstance(model, Branch)]


@pytest.mark.parametrize(
    ("model", "size"),
    [*((model, "batch") for model in DECLINED), *((model, None) for model in ALSO_STATIC)],
)
def test_declines_what_it_is_not_sure_of_and_changes_nothing(model, size):
    before, call = dict(vars(model)), torch.nn.Module.__call__
    buffers = dict(model.named_buffers())
    args = (torch.randn(3, 4),)
    dynamic = prepare(model, args, {}, {"x": {0: size}} if size else None)
    state = torch.get_rng_state()
    with capturing(), pytest.raises(DeclinedError):
        quick_capture(model, args, {}, dynamic.shapes, lambda: pytest.fail("asked"))
    assert torch.equal(torch.get_rng_state(), state)
    assert vars(model) == before
    assert dict(model.named_buffers()) == buffers
    assert not getattr(model, "seen", ())
    assert torch.nn.Module.__call__ is call
    assert not torch.overrides._get_current_function_mode_stack()


class Again(torch.nn.Module):
    """Its buffer is of the type that it is converted to, and so the same tensor."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4) * 3)

    def forward(self, x):
        self.scale = self.scale.to(x.dtype)
        return x * self.scale


def test_a_buffer_assigned_to_itself_is_no_change():
    model, x = Again(), torch.randn(3, 4)
    before = model.scale
    made = sardonyx.export(model, (x,), dynamic_shapes={"x": {0: "rows"}}, capture="quick")
    assert model.scale is before
    assert len(made(x)) == 1
    assert torch.equal(made(x)[0], x * 3)


class Reflected(torch.nn.Module):
    """PyTorch asserts that there is enough to reflect: fewer columns are an error there, too."""

    def forward(self, x):
        return torch.nn.functional.pad(x, (2, 1), mode="reflect")


def test_takes_what_is_an_error_of_other_sizes():
    model, x = Reflected(), torch.randn(2, 5)
    made = sardonyx.export(model, (x,), dynamic_shapes={"x": {1: "columns"}}, capture="quick")
    x = torch.randn(2, 7)
    assert torch.equal(made(x)[0], model(x))


class Transformed(torch.nn.Module):
    """torch.export takes the sizes of the grid for numbers."""

    def __init__(self):
        super().__init__()
        self.places = torch.nn.Linear(3, 6)

    def forward(self, x):
        theta = self.places(x.mean((2, 3))).view(-1, 2, 3)
        grid = torch.nn.functional.affine_grid(theta, x.size(), align_corners=False)
        return torch.nn.functional.grid_sample(x, grid, align_corners=False)


def test_grids_keep_sizes_open():
    model, x = Transformed(), torch.randn(2, 3, 8, 10)
    shapes = {"x": {0: Dim.DYNAMIC, 2: Dim.DYNAMIC, 3: Dim.DYNAMIC}}
    made = sardonyx.export(model, (x,), dynamic_shapes=shapes)
    x = torch.randn(3, 3, 5, 7)
    torch.testing.assert_close(made(x)[0], model(x), rtol=1e-4, atol=1e-5)


class Counts(torch.nn.Module):
    """Plain attributes change, and what they hold."""

    def __init__(self):
        super().__init__()
        self.window, self.sizes, self.config = 4, [1], SimpleNamespace(calls={"n": 0})

    def forward(self, x):
        self.window = min(self.window, x.shape[1] // 2)
        self.sizes.append(x.shape[0])
        self.config.calls["n"] += 1
        self.seen = True
        return x[:, : self.window] * len(self.sizes)


def test_plain_attributes_are_put_back():
    model, args = Counts(), (torch.randn(3, 4),)
    made = sardonyx.export(model, args, dynamic_shapes={"x": {0: "rows"}}, capture="quick")
    assert (model.window, model.sizes, model.config.calls) == (4, [1], {"n": 0})
    assert not hasattr(model, "seen")
    x = torch.randn(5, 4)
    assert torch.equal(made(x)[0], x[:, :2] * 2)


class Tells(torch.nn.Module):
    """Prints, warns, and draws random numbers."""

    def __init__(self, is_plain):
        super().__init__()
        self.is_plain, self.drawn = is_plain, 0.0

    def forward(self, x):
        print("told")
        warnings.warn("warned", UserWarning, stacklevel=1)
        self.drawn = random.random() + np.random.random()
        torch.set_default_dtype(torch.float64)
        torch.set_default_dtype(torch.float32)
        return x * 2 if self.is_plain else x.clone().unsqueeze_(0)


@pytest.mark.parametrize("is_plain", [True, False])
def test_what_forward_tells_is_told_once(is_plain, capsys):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sardonyx.export(Tells(is_plain), (torch.randn(3, 4),))
    assert capsys.readouterr().out == "told\n"
    assert [str(each.message) for each in told].count("warned") == 1


class Draws(torch.nn.Module):
    def forward(self, x):
        random.random()
        np.random.random()
        torch.manual_seed(7)
        torch.set_default_dtype(torch.float64)
        return x * x.numpy()[0][0]


def test_random_numbers_and_settings_are_as_before_where_it_declines():
    args = (torch.randn(3, 4),)
    dynamic = prepare(Draws(), args, {}, None)
    before = (random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist())
    with capturing(), pytest.raises(DeclinedError):
        quick_capture(Draws(), args, {}, dynamic.shapes, lambda: pytest.fail("asked"))
    after = (random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist())
    assert after == before
    assert torch.get_default_dtype() is torch.float32


class Parts(torch.nn.Module):
    def forward(self, x):
        return torch.split_copy(x, 2)


def test_declines_a_number_of_parts_that_sizes_tell():
    args = (torch.randn(5, 3),)
    dynamic = prepare(Parts(), args, {}, {"x": {0: Dim.AUTO}})
    with capturing(), pytest.raises(DeclinedError, match="asks of its sizes whether"):
        quick_capture(Parts(), args, {}, dynamic.shapes, lambda: pytest.fail("asked"))


class Counted(torch.nn.Module):
    """Gemma and Inkling hold as many features as there are places for them against each other. What
    PyTorch works out of the range of a size near 2**63 is off by some."""

    def forward(self, tokens, features):
        text = tokens[..., None].expand(-1, -1, 64).float()
        places = (tokens == 3)[..., None].expand_as(text)
        torch._check(text[places].numel() == features.numel())
        return text.masked_scatter(places, features)


def test_what_data_count_may_be_a_multiple_of_a_size():
    tokens, features = torch.tensor([[3, 3, 1], [1, 2, 3]]), torch.randn(3, 64)
    shapes = ({0: "batch", 1: "length"}, {0: "features"})
    made = sardonyx.export(Counted(), (tokens, features), dynamic_shapes=shapes, capture="quick")
    others = torch.tensor([[3, 3, 1, 3]] * 3), torch.randn(9, 64)
    assert torch.equal(made(*others)[0], Counted()(*others))


def test_torch_export_takes_over_and_says_why(capsys):
    made = sardonyx.export(Grows(), (torch.randn(3, 4),), capture="auto", profile=True)
    assert type(made.exported_program).__name__ == "ExportedProgram"
    assert "declines: self changes which modules or weights it has" in capsys.readouterr().err


def test_alone_it_says_why_it_does_not_capture():
    with pytest.raises(sardonyx.CaptureError, match="data-dependent") as raised:
        sardonyx.export(Number(), (torch.randn(3, 4),), capture="quick")
    assert raised.value.diagnostics[0].code == "SX1003"


def test_refuses_another_word():
    with pytest.raises(sardonyx.OnnxExporterError, match="capture='fast'"):
        sardonyx.export(Rotary(), (torch.randn(2, 3, 4, 8),), capture="fast")


def test_ranges_of_dims_are_the_programs():
    model, args = Rotary(), (torch.randn(2, 3, 4, 8),)
    made = sardonyx.export(
        model, args, dynamic_shapes={"x": {1: Dim("n", min=2, max=9)}}, capture="quick"
    )
    assert made._captured.range_constraints == made.exported_program.range_constraints


@pytest.mark.parametrize("name", ["heads", "rotary", "shared"])
def test_calls_stand_where_torch_export_says(name):
    model, args, kwargs, shapes = MODELS[name]
    made = sardonyx.export(
        model.eval(), args, kwargs=kwargs, dynamic_shapes=shapes, capture="quick"
    )
    usual, quick = (
        {n.name: said_of(n) for n in graph.nodes if n.op == "call_function" and "sym" not in n.name}
        for graph in (made.exported_program.graph, made._captured.graph)
    )
    assert quick == usual


def said_of(node):
    modules = node.meta["nn_module_stack"].values()
    users, target = node.format_node().split("(args")[0], node.meta["stack_trace"]
    return users, target, list(modules)


@pytest.mark.parametrize("capture", ["quick", "torch"])
def test_an_input_may_have_the_name_of_a_builtin(capture):
    model = torch.nn.Sequential(torch.nn.Linear(4, 2)).eval()  # forward(self, input)
    made = sardonyx.export(
        model, (torch.randn(2, 4),), dynamic_shapes=[{0: "batch"}], capture=capture
    )
    (named,) = made.model_proto.graph.input
    assert named.name == "input"
    assert named.type.tensor_type.shape.dim[0].dim_param == "batch"
