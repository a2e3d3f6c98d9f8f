"""Image models from transformers; the batch of images varies."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from tests.harness import Inputs

from .example import BATCH, ZOO, Example, Size, images, padding_mask, rows, tokens


def _image_model(model: torch.nn.Module, size: Size, side: int) -> Example:
    shapes = {"pixel_values": {0: BATCH}}
    first, *others = (Inputs((), {"pixel_values": images(n, side)}) for n in (2, 3, 1))
    return Example(model, first, shapes, others)


@ZOO.add("vit")
def vit(size: Size) -> Example:
    small = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 37,
        "image_size": 32,
        "patch_size": 8,
    }
    config = transformers.ViTConfig(**(small if size == "small" else {}))
    return _image_model(transformers.ViTForImageClassification(config), size, config.image_size)


@ZOO.add("swin")
def swin(size: Size) -> Example:
    small = {
        "image_size": 32,
        "patch_size": 2,
        "embed_dim": 16,
        "depths": [2, 2],
        "num_heads": [2, 4],
        "window_size": 4,
    }
    config = transformers.SwinConfig(**(small if size == "small" else {}))
    return _image_model(transformers.SwinForImageClassification(config), size, config.image_size)


@ZOO.add("convnext")
def convnext(size: Size) -> Example:
    small = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1]}
    config = transformers.ConvNextConfig(**(small if size == "small" else {}))
    model = transformers.ConvNextForImageClassification(config)
    return _image_model(model, size, 32 if size == "small" else 224)


@ZOO.add("resnet50")
def resnet50(size: Size) -> Example:
    small = {"embedding_size": 8, "hidden_sizes": [16, 16, 24, 32], "depths": [1, 2, 1, 1]}
    config = transformers.ResNetConfig(**(small if size == "small" else {}))
    model = transformers.ResNetForImageClassification(config)
    return _image_model(model, size, 64 if size == "small" else 224)


@ZOO.add("regnet")
def regnet(size: Size) -> Example:
    small = {
        "embedding_size": 8,
        "hidden_sizes": [16, 16, 32, 32],
        "depths": [1, 1, 2, 1],
        "groups_width": 8,
    }
    config = transformers.RegNetConfig(**(small if size == "small" else {}))
    model = transformers.RegNetForImageClassification(config)
    return _image_model(model, size, 64 if size == "small" else 224)


@ZOO.add("mobilenetv2")
def mobilenetv2(size: Size) -> Example:
    small = {"depth_multiplier": 0.25, "image_size": 64}
    config = transformers.MobileNetV2Config(**(small if size == "small" else {}))
    model = transformers.MobileNetV2ForImageClassification(config)
    return _image_model(model, size, config.image_size)


@ZOO.add("segformer")
def segformer(size: Size) -> Example:
    small = {
        "depths": [1, 1, 1, 1],
        "hidden_sizes": [8, 16, 16, 16],
        "decoder_hidden_size": 16,
        "num_attention_heads": [1, 2, 2, 2],
    }
    config = transformers.SegformerConfig(**(small if size == "small" else {}))
    model = transformers.SegformerForSemanticSegmentation(config)
    return _image_model(model, size, 64 if size == "small" else 512)


@ZOO.add("detr")
def detr(size: Size) -> Example:
    """With a mask of pixels, as pictures of different sizes are batched."""
    backbone: dict[str, Any] = {"out_features": ["stage4"]}
    small = {
        "d_model": 16,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24,
        "num_queries": 7,
        "num_labels": 5,
    }
    if size == "small":
        backbone |= {"embedding_size": 8, "hidden_sizes": [16, 16, 24, 32], "depths": [1, 1, 1, 1]}
    config = transformers.DetrConfig(
        use_pretrained_backbone=False,
        use_timm_backbone=False,
        backbone=None,
        backbone_config=transformers.ResNetConfig(**backbone),
        **(small if size == "small" else {}),
    )
    model = transformers.DetrForObjectDetection(config)
    side = 64 if size == "small" else 480

    def inputs(batch: int) -> Inputs:
        mask = torch.ones(batch, side, side, dtype=torch.int64)
        mask[-1, :, side // 2 :] = 0
        return Inputs((), {"pixel_values": images(batch, side), "pixel_mask": mask})

    shapes = {"pixel_values": {0: BATCH}, "pixel_mask": {0: BATCH}}
    return Example(model, inputs(2), shapes, [inputs(3), inputs(1)])


@ZOO.add("clip")
def clip(size: Size) -> Example:
    """Texts and images in numbers that vary apart."""
    text = {
        "vocab_size": 99,
        "hidden_size": 32,
        "intermediate_size": 37,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 24,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }
    vision = {
        "hidden_size": 32,
        "intermediate_size": 37,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": 32,
        "patch_size": 8,
    }
    small = {"text_config": text, "vision_config": vision, "projection_dim": 16}
    config = transformers.CLIPConfig(**(small if size == "small" else {}))
    side = config.vision_config.image_size

    def inputs(texts: int, length: int, pictures: int) -> Inputs:
        ids = tokens(texts, length)
        ids[:, -1] = config.text_config.eos_token_id
        return Inputs(
            (),
            {
                "input_ids": ids,
                "pixel_values": images(pictures, side),
                "attention_mask": padding_mask(texts, length),
            },
        )

    text_rows = rows(config.text_config.max_position_embeddings)
    shapes = {
        "input_ids": text_rows,
        "pixel_values": {0: torch.export.Dim("images", max=4096)},
        "attention_mask": text_rows,
    }
    first = inputs(2, 7, 3)
    return Example(
        transformers.CLIPModel(config), first, shapes, [inputs(3, 11, 2), inputs(1, 5, 4)]
    )
