"""The models of diffusers: what removes noise, and what makes pictures of what is left."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterator
from typing import Any

import torch

from sardonyx._base.errors import refusal
from sardonyx.hf.base.example import BATCH, LENGTH, Dims, Tensors, random_values
from sardonyx.hf.base.parts import Part

_PICTURE = {0: BATCH, 2: "height", 3: "width"}
_PACKED = "packed_height_width"
_ROWS, _TEXT = 2, 7
# The side of a latent picture where the configuration says none, and that of a picture.
_SIDE = 16
# Six numbers for the size of a picture, which some models embed one by one beside the text.
_SIZES = 6
# The settings that say how wide the states of a text are; first those of models that project them
# to the width of their attention, which the others say.
_WIDTHS = (
    "caption_channels", "encoder_hid_dim", "text_embed_dim", "text_dim", "cross_attention_dim",
    "joint_attention_dim",
)  # fmt: skip


class Denoiser(torch.nn.Module):
    """The denoiser: predicts the noise of latent images."""

    def __init__(self, model: torch.nn.Module, added: tuple[str, ...]) -> None:
        super().__init__()
        self.model = model
        self._added = added

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The prediction, of the picture's size."""
        given: dict[str, Any] = dict(inputs)
        if self._added:
            given["added_cond_kwargs"] = {name: given.pop(name) for name in self._added}
        return (self.model(**given, return_dict=False)[0],)


class PictureEncoder(torch.nn.Module):
    """From pictures to the means and deviations of their latent ones, or to these."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """[batch, channels of both, height, width]."""
        encode: Any = self.model.encode
        found = encode(inputs["sample"])
        held = getattr(found, "latent_dist", None)
        return (held.parameters if held is not None else found[0],)


class PictureDecoder(torch.nn.Module):
    """From latent pictures to pictures."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """[batch, 3, height, width]."""
        decode: Any = self.model.decode
        return (decode(inputs["latent_sample"], return_dict=False)[0],)


def parts_of_autoencoder(model: Any) -> Iterator[Part]:
    """The encoder and the decoder, for images of any size."""
    config = model.config
    latent = int(config.latent_channels)
    if not hasattr(config, "in_channels") or _takes_frames(model):
        raise refusal(
            "SX2007", f"{type(model).__name__} is for no single pictures",
            "call sardonyx.export with the model and inputs of your own",
        )  # fmt: skip
    side = 4 * _SIDE
    picture = random_values((_ROWS, int(config.in_channels), side, side))
    yield Part(
        "vae_encoder/model", PictureEncoder(model), {"sample": picture}, {"sample": _PICTURE},
        ("latent_parameters",),
    )  # fmt: skip
    small = random_values((_ROWS, latent, _SIDE, _SIDE))
    axes = {0: BATCH, 2: "latent_height", 3: "latent_width"}
    yield Part(
        "vae_decoder/model", PictureDecoder(model), {"latent_sample": small},
        {"latent_sample": axes}, ("sample",),
    )  # fmt: skip


def _takes_frames(model: torch.nn.Module) -> bool:
    return any(isinstance(module, torch.nn.Conv3d) for module in model.modules())


def parts_of_denoiser(name: str, model: Any) -> Iterator[Part]:
    """The model in one file. SX2007 for parameters that nothing is known of."""
    inputs, dims, added = _inputs(model)
    first = next(iter(inputs))
    yield Part(f"{name}/model", Denoiser(model, added), inputs, dims, (f"out_{first}",))


def takes_mask(parameters: Container[str]) -> bool:
    """Whether pipelines tell a model that has such parameters which tokens are padding: models
    that take a `sample` can be told, and are not."""
    return "encoder_attention_mask" in parameters and "hidden_states" in parameters


def _inputs(model: Any) -> tuple[Tensors, Dims, tuple[str, ...]]:
    """Examples of what forward() takes, by its parameters and the configuration."""
    parameters = inspect.signature(model.forward).parameters
    config = model.config
    inputs: Tensors = {}
    dims: Dims = {}
    for name, parameter in parameters.items():
        made = _MAKERS.get(name)
        found = made(config, parameters) if made else None
        if found is not None:
            inputs[name], dims[name] = found
        elif parameter.default is inspect.Parameter.empty and parameter.kind in (
            inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY,
        ):  # fmt: skip
            raise refusal(
                "SX2007", f"{type(model).__name__} takes '{name}', of which nothing is known here",
                "call sardonyx.export with the model and inputs of your own",
            )  # fmt: skip
    added: tuple[str, ...] = ()
    if "added_cond_kwargs" in parameters:
        beside = _added(config)
        added = tuple(beside)
        inputs |= {name: value for name, (value, _) in beside.items()}
        dims |= {name: axes for name, (_, axes) in beside.items()}
    return inputs, dims, added


_Made = tuple[torch.Tensor, dict[int, str]]
_Maker = Callable[[Any, Any], _Made | None]


def _get(config: Any, *names: str) -> Any:
    """The first of the settings that has a value."""
    return next((config[n] for n in names if n in config and config[n] is not None), None)


def _latent(config: Any, parameters: Any) -> _Made:
    """An image [batch, channels, height, width], or the sequence of its patches where the model
    takes their positions."""
    channels = int(_get(config, "in_channels") or 4)
    if "img_ids" in parameters:
        return random_values((_ROWS, _SIDE, channels)), {0: BATCH, 1: _PACKED}
    side = _get(config, "sample_size") or _SIDE
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    return random_values((_ROWS, channels, height, width)), _PICTURE


def _timestep(_: Any, parameters: Any) -> _Made:
    """One for all rows where pipelines give one number, otherwise one for each."""
    if "sample" in parameters:
        return torch.tensor([981]), {}
    return torch.full((_ROWS,), 500.0), {0: BATCH}


def _states(config: Any, _: Any) -> _Made | None:
    width = _get(config, *_WIDTHS)
    if width is None:
        return None
    width = max(width) if isinstance(width, (list, tuple)) else int(width)
    return random_values((_ROWS, _TEXT, width)), {0: BATCH, 1: LENGTH}


def _mask(config: Any, parameters: Any) -> _Made | None:
    if _states(config, parameters) is None or not takes_mask(parameters):
        return None
    return torch.ones(_ROWS, _TEXT, dtype=torch.int64), {0: BATCH, 1: LENGTH}


def _wide(*settings: str) -> _Maker:
    """A row of as many numbers as a setting says; nothing where it says nothing."""

    def make(config: Any, _: Any) -> _Made | None:
        width = _get(config, *settings)
        return None if width is None else (random_values((_ROWS, int(width))), {0: BATCH})

    return make


def _guidance(config: Any, _: Any) -> _Made | None:
    return (torch.full((_ROWS,), 3.5), {0: BATCH}) if _get(config, "guidance_embeds") else None


def _labels(config: Any, _: Any) -> _Made | None:
    if _get(config, "num_class_embeds") is None:
        return None
    return torch.zeros(_ROWS, dtype=torch.int64), {0: BATCH}


def _places(count: int, size: str) -> _Maker:
    def make(_: Any, __: Any) -> _Made:
        rows = torch.arange(count, dtype=torch.float32)
        return torch.stack([rows * 0, rows // 4, rows % 4], dim=1), {0: size}

    return make


def _added(config: Any) -> dict[str, _Made]:
    """What is embedded beside the time: the text as a whole and sizes of the picture."""
    if _get(config, "addition_embed_type") != "text_time":
        return {}
    width = config["projection_class_embeddings_input_dim"]
    width -= _SIZES * config["addition_time_embed_dim"]
    return {
        "text_embeds": (random_values((_ROWS, width)), {0: BATCH}),
        "time_ids": (torch.full((_ROWS, _SIZES), 64.0), {0: BATCH}),
    }


_MAKERS: dict[str, _Maker] = {
    "sample": _latent,
    "hidden_states": _latent,
    "timestep": _timestep,
    "encoder_hidden_states": _states,
    "encoder_attention_mask": _mask,
    "pooled_projections": _wide("pooled_projection_dim"),
    "timestep_cond": _wide("time_cond_proj_dim"),
    "guidance": _guidance,
    "class_labels": _labels,
    "txt_ids": _places(_TEXT, LENGTH),
    "img_ids": _places(_SIDE, _PACKED),
}
