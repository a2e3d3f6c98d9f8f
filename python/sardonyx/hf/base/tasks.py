"""What models are exported for: optimum's tasks, and the class of transformers for each."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import UsageError, refusal
from sardonyx._transformers_private import models
from sardonyx._transformers_private.caches import cache_parameter

if TYPE_CHECKING:
    from .media import Medium

WITH_PAST = "-with-past"


@dataclass(frozen=True)
class Task:
    """A task by optimum's name.

    Attributes:
        auto_classes: the classes of transformers that make its model, first come first served.
        outputs: what the ONNX model gives, by name, as optimum's models do; all that the model
            gives where it gives none of these.
        generates: whether its models are run token by token, and so have a cache.
    """

    name: str
    auto_classes: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    generates: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and that with a cache where its models are run token by token."""
        return (self.name, self.name + WITH_PAST) if self.generates else (self.name,)


_MASKS = ("logits", "pred_boxes", "pred_masks")

# In the order in which a class that fits several is taken for one of them.
TASKS: tuple[Task, ...] = (
    Task("text-generation", ("AutoModelForCausalLM",), ("logits",), generates=True),
    Task("text2text-generation", ("AutoModelForSeq2SeqLM",), ("logits",), generates=True),
    Task("fill-mask", ("AutoModelForMaskedLM",), ("logits",)),
    Task("text-classification", ("AutoModelForSequenceClassification",), ("logits",)),
    Task("token-classification", ("AutoModelForTokenClassification",), ("logits",)),
    Task("question-answering", ("AutoModelForQuestionAnswering",), ("start_logits", "end_logits")),
    Task("multiple-choice", ("AutoModelForMultipleChoice",), ("logits",)),
    Task("next-sentence-prediction", ("AutoModelForNextSentencePrediction",), ("logits",)),
    Task("image-classification", ("AutoModelForImageClassification",), ("logits",)),
    Task("video-classification", ("AutoModelForVideoClassification",), ("logits",)),
    Task("semantic-segmentation", ("AutoModelForSemanticSegmentation",), ("logits",)),
    Task(
        "image-segmentation",
        (
            "AutoModelForImageSegmentation",
            "AutoModelForUniversalSegmentation",
            "AutoModelForInstanceSegmentation",
        ),
        (*_MASKS, "class_queries_logits", "masks_queries_logits"),
    ),
    Task("object-detection", ("AutoModelForObjectDetection",), ("logits", "pred_boxes")),
    Task(
        "zero-shot-object-detection",
        ("AutoModelForZeroShotObjectDetection",),
        ("logits", "pred_boxes", "text_embeds", "image_embeds"),
    ),
    Task(
        "zero-shot-image-classification",
        ("AutoModelForZeroShotImageClassification",),
        ("logits_per_image", "logits_per_text", "text_embeds", "image_embeds"),
    ),
    Task("depth-estimation", ("AutoModelForDepthEstimation",), ("predicted_depth",)),
    Task("keypoint-detection", ("AutoModelForKeypointDetection",)),
    Task("mask-generation", ("AutoModelForMaskGeneration",), ("iou_scores", "pred_masks")),
    Task("image-to-image", ("AutoModelForImageToImage",), ("reconstruction",)),
    Task("masked-im", ("AutoModelForMaskedImageModeling",), ("reconstruction", "logits")),
    Task(
        "automatic-speech-recognition",
        ("AutoModelForSpeechSeq2Seq", "AutoModelForCTC"),
        ("logits",),
        generates=True,
    ),
    Task("audio-classification", ("AutoModelForAudioClassification",), ("logits",)),
    Task("audio-frame-classification", ("AutoModelForAudioFrameClassification",), ("logits",)),
    Task("audio-xvector", ("AutoModelForAudioXVector",), ("logits", "embeddings")),
    Task("text-to-audio", ("AutoModelForTextToSpectrogram", "AutoModelForTextToWaveform")),
    Task(
        "image-text-to-text",
        ("AutoModelForImageTextToText", "AutoModelForMultimodalLM"),
        ("logits",),
        generates=True,
    ),
    Task("visual-question-answering", ("AutoModelForVisualQuestionAnswering",), ("logits",)),
    Task(
        "document-question-answering",
        ("AutoModelForDocumentQuestionAnswering",),
        ("start_logits", "end_logits", "logits"),
    ),
    Task(
        "table-question-answering",
        ("AutoModelForTableQuestionAnswering",),
        ("logits", "logits_aggregation"),
    ),
    Task("time-series-forecasting", ("AutoModelForTimeSeriesPrediction",)),
    Task("pretraining", ("AutoModelForPreTraining",)),
    Task(
        "feature-extraction",
        ("AutoModel", "AutoModelForTextEncoding"),
        (
            "last_hidden_state",
            "logits_per_image",
            "logits_per_audio",
            "logits_per_text",
            "text_embeds",
            "image_embeds",
            "audio_embeds",
        ),
    ),
    Task("backbone", ("AutoBackbone",)),
)

# What tasks are called elsewhere: by pipelines of transformers, and by older releases of optimum.
_SYNONYMS = {
    "causal-lm": "text-generation",
    "conversational": "text-generation",
    "default": "feature-extraction",
    "image-to-text": "image-text-to-text",
    "masked-lm": "fill-mask",
    "seq2seq-lm": "text2text-generation",
    "sequence-classification": "text-classification",
    "sentence-similarity": "feature-extraction",
    "sentiment-analysis": "text-classification",
    "speech2seq-lm": "automatic-speech-recognition",
    "summarization": "text2text-generation",
    "text-to-speech": "text-to-audio",
    "translation": "text2text-generation",
    "universal-segmentation": "image-segmentation",
    "vision2seq-lm": "image-text-to-text",
    "zero-shot-classification": "text-classification",
}

_BY_NAME = {task.name: task for task in TASKS}


@dataclass(frozen=True)
class ExportChoice:
    """What is exported: a task, with a cache or without, the class of the model, and the images or
    sounds that its texts have places for, where these are exported, too."""

    task: Task
    with_past: bool
    model_class: type[Any]
    media: tuple[Medium, ...] = ()

    @property
    def name(self) -> str:
        """optimum's, with the past."""
        return self.task.name + (WITH_PAST if self.with_past else "")

    @property
    def in_one(self) -> Medium | None:
        """What an example of the model in one file must have."""
        return self.media[0] if self.media else None


def task_named(name: str, config: Any = None) -> tuple[Task, bool]:
    """A task and whether its name asks for a cache. SX2002 for a name that none has, with the tasks
    of the checkpoint of the configuration, or all."""
    plain = name.removesuffix(WITH_PAST)
    task = _BY_NAME.get(_SYNONYMS.get(plain, plain))
    if task is None or (plain != name and not task.generates):
        near = next(iter(difflib.get_close_matches(name, all_names(), 1)), "")
        raise refusal(
            "SX2002",
            f"there is no task '{name}'" + (f"; did you mean '{near}'?" if near else ""),
            f"one of {', '.join(all_names())}" if config is None else _offer(config),
            UsageError,
        )
    return task, plain != name


def _offer(config: Any) -> str:
    """The tasks of a checkpoint with the configuration, that by default first."""
    default = choose(config, None).name
    tasks = [task for task in TASKS if class_for(task, config) is not None]
    others = [name for task in tasks for name in task.names if name != default]
    return f"{config.model_type} offers {', '.join([f'{default} (by default)', *others])}"


def all_names() -> list[str]:
    """The names of all tasks, sorted."""
    return sorted({name for task in TASKS for name in task.names} | set(_SYNONYMS))


def choose(config: Any, name: str | None, own_class: type[Any] | None = None) -> ExportChoice:
    """The task of `name`, or else that of the class that the checkpoint was saved from.

    A model that is run token by token gets a cache where no task is named. SX2002 names the tasks
    that fit where `name` does not. `own_class` is the class of a model in memory.
    """
    if name is not None:
        task, with_past = task_named(name, config)
        found = own_class or class_for(task, config) or _saved_class(task, config)
        if found is None:
            raise refusal(
                "SX2002",
                f"transformers has no {config.model_type} for the task '{name}'",
                _offer(config),
                UsageError,
            )
        return ExportChoice(task, with_past, found)
    saved = (own_class.__name__,) if own_class else getattr(config, "architectures", None) or ()
    for architecture in saved:
        for task in TASKS:
            for candidate in _classes(task, config):
                if candidate.__name__ == architecture:
                    return ExportChoice(task, _has_cache(task, candidate), candidate)
        if (exact := own_class or class_named(architecture)) is not None:
            decodes = _is_decoder(exact, config)
            called = "text-generation" if decodes else "feature-extraction"
            return ExportChoice(_BY_NAME[called], decodes, exact)
    for task in TASKS:
        if (found := class_for(task, config)) is not None:
            return ExportChoice(task, _has_cache(task, found), found)
    raise refusal(
        "SX2002",
        f"transformers has no class for a checkpoint of the type '{config.model_type}'",
        "config.json names the class in `architectures`; is transformers new enough?",
        UsageError,
    )


def of_images(chosen: ExportChoice, config: Any) -> ExportChoice | None:
    """The same model for texts that images stand in, where its class is one for these, too."""
    images = _BY_NAME["image-text-to-text"]
    if chosen.task.name != "text-generation" or not chosen.with_past:
        return None
    if chosen.model_class not in _classes(images, config):
        return None
    return ExportChoice(images, chosen.with_past, chosen.model_class)


def _is_decoder(model_class: type[Any], config: Any) -> bool:
    """Whether a class that no auto class knows generates tokens after others, with a cache."""
    generates = getattr(model_class, "can_generate", None)
    if generates is None or not generates() or getattr(config, "is_encoder_decoder", False):
        return False
    taken = inspect.signature(model_class.forward).parameters
    return "input_ids" in taken and cache_parameter(model_class) is not None


def _has_cache(task: Task, model_class: type[Any]) -> bool:
    """Connectionist temporal classification recognizes speech without running token by token."""
    return task.generates and model_class.can_generate()


def class_for(task: Task, config: Any) -> type[Any] | None:
    """The first class of the task that takes such a configuration."""
    return next(iter(_classes(task, config)), None)


def _classes(task: Task, config: Any) -> Iterable[type[Any]]:
    for auto in task.auto_classes:
        if (remote := getattr(config, "auto_map", None) or {}).get(auto):
            yield models.remote_class(remote[auto], config)
        yield from models.classes_of(auto, config)


def _saved_class(task: Task, config: Any) -> type[Any] | None:
    """The class that the checkpoint was saved from, where the task is its own although the class is
    found by the configuration of a model that this one is a part of."""
    for architecture in getattr(config, "architectures", None) or ():
        if any(models.makes_class(auto, architecture) for auto in task.auto_classes):
            return class_named(architecture)
    return None


def class_named(architecture: str) -> type[Any] | None:
    """The class of transformers of that name; None where it has none."""
    import transformers

    found = getattr(transformers, architecture, None)
    return found if isinstance(found, type) else None
