"""Models of other tasks: what they are given, what they answer, under optimum's names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
import transformers

import sardonyx
from sardonyx.hf.evaluation.generation import decode_of_encoder
from tests.architectures.tiny import PROFILES, tiny_config
from tests.harness.rotation import long_test
from tests.models.example import unsettle

from .checkpoints import bert, saved, t5


def exported(folder: Path, out: Path, **options: Any) -> sardonyx.hf.Report:
    report = sardonyx.hf.export(folder, out, verify=True, **options)
    assert report.verified["different"] == []
    for part in report.parts:
        onnx.checker.check_model(str(out / part.file), full_check=True)
    return report


@pytest.mark.parametrize(
    ("kind", "task", "outputs"),
    [
        ("ForSequenceClassification", "text-classification", ["logits"]),
        ("ForQuestionAnswering", "question-answering", ["start_logits", "end_logits"]),
        ("ForMultipleChoice", "multiple-choice", ["logits"]),
        ("Model", "feature-extraction", ["last_hidden_state"]),
    ],
)
def test_text(kind: str, task: str, outputs: list[str], tmp_path: Path) -> None:
    report = exported(bert(tmp_path / "bert", kind), tmp_path / "out")
    assert report.task == task
    (part,) = report.parts
    assert list(part.inputs) == ["input_ids", "attention_mask", "token_type_ids"]
    assert list(part.outputs) == outputs
    sizes = ["batch_size", "sequence_length"]
    if task == "multiple-choice":
        sizes.insert(1, "num_choices")
    assert part.inputs["input_ids"] == sizes


def test_a_named_task_of_a_checkpoint_of_another_class(tmp_path: Path) -> None:
    folder = bert(tmp_path / "bert")
    report = exported(folder, tmp_path / "out", task="feature-extraction")
    assert report.model_class == "BertModel"
    assert any("tensors of the checkpoint are not the model's" in note for note in report.notes)


def test_images(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.ViTConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        image_size=32, patch_size=8,
    )  # fmt: skip
    folder = saved(transformers.ViTForImageClassification(config).eval(), tmp_path / "vit")
    (part,) = exported(folder, tmp_path / "out").parts
    assert part.inputs == {"pixel_values": ["batch_size", 3, 32, 32]}
    assert part.outputs == {"logits": ["batch_size", 2]}


@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_texts_beside_images(kind: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }  # fmt: skip
    config = getattr(transformers, f"{kind}Config")(
        text_config=sizes | {"vocab_size": 100, "max_position_embeddings": 16},
        vision_config=sizes | {"image_size": 16, "patch_size": 8},
        projection_dim=16,
    )
    folder = saved(getattr(transformers, f"{kind}Model")(config).eval(), tmp_path / "model")
    report = exported(folder, tmp_path / "out")
    assert report.task == "zero-shot-image-classification"
    (part,) = report.parts
    assert part.inputs["input_ids"][1] == "sequence_length"
    assert part.inputs["pixel_values"][1] == 3
    assert list(part.outputs) == [
        "logits_per_image", "logits_per_text", "text_embeds", "image_embeds"
    ]  # fmt: skip


def test_an_encoder_and_a_decoder(tmp_path: Path) -> None:
    report = exported(t5(tmp_path / "t5"), tmp_path / "out")
    assert report.task == "text2text-generation-with-past"
    assert report.verified["equal"] == 40
    encoder, first, later, merged = report.parts
    assert [part.file for part in report.parts] == [
        "encoder_model.onnx", "decoder_model.onnx", "decoder_with_past_model.onnx",
        "decoder_model_merged.onnx",
    ]  # fmt: skip
    sizes = ["batch_size", "encoder_sequence_length"]
    assert encoder.inputs == {"input_ids": sizes, "attention_mask": sizes}
    assert encoder.outputs == {"last_hidden_state": [*sizes, 32]}
    assert list(first.inputs) == ["encoder_attention_mask", "input_ids", "encoder_hidden_states"]
    kinds = [f"{side}.{kind}" for side in ("decoder", "encoder") for kind in ("key", "value")]
    presents = {f"present.{layer}.{kind}" for layer in range(2) for kind in kinds}
    assert set(first.outputs) == {"logits", *presents}
    pasts = {f"past_key_values.{layer}.{kind}" for layer in range(2) for kind in kinds}
    assert pasts <= set(later.inputs)
    assert set(later.outputs) == {"logits", *(p for p in presents if ".decoder." in p)}
    assert set(merged.inputs) == {*first.inputs, *pasts, "use_cache_branch"}
    assert list(merged.outputs) == list(first.outputs)
    assert merged.outputs["present.0.decoder.key"] == ["batch_size", 4, None, 8]
    # optimum's classes feed caches in the order of the inputs.
    layers = [name.split(".")[1] for name in merged.inputs if name.startswith("past_key_values")]
    assert layers == sorted(layers)
    assert len(layers) == 8


def test_embeddings_of_sentences(tmp_path: Path) -> None:
    folder = bert(tmp_path / "sentences", "Model")
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"path": path, "type": f"sentence_transformers.models.{kind}"}
        for path, kind in kinds.items()
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (part,) = exported(folder, tmp_path / "out").parts
    assert list(part.outputs) == ["token_embeddings", "sentence_embedding"]
    ids = torch.randint(0, 100, (2, 6))
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]])
    got = sardonyx.hf.load(tmp_path / "out")(
        input_ids=ids, attention_mask=mask, token_type_ids=torch.zeros_like(ids)
    )
    mean = got["token_embeddings"][1, :3].mean(0)
    wanted = mean / mean.norm()
    torch.testing.assert_close(got["sentence_embedding"][1], wanted, rtol=1e-4, atol=1e-5)


@long_test(0)
def test_a_text_that_images_stand_in(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }  # fmt: skip
    vision = transformers.CLIPVisionConfig(**sizes, image_size=16, patch_size=8)
    text = transformers.LlamaConfig(**sizes, vocab_size=100)
    config = transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_id=3)
    model = transformers.LlavaForConditionalGeneration(config).eval()
    report = exported(saved(model, tmp_path / "llava"), tmp_path / "out")
    assert report.task == "image-text-to-text-with-past"
    images, tokens, decoder = report.parts
    assert [part.file for part in report.parts] == [
        "vision_encoder.onnx", "embed_tokens.onnx", "decoder_model_merged.onnx"
    ]  # fmt: skip
    assert images.inputs == {"pixel_values": [1, 3, 16, 16]}
    assert images.outputs == {"image_features": [4, 16]}
    rows = ["batch_size", "sequence_length"]
    assert tokens.inputs == {"input_ids": rows}
    assert decoder.inputs["inputs_embeds"] == tokens.outputs["inputs_embeds"] == [*rows, 16]
    assert "past_key_values.1.value" in decoder.inputs
    loaded = sardonyx.hf.load(tmp_path / "out")
    prompt = torch.tensor([[3, 3, 3, 3, 42, 7]])
    several = [
        loaded.generate(prompt, max_new_tokens=8, pixel_values=torch.full((1, 3, 16, 16), value))
        for value in (-1.0, 1.0)
    ]
    assert several[0].shape == several[1].shape == (1, 14)
    one_file = sardonyx.hf.export(
        tmp_path / "llava", tmp_path / "one", task="image-text-to-text", verify=True
    )
    (part,) = one_file.parts
    assert part.inputs["input_ids"] == [1, "sequence_length"]


def test_images_in_tiles_by_the_ratio_of_their_sides(tmp_path: Path) -> None:
    """Llama 3.2's, which its decoder looks at by layers of its own."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 24}
    vision = {**sizes, "num_hidden_layers": 2, "num_global_layers": 1, "attention_heads": 2,
              "image_size": 16, "patch_size": 8, "max_num_tiles": 2, "vision_output_dim": 32,
              "intermediate_layers_indices": [0],
              "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]]}  # fmt: skip
    text = {**sizes, "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1,
            "vocab_size": 100, "cross_attention_layers": [1], "pad_token_id": 0,
            "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip
    config = transformers.MllamaConfig(vision_config=vision, text_config=text, image_token_index=3)
    model = transformers.MllamaForConditionalGeneration(config).eval()
    report = exported(
        saved(model, tmp_path / "mllama"), tmp_path / "out", task="image-text-to-text"
    )
    (part,) = report.parts
    assert part.inputs["pixel_values"] == ["batch_size", 1, 2, 3, 16, 16]
    assert part.inputs["aspect_ratio_ids"] == ["batch_size", 1]
    assert part.inputs["aspect_ratio_mask"] == ["batch_size", 1, 2]


def test_images_of_a_known_size(tmp_path: Path) -> None:
    """The grid of patches is asked for numbers by the model's code; positions of tokens go in three
    directions."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 24}
    vision = {**sizes, "depth": 2, "num_heads": 2, "out_hidden_size": 16, "patch_size": 4,
              "fullatt_block_indexes": [1], "window_size": 16}  # fmt: skip
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}
    text = {**sizes, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
            "vocab_size": 100, "rope_parameters": rope}  # fmt: skip
    config = transformers.Qwen2_5_VLConfig(
        vision_config=vision, text_config=text, image_token_id=3, video_token_id=4,
        vision_start_token_id=5, vision_end_token_id=6,
    )  # fmt: skip
    model = transformers.Qwen2_5_VLForConditionalGeneration(config).eval()
    unsettle(model)
    report = exported(saved(model, tmp_path / "qwen"), tmp_path / "out")
    images, _, decoder = report.parts
    assert images.inputs == {"pixel_values": [256, 96]}
    assert decoder.inputs["position_ids"] == [3, "batch_size", "sequence_length"]
    assert any("image_grid_thw is [[1, 16, 16]]" in note for note in report.notes)
    assert report.verified["tokens"] == report.verified["equal"] == 80


def test_inputs_that_the_documentation_of_a_model_describes(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.DecisionTransformerConfig(
        state_dim=5, act_dim=3, hidden_size=16, n_layer=1, n_head=2, max_ep_len=64
    )
    folder = saved(transformers.DecisionTransformerModel(config).eval(), tmp_path / "model")
    (part,) = exported(folder, tmp_path / "out").parts
    episode = ["batch_size", "episode_length"]
    assert part.inputs["states"] == [*episode, 5]
    assert part.inputs["actions"] == [*episode, 3]
    assert part.inputs["timesteps"] == episode


@long_test(3)
def test_a_model_that_puts_images_before_the_text_itself(tmp_path: Path) -> None:
    """Its cache holds the images, too, and the mask of a text alone would not fit that."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }  # fmt: skip
    config = transformers.GitConfig(
        **sizes, vocab_size=100, vision_config=sizes | {"image_size": 16, "patch_size": 8}
    )
    folder = saved(transformers.GitForCausalLM(config).eval(), tmp_path / "model")
    with pytest.raises(sardonyx.OnnxExporterError, match="SX2009"):
        sardonyx.hf.export(folder, tmp_path / "out", task="text-generation-with-past")
    with pytest.raises(
        sardonyx.OnnxExporterError, match=r"SX2009(.|\n)*--task image-text-to-text "
    ):
        sardonyx.hf.export(folder, tmp_path / "out")
    (part,) = exported(folder, tmp_path / "out", task="image-text-to-text").parts
    assert {"input_ids", "pixel_values"} <= set(part.inputs)


def test_both_steps_in_one_file_with_weights_in_blocks(tmp_path: Path) -> None:
    """The merged file needs contrib operators. ONNX Runtime does not find the weights of other
    operators from within a branch."""
    folder = t5(tmp_path / "t5")
    report = sardonyx.hf.export(
        folder, tmp_path / "out", precision="int8", runtime="onnxruntime-cpu"
    )
    assert "decoder_model_merged.onnx" in [part.file for part in report.parts]
    loaded = sardonyx.hf.load(tmp_path / "out")
    ids = torch.tensor([[70, 71, 72, 73], [80, 81, 82, 83]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    both, one = (decode_of_encoder(loaded, inputs, 8, None, merged) for merged in (False, True))
    assert torch.equal(both, one)
    plain = sardonyx.hf.export(folder, tmp_path / "plain", precision="int8")
    assert "decoder_model_merged.onnx" not in [part.file for part in plain.parts]
    assert any("--runtime onnxruntime-cpu" in note for note in plain.notes)


def test_a_first_step_is_given_caches_of_no_length(tmp_path: Path) -> None:
    """Also where the encoder makes keys of one length alone: so optimum's classes feed them."""
    torch.manual_seed(0)
    config = transformers.WhisperConfig(
        d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, vocab_size=80,
        max_source_positions=20, max_target_positions=64, num_mel_bins=8, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    folder = saved(transformers.WhisperForConditionalGeneration(config).eval(), tmp_path / "model")
    merged = exported(folder, tmp_path / "out").parts[-1]
    kept = merged.inputs["past_key_values.0.encoder.key"]
    assert kept == ["batch_size", 2, "kept_sequence_length", 8]


def test_a_mask_of_what_the_encoder_gives(tmp_path: Path) -> None:
    """Canary's encoder gives fewer frames than it takes, and the decoder goes by their mask."""
    torch.manual_seed(0)
    model = transformers.CanaryForConditionalGeneration(tiny_config("canary", PROFILES[0])).eval()
    unsettle(model)
    encoder, first = exported(saved(model, tmp_path / "model"), tmp_path / "out").parts[:2]
    assert encoder.outputs["encoder_attention_mask"][0] == "batch_size"
    assert "encoder_attention_mask" in first.inputs

    spectra = torch.randn(2, 96, encoder.inputs["input_features"][2])
    mask = torch.ones(2, 96, dtype=torch.int64)
    mask[1, 50:] = 0
    begin = torch.ones(2, 1, dtype=torch.int64)
    loaded = sardonyx.hf.load(tmp_path / "out")
    given = {"input_features": spectra, "attention_mask": mask, "decoder_input_ids": begin}
    ids = decode_of_encoder(loaded, given, 4, None)
    for length in range(1, 5):
        given["decoder_input_ids"] = ids[:, :length]
        with torch.no_grad():
            assert torch.equal(model(**given).logits[:, -1].argmax(-1), ids[:, length])


def test_a_decoder_with_windows_that_looks_at_an_encoder(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes = {
        "vocab_size": 100, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "sliding_window": 6,
        "max_position_embeddings": 64,
    }  # fmt: skip
    module = transformers.T5GemmaModuleConfig
    decoder = module(**sizes, is_decoder=True)
    config = transformers.T5GemmaConfig(encoder=module(**sizes), decoder=decoder, vocab_size=100)
    model = transformers.T5GemmaForConditionalGeneration(config).eval()
    report = exported(saved(model, tmp_path / "checkpoint"), tmp_path / "out")
    # Of the last of these tokens, the first are outside of the window.
    assert report.verified["equal"] == 40


@long_test(1)
def test_images_between_the_tokens_of_an_encoder(tmp_path: Path) -> None:
    torch.manual_seed(0)
    text = {
        "vocab_size": 100, "d_model": 32, "encoder_layers": 1, "decoder_layers": 1,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48,
        "decoder_ffn_dim": 48, "max_position_embeddings": 300, "decoder_start_token_id": 2,
    }  # fmt: skip
    vision = {
        "depths": [1], "patch_size": [7], "patch_stride": [8], "patch_padding": [3],
        "patch_prenorm": [False], "embed_dim": [16], "num_heads": [2], "num_groups": [2],
        "window_size": 4, "projection_dim": 32, "max_position_embeddings": 8,
    }  # fmt: skip
    config = transformers.Florence2Config(
        text_config={"model_type": "bart", **text}, vision_config=vision, image_token_id=5
    )
    model = transformers.Florence2ForConditionalGeneration(config).eval()
    report = exported(saved(model, tmp_path / "checkpoint"), tmp_path / "out")
    assert report.parts[0].file == "encoder_model.onnx"
    assert "pixel_values" in report.parts[0].inputs
    assert report.verified["equal"] == 40


def test_sounds_and_texts_with_numbers_of_both(tmp_path: Path) -> None:
    torch.manual_seed(0)
    text = {
        "vocab_size": 100, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
        "num_attention_heads": 4, "max_position_embeddings": 64,
    }  # fmt: skip
    sound = {
        "hidden_size": 32, "patch_embeds_hidden_size": 8, "depths": [1, 1, 1],
        "num_attention_heads": [2, 2, 4], "spec_size": 64, "num_mel_bins": 16, "window_size": 4,
    }  # fmt: skip
    config = transformers.ClapConfig(text_config=text, audio_config=sound, projection_dim=16)
    folder = saved(transformers.ClapModel(config).eval(), tmp_path / "checkpoint")
    (part,) = exported(folder, tmp_path / "out").parts
    assert list(part.inputs) == ["input_features", "input_ids", "attention_mask"]
    assert {"logits_per_audio", "logits_per_text", "audio_embeds"} <= set(part.outputs)
