"""What is used of transformers beyond its promised API: found by class, probed, or done here."""

from __future__ import annotations

import copy
import inspect
import json
from typing import Any, NamedTuple

import pytest
import torch
import transformers
from transformers import DynamicCache, EncoderDecoderCache

import sardonyx
from sardonyx._transformers_private import (
    features,
    kernels,
    models,
    registration,
    tracing,
    trees,
    weights,
)
from sardonyx._transformers_private.caches import (
    cache_parameter,
    give_places,
    has_windows,
    is_cache,
    new_cache,
    returned_cache,
    take_places,
)
from sardonyx._transformers_private.probing import MissingError, Probe, has, lookup
from sardonyx._transformers_private.registration import register_caches


class _Pair(NamedTuple):
    first: Any
    second: Any


class _State:
    def __init__(self, **held: Any) -> None:
        vars(self).update(held)


def test_objects_are_taken_apart_and_put_together_again() -> None:
    held = _State(
        tensors=[torch.ones(2), (torch.zeros(3), None)],
        pair=_Pair(1, torch.ones(1)),
        by_layer={0: True, 1: torch.arange(2)},
        kinds={"dtype": torch.float16, "device": torch.device("cpu"), "size": torch.Size([2, 3])},
        kind=DynamicCache,
        names={"a"},
    )
    leaves, description = trees.flatten(held)
    assert len(leaves) == 4
    described = json.loads(json.dumps(description))
    again = trees.unflatten(leaves, described)
    assert trees.flatten(again)[1] == description
    assert isinstance(again.pair, _Pair)
    assert again.kinds == held.kinds
    assert again.by_layer[1] is leaves[3]


def test_what_has_no_state_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="a method cannot be flattened"):
        trees.flatten(_State(call=_State().__init__))


def test_the_form_is_that_of_transformers() -> None:
    """So that programs which its own exporters made are read as ours."""
    dynamo = pytest.importorskip("transformers.exporters.exporter_dynamo")
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    cache.self_attention_cache.update(torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3, 4), 0)
    leaves, description = trees.flatten(cache)
    wanted, theirs = dynamo._pytree_flatten(cache)
    assert description == theirs
    assert [id(each) for each in leaves] == [id(each) for each in wanted]


class _Annotated(torch.nn.Module):
    def forward(self, input_ids: torch.Tensor, padding: Any = None, memory: DynamicCache | None = None) -> None: ...  # noqa: E501  # fmt: skip


class _Named(torch.nn.Module):
    def forward(self, input_ids, cache_params=None): ...  # type: ignore[no-untyped-def]


class _Keyed(torch.nn.Module):
    def forward(self, input_ids: Any, cache: dict[str, torch.Tensor] | None = None) -> None: ...


class _Passing(torch.nn.Module):
    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, input_ids: Any, **more: Any) -> None: ...


class _ByText(torch.nn.Module):
    forward: Any

    def __init__(self, annotation: str) -> None:
        super().__init__()

        def forward(input_ids: Any, cache: Any = None, more: Any = None) -> None: ...

        forward.__annotations__ = {"more": annotation}
        self.forward = forward


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (_Annotated(), "memory"),
        (_Annotated, "memory"),
        (_Named(), "cache_params"),
        (_Keyed(), None),
        (_Passing(_Annotated()), "memory"),
        (_Passing(_Keyed()), None),
        (_ByText("Optional[NewCache]"), "more"),
        (_ByText("bool"), "cache"),
    ],
)
def test_the_parameter_of_a_cache(model: Any, name: str | None) -> None:
    assert cache_parameter(model) == name


def test_the_cache_that_was_returned() -> None:
    cache, other = DynamicCache(), DynamicCache()
    assert returned_cache({"logits": 1, "a": other, "b": cache}, "a", cache) is cache
    assert returned_cache({"logits": 1, "a": other, "b": cache}, "b") is cache
    assert returned_cache((1, cache), "past_key_values") is cache
    assert returned_cache({"logits": 1, "state": [1]}, "state") == [1]
    assert returned_cache({"logits": 1}, "state") is None
    assert is_cache(cache)
    assert not is_cache([1])


def test_new_caches_have_no_windows() -> None:
    config = transformers.MistralConfig(num_hidden_layers=2, sliding_window=4)
    assert has_windows(DynamicCache(config=config))
    assert not has_windows(new_cache(config))


def test_layers_without_keys_stay_where_they_are() -> None:
    """Layers that have no attention, between those that have."""
    register_caches()
    cache = DynamicCache()
    cache.update(torch.ones(1, 1, 2, 3), torch.ones(1, 1, 2, 3), 0)
    cache.layers.append(type(cache.layers[0])())
    cache.update(2 * torch.ones(1, 1, 2, 3), torch.ones(1, 1, 2, 3), 2)
    again = torch.utils._pytree.tree_map(lambda leaf: leaf, copy.deepcopy(cache))
    assert again.layers[1].keys is None
    assert torch.equal(again.layers[2].keys, cache.layers[2].keys)


def test_every_feature_says_what_it_lacks() -> None:
    assert [f.name for f in features.features() if not f.available and not f.reason] == []
    assert len({f.name for f in features.features()}) == len(features.features())
    with pytest.raises(MissingError, match=r"no transformers\.cache_utils\.Nothing"):
        lookup("cache_utils", "Nothing")
    with pytest.raises(MissingError, match=r"no transformers\.nowhere"):
        lookup("nowhere")
    missing = Probe("a feature", has("cache_utils", "DynamicCache.nothing"))
    assert not missing.available
    assert (
        missing.reason == "this transformers has no transformers.cache_utils.DynamicCache.nothing"
    )


def _without(monkeypatch: pytest.MonkeyPatch, probe: Probe) -> None:
    monkeypatch.setitem(probe.__dict__, "reason", "it is not there")


def test_without_a_feature_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with a release that has none of them."""
    from sardonyx._transformers_private import models

    for probe in (
        tracing.MASKS, tracing.NOTHING_KEPT, kernels.WRAPPERS, models.UNINITIALIZED,
        weights.CONVERSIONS,
    ):  # fmt: skip
        _without(monkeypatch, probe)
    config = transformers.LlamaConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
        intermediate_size=16, vocab_size=50, max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    model.save_pretrained(tmp_path / "model")
    report = sardonyx.hf.export(tmp_path / "model", tmp_path / "out", verify=True)
    assert report.verified["different"] == []
    assert "past_key_values.0.key" in report.parts[0].inputs
    sardonyx.export(model, (torch.ones(1, 2, dtype=torch.int64),), verbose=True)
    said = capsys.readouterr().err
    assert f"without {tracing.MASKS.name}: it is not there" in said


def test_models_are_built_without_a_private_constructor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(transformers.PreTrainedModel, "_from_config")
    config = transformers.BertConfig(
        hidden_size=8, num_attention_heads=2, num_hidden_layers=1, intermediate_size=8, vocab_size=9
    )
    model = models.built(transformers.BertModel, config)
    assert {each.dtype for each in model.parameters()} == {torch.float32}


def test_features_stand_in_one_form() -> None:
    from sardonyx._diffusers_private.features import Feature as OfDiffusers

    assert OfDiffusers._fields == features.Feature._fields
    assert list(inspect.signature(features.features).parameters) == []


def test_static_caches_of_a_release_that_cannot_export_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with transformers 5.2, whose layers do not know their length."""
    config = transformers.LlamaConfig(num_hidden_layers=1)
    cache = transformers.StaticCache(config=config, max_cache_len=4)
    register_caches()
    _without(monkeypatch, registration.STATIC)
    told = r"SX1016.*StaticCache(.|\n)*upgrade transformers"
    with pytest.raises(sardonyx.OnnxExporterError, match=told):
        torch.utils._pytree.tree_flatten(cache)


def test_layers_get_places_and_give_them_back() -> None:
    cache = DynamicCache()
    keys = torch.zeros(1, 2, 8, 4)
    cache.update(keys, keys, 0)
    former = give_places(cache, 8, torch.tensor(3))
    asked = cache.get_seq_length()
    cache.update(torch.ones(1, 2, 2, 4), torch.ones(1, 2, 2, 4), 0)
    assert asked.equal(torch.tensor(3))  # of before, as in a cache that grows
    assert cache.get_seq_length().equal(torch.tensor(5))
    take_places(cache, former)
    assert type(cache.layers[0]).__name__ == "DynamicLayer"
    assert cache.layers[0].keys[0, 0, :, 0].tolist() == [0, 0, 0, 1, 1, 0, 0, 0]


def test_what_has_no_places() -> None:
    with pytest.raises(TypeError, match="has no layers"):
        give_places(DynamicCache(), 8, torch.tensor(0))
