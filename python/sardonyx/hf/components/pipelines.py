"""Pipelines of diffusers: folders whose models, each in a folder of its own, are run in turn.

What is exported has the files and names that optimum gives them: `unet/model.onnx` or
`transformer/model.onnx`, `vae_encoder/model.onnx`, `vae_decoder/model.onnx`,
`text_encoder/model.onnx`; schedulers and tokenizers lie beside them as they are.
"""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import refusal
from sardonyx._diffusers_private import models
from sardonyx._transformers_private.models import without_initialization
from sardonyx.hf.base.packages import package
from sardonyx.hf.base.tasks import choose
from sardonyx.hf.checkpoints import building
from sardonyx.hf.checkpoints.checkpoint import read_checkpoint, weights_in_folder
from sardonyx.hf.checkpoints.weights import PlacedWeights, place_weights
from sardonyx.hf.output.writing import PIPELINE

from .architecture import whole_part
from .diffusers_components import parts_of_autoencoder, parts_of_denoiser, takes_mask

if TYPE_CHECKING:
    import torch

    from sardonyx.hf.base.parts import Part
    from sardonyx.hf.base.progress import Progress

_STEM = "diffusion_pytorch_model"
# Looks at finished pictures, and is no part of what pipelines run in other runtimes.
_LEFT_OUT = ("safety_checker",)


@dataclass(frozen=True)
class Component:
    """A model of a pipeline.

    Attributes:
        name: of its folder.
        folder: where it is.
        library, model_class: diffusers or transformers, and the class there.
    """

    name: str
    folder: Path
    library: str
    model_class: str


@dataclass(frozen=True)
class Pipeline:
    """A folder with several models.

    Attributes:
        folder: where it is.
        pipeline_class: of diffusers.
        components: its models.
    """

    folder: Path
    pipeline_class: str
    components: list[Component]

    @property
    def task(self) -> str:
        """What it is for, by optimum's name."""
        texts = any(each.name.startswith("text_encoder") for each in self.components)
        return "text-to-image" if texts else "unconditional-image-generation"

    @property
    def gives_inner_states(self) -> bool:
        """Whether text encoders have to give the states of their inner layers: where one of them
        gives a projection of the whole text, pipelines take its tokens' states before the last
        layer."""
        return any(each.model_class.endswith("WithProjection") for each in self.components)

    @property
    def masks_texts(self) -> bool:
        """Whether text encoders get a mask of padding tokens: they do where the denoiser does."""
        classes: list[Any] = [models.class_named(each.model_class) for each in self.components]
        return any(
            takes_mask(inspect.signature(each.forward).parameters)
            for each in classes
            if each is not None
        )


def read_pipeline(folder: Path) -> Pipeline:
    """The models of a pipeline. SX2001 for an index that is none, or without models, SX2006 without
    diffusers."""
    path = folder / PIPELINE
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
        entries = {k: v for k, v in index.items() if isinstance(v, list) and len(v) == 2}
        name = str(index["_class_name"])
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise refusal("SX2001", f"{path} is no index of a pipeline: {error}") from error
    package("diffusers", f"{folder}, a pipeline of diffusers,")
    found = [
        Component(key, folder / key, str(library), str(kind))
        for key, (library, kind) in entries.items()
        if library in ("diffusers", "transformers")
        and key not in _LEFT_OUT
        and (folder / key / "config.json").is_file()
    ]
    if not found:
        raise refusal("SX2001", f"{folder} has none of the models that {PIPELINE} names")
    return Pipeline(folder, name, found)


def prepared(
    pipeline: Pipeline, component: Component, scratch: Path, progress: Progress
) -> tuple[torch.nn.Module, PlacedWeights, Iterator[Part]]:
    """The model of a component, where its weights are, and the parts that it is exported as."""
    if component.library == "transformers":
        return _of_transformers(pipeline, component, scratch, progress)
    with progress.step(f"build {component.name}"):
        model = _built(component)
    with progress.step("place weights"):
        weights = weights_in_folder(component.folder, _STEM)
        placed = place_weights(model, weights, scratch / component.name, ())
    autoencoder = hasattr(model, "encode") and hasattr(model, "decode")
    parts = parts_of_autoencoder(model) if autoencoder else parts_of_denoiser(component.name, model)
    return model, placed, parts


def _of_transformers(
    pipeline: Pipeline, component: Component, scratch: Path, progress: Progress
) -> tuple[torch.nn.Module, PlacedWeights, Iterator[Part]]:
    checkpoint = read_checkpoint(component.folder)
    chosen = choose(checkpoint.config, "feature-extraction")
    checkpoint.config.architectures = [component.model_class]
    own = choose(checkpoint.config, None)
    with progress.step(f"build {component.name}"):
        model: Any = building.build(checkpoint, own.model_class)
    with progress.step("place weights"):
        placed = place_weights(model, checkpoint.weights(), scratch / component.name)
    encoder = hasattr(model, "get_input_embeddings") and component.name.startswith("text_encoder")
    model.config.output_hidden_states = pipeline.gives_inner_states and encoder
    part = whole_part(model, model.config, replace(chosen, task=replace(chosen.task, outputs=())))
    left_out = () if not encoder or pipeline.masks_texts else ("attention_mask",)
    return model, placed, iter((_renamed(part, component.name, left_out),))


def _renamed(part: Part, name: str, left_out: tuple[str, ...]) -> Part:
    return replace(
        part,
        name=f"{name}/model",
        inputs={key: value for key, value in part.inputs.items() if key not in left_out},
        dims={key: value for key, value in part.dims.items() if key not in left_out},
        one_row=part.one_row and _renamed(part.one_row, name, left_out),
    )


def _built(component: Component) -> torch.nn.Module:
    """In float32, with memory that is never touched in place of parameters."""
    import torch

    model_class = models.class_named(component.model_class)
    if model_class is None:
        raise refusal(
            "SX2001",
            f"diffusers {models.release()} has no {component.model_class}",
            "is diffusers new enough?",
        )
    with torch.no_grad(), without_initialization():
        model: torch.nn.Module = models.built(model_class, component.folder)
    return model.eval()


def copy_beside(pipeline: Pipeline, staging: Path) -> None:
    """The index, and what of the pipeline is no model: schedulers, tokenizers, processors; the
    models' configurations lie beside what was made of them."""
    shutil.copyfile(pipeline.folder / PIPELINE, staging / PIPELINE)
    models = {each.name for each in pipeline.components} | set(_LEFT_OUT)
    for path in sorted(pipeline.folder.iterdir()):
        if path.is_dir() and path.name not in models and not path.name.startswith("."):
            _copy(path, staging / path.name)
    for component in pipeline.components:
        for made in sorted(staging.glob(f"{component.name}*/model.onnx")):
            shutil.copyfile(component.folder / "config.json", made.parent / "config.json")


def _copy(folder: Path, to: Path) -> None:
    """Files that are no weights."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in (".json", ".txt", ".model", ".jinja"):
            to.mkdir(exist_ok=True)
            shutil.copyfile(path, to / path.name)
