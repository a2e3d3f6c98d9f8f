"""Settings of small configurations by name: where a class's own defaults make no model, or none
with each kind of its layers, and where one setting depends on others that are reduced.

The name is the configuration's `model_type`, wherever it is. A configuration in it has the name of
the setting that holds it.
"""

from __future__ import annotations

from typing import Any

_ONE_OF_EACH = ["linear_attention", "full_attention"]
_NARROW_STAGES = {
    "width_coefficient": 0.1,
    "depth_coefficient": 0.5,
    "hidden_dim": 128,
    "image_size": 64,
}

# One encoder's map, of as many channels as the last of these, is what another's patches are.
_MAP = {"downsample_channels": [32, 64], "global_attn_indexes": [1], "output_channels": 32}
_OF_TIMM = {"embed_dim": 64, "depth": 2, "num_heads": 4, "img_size": 56}
# A backbone that gives all of its stages, each half as large as the one before.
_FOUR_STAGES = {
    "block_configs": [
        [[3, 96, 96, 1, True]],
        [[3, 96, 96, 2, False]],
        [[3, 96, 192, 2, False]],
        [[3, 192, 384, 2, False]],
    ],
    "depths": [1, 1, 1, 1],
    "out_features": ["stage1", "stage2", "stage3", "stage4"],
    "out_indices": [1, 2, 3, 4],
}
# Convolutions of long stripes, as their kernels, strides and paddings.
_STRIPES = {
    f"{direction}_{length}ratio": [kernel, [1, 1], [side // 2 for side in kernel]]
    for length, size in (("long", 7), ("mid", 5), ("short", 3))
    for direction, kernel in (
        ("vertical_long_to_small_conv", [size, 1]),
        ("horizontal_small_to_long_conv", [1, size]),
        ("symmetric_conv_long", [size, size]),
    )
} | {"reduce_channel": [1, 1, 0], "return_channel": [1, 1, 0]}

GIVEN: dict[str, dict[str, Any]] = {
    # No layer has attention by default.
    "bamba": {"attn_layer_indices": [1]},
    "granitemoehybrid": {"layer_types": _ONE_OF_EACH},
    # A table of half a million rows for each group of bytes.
    "blt": {
        "encoder_hash_byte_group_vocab": 64,
        "encoder_config": {"hidden_size_global": 64},
        "decoder_config": {"hidden_size_global": 64},
    },
    # The kinds of rotary embeddings have no default.
    "cohere_compass_text": {
        "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000.0}}
    },
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0}},
    # How many experts has no default.
    "dots1": {
        "n_routed_experts": 4,
        "n_shared_experts": 1,
        "num_experts_per_tok": 2,
        "first_k_dense_replace": 1,
    },
    # Layers of a window have sizes of their own, whose heads are made of two of them.
    "dots3_note_text": {
        "num_hidden_layers": 2,
        "layer_types": ["indexed_attention", "sliding_attention"],
        "mlp_layer_types": ["dense", "sparse"],
        "per_layer_config": {
            1: {
                "num_attention_heads": 2,
                "num_key_value_heads": 2,
                "q_lora_rank": 24,
                "kv_lora_rank": 24,
                "head_dim": 32,
                "qk_nope_head_dim": 16,
                "qk_rope_head_dim": 16,
                "v_head_dim": 16,
            }
        },
    },
    # As wide as its first stage, and a quarter, an eighth and so on of the image.
    "sam2_hiera_det_model": {"hidden_size": 96},
    "sam2_vision_model": {
        "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        "fpn_hidden_size": 64,
    },
    # Four patches of 14 a side, in windows of two, and what comes of them is as wide as the rest.
    "sam3_vit_model": {
        "image_size": 56,
        "pretrain_image_size": 56,
        "window_size": 2,
        "global_attn_indexes": [1],
    },
    "sam3_video": {"image_size": 56},
    "sam3_tracker_video": {"image_size": 56},
    "sam3_vision_model": {
        "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        "fpn_hidden_size": 64,
    },
    # What its stages are multiplied by, and the width that comes of it.
    "efficientnet": _NARROW_STAGES,
    "align_vision_model": {**_NARROW_STAGES, "hidden_dim": 64, "width_coefficient": 0.2},
    # Images of any size up to this one, in patches of 14.
    "pixtral": {"image_size": 56},
    "unlimited_ocr_sam_vision_model": _MAP,
    # Which layers have experts, and how they are grouped, has no default.
    "deepseek_ocr2_text": {
        "mlp_layer_types": ["dense", "sparse"],
        "n_group": 1,
        "topk_group": 1,
        "num_experts_per_tok": 2,
    },
    "deepseek_ocr2_sam_vision_model": _MAP,
    # Which of its layers' states go to which of the text's has no default.
    "granite4_vision": {
        "downsample_rate": "1/2",
        "deepstack_layer_map": [[1, 0]],
        "spatial_target_layers": [1],
        "image_grid_pinpoints": [[64, 64]],
    },
    # One of the two layers with rotations reads the keys and values of the other.
    "mistral_large4_text": {"kv_source_layers": [0, 0, 2]},
    # The neck's convolutions have no default.
    "pp_ocrv5_server_det": {
        "intraclass_block_config": _STRIPES,
        "scale_factor_list": [1, 2, 4, 8],
        "kernel_list": [3, 2, 2],
    },
    "pp_ocrv6_medium_det": {
        "backbone_config": _FOUR_STAGES,
        "intraclass_block_config": _STRIPES,
        "scale_factor_list": [1, 2, 4, 8],
        "kernel_list": [3, 2, 2],
    },
    # A text of 128 tokens has as many places for each of four frames.
    "instructblipvideo": {"num_query_tokens": 8},
    # Heads are of a width that is a setting of its own.
    "falcon_h1": {"mamba_d_ssm": 64},
    "mamba2": {"num_heads": 8, "n_groups": 2},
    # Of each kind of layer, one makes keys and values, and another reads them.
    "gemma3n_text": {
        "num_hidden_layers": 4,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "num_kv_shared_layers": 2,
        "activation_sparsity_pattern": [0.95, 0.95, 0.0, 0.0],
        "intermediate_size": [72, 72, 72, 72],
        "laurel_rank": 8,
    },
    # How many characters its class has no default for.
    "wav2vec2-bert": {"vocab_size": 40},
    # How many experts has no default.
    "diffusion_gemma_text": {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 48},
    # As many tokens are looked at as the pools that they lie in have together.
    "glm5_next_text": {"index_kpool": 4},
    # The encoders of images and audio have settings for their own width and for that of the text.
    "dots3_note_vision_encoder": {"adapter_in_dim": 64, "adapter_out_dim": 64},
    "dots3_note_audio_encoder": {"adapter_input_size": 64, "adapter_out_dim": 64},
    # Rotations are of a part of what the two widths make together.
    "mistral4": {"head_dim": 32},
    # Latents have a width of their own.
    "perceiver": {
        "num_latents": 16,
        "d_latents": 64,
        "d_model": 64,
        "num_self_attends_per_block": 2,
        "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4,
    },
    # The head of an image's parts has no default.
    "sapiens2": {
        "num_key_value_attention_heads": 2,
        "num_key_value_heads_per_layer": [4, 2],
        "num_first_full_attention_layers": 1,
        "head_config": {
            "upsample_out_channels": [32, 32],
            "conv_out_channels": [32],
            "conv_kernel_sizes": [1],
        },
    },
    # Which layers of the images are looked at goes by more than two.
    "vipllava": {"vision_feature_layers": [-1, -2]},
    # Which numbers of patches are asked by how many queries is a table: here of an image of 224.
    "aria": {"projector_patch_to_query_dict": {49: 8}},
    # The tokens of images are in a table of the vocabulary, as many as codes there are.
    "chameleon": {
        "vocabulary_map": {"<image>": 30}
        | {f"IMGIMG{c}Z": 40 + i for i, c in enumerate("ABCDEFGH")},
        "vq_config": {"num_embeddings": 8, "base_channels": 32, "resolution": 64},
    },
    "emu3": {
        "vocabulary_map": {"<image>": 30, "<|extra_200|>": 31}
        | {f"<|visual token {i:06d}|>": 40 + i for i in range(8)},
        "vq_config": {"codebook_size": 8, "base_channels": 32, "hidden_size": 128},
    },
    # Images are cut into patches of one encoder's size, and the states of two of its layers used.
    "depth_pro": {
        "patch_size": 64,
        "fusion_hidden_size": 32,
        "intermediate_hook_ids": [1, 0],
        "intermediate_feature_dims": [32, 32],
        "scaled_images_feature_dims": [32, 32, 32],
        "image_model_config": {"patch_size": 16},
        "patch_model_config": {"patch_size": 16},
        "fov_model_config": {"patch_size": 16},
    },
    # The queries come before the last ones of as many layers as there are.
    "eomt": {"num_blocks": 1},
    "eomt_dinov3": {"num_blocks": 1},
    # Of as many layers as there are, the states of one with attention to all are used beside the
    # last ones.
    "deepseek_vl_hybrid": {"high_res_vision_config": {"global_attn_indexes": [1]}},
    # The class names a backbone of other widths than it counts with.
    "edgetam_vision_model": {
        "backbone_config": {"architecture": "repvit_m1"},
        "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        "fpn_hidden_size": 64,
    },
    # The backbone says its own width.
    "fast_vlm": {"vision_config": {"hidden_size": 3072}},
    # Neither images nor sounds are in them by default.
    "gemma4": {
        "vision_config": {
            "hidden_size": 64,
            "intermediate_size": 72,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "head_dim": 16,
            "patch_size": 8,
            "position_embedding_size": 64,
        }
    },
    "gemma4_unified": {
        "vision_config": {"patch_size": 4, "mm_embed_dim": 64, "output_proj_dims": 64},
        "audio_config": {"audio_embed_dim": 64},
    },
    # As wide as what is known of the text: as many of its layers as are given.
    "muse_glimmer_assistant": {"target_layer_ids": [0, 1]},
    # The backbone says the widths of its stages twice.
    "pp_doclayout_v2": {
        "backbone_config": {"hidden_sizes": [256, 512, 1024, 2048]},
        "decoder_in_channels": [64, 64, 64],
        "class_thresholds": [0.5, 0.5],
        "class_order": [0, 1],
        # What reads in order has a vocabulary of four, and places up to a thousand on a page.
        "reading_order_config": {
            "start_token_id": 0,
            "pad_token_id": 1,
            "end_token_id": 2,
            "pred_token_id": 3,
            "max_2d_position_embeddings": 1024,
            "max_position_embeddings": 514,
        },
    },
    # All stages of the backbone are used, each half as large as the one before, where its class
    # gives the last one alone, for lines of text.
    "pp_ocrv6_small_det": {
        "backbone_config": _FOUR_STAGES,
        "layer_list_out_channels": [96, 96, 192, 384],
    },
    "uvdoc": {
        "backbone_config": {
            "out_features": [f"stage{n}" for n in range(1, 7)],
            "out_indices": [1, 2, 3, 4, 5, 6],
        }
    },
    # An image and what it is shown as an example are one above the other.
    "seggpt": {"image_size": [128, 64]},
    # How its positions are split has no default that its own class would take.
    "ernie4_5_vl_moe_text": {
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [3, 3, 2]}
    },
    # How many residues there are has no default.
    "esm": {"vocab_size": 40, "mask_token_id": 32, "pad_token_id": 0},
    # It has as many heads of keys as of queries.
    "esmc": {"num_key_value_heads": 4},
    # The scales of its features have no default.
    "lw_detr": {"projector_scale_factors": [1.0], "num_feature_levels": 1},
    # Of what a text is asked about an image, the answers are two tokens.
    "shieldgemma2": {"yes_token_index": 5, "no_token_index": 6},
    # Its backbone is a ResNet here, of these widths.
    "omdet-turbo": {
        "encoder_in_channels": [16, 24, 32],
        "apply_layernorm_after_vision_backbone": False,
    },
    # What is known of the time has no default.
    "autoformer": {"num_time_features": 1, "feature_size": 10, "label_length": 4},
    "informer": {"num_time_features": 1, "feature_size": 10},
    "time_series_transformer": {"num_time_features": 1, "feature_size": 10},
    # Their images are seen by models of timm, whose sizes are their own business.
    "pe_video_encoder": {"vision_config": {"model_args": _OF_TIMM}},
    "perception_lm": {
        "vision_config": {
            "architecture": "vit_pe_core_large_patch14_336",
            "model_args": {**_OF_TIMM, "global_pool": ""},
        }
    },
    "gemma3n_vision": {"architecture": "resnet18", "hidden_size": 512},
    # Checkpoints say how many patches become one, and the class has no default for it.
    "qwen3_omni_moe": {"talker_config": {"spatial_merge_size": 2}},
    # Its head is as wide as the encoder is.
    "nemotron3_diarization": {"head_config": {"audio_hidden_size": 64}},
    # Channels double in each of six stages, and what it draws at random counts for nothing.
    "vibevoice_acoustic_tokenizer": {"num_filters": 2, "vae_std": 0.0},
    "vibevoice_acoustic_tokenizer_encoder": {"num_filters": 2},
    # What is a block elsewhere is its longest text.
    "semantic": {"block_size": 128},
    "coarse_acoustics": {"block_size": 128},
    "fine_acoustics": {"block_size": 128},
    # What it draws at random counts for nothing, so that answers can be compared, and are numbers.
    "vits": {"noise_scale": 0.0, "noise_scale_duration": 0.0},
    # As wide as the encoder that the decoder looks at.
    "dia_decoder": {"cross_hidden_size": 64},
    # As wide as what it knows of the sound and of its spectrum together; keys have as many heads as
    # queries.
    "neucodec": {"quantization_dim": 128, "num_key_value_heads": 4},
    "xcodec2": {"quantization_dim": 128, "num_key_value_heads": 4},
    # Its code goes over the patches of a context, of which it has 512 by default.
    "timesfm2_5": {"context_length": 256},
    # Four patches together are as wide as this says.
    "kimi_k25": {"projection_hidden_size": 64},
    "muse_glimmer": {"out_hidden_size": 256},
    # The convolution that upsamples a codec's frames has as many groups as channels.
    "mimi": {"upsample_groups": 64},
    # The decoder's own class does not say how many heads of keys it has.
    "moonshine_streaming": {"num_key_value_heads": 4},
    # Values have as many heads as queries have, and keys, too.
    "nemotron3_5_transcribe_asr_audio": {"num_key_value_heads": 4},
    "nemotron3_5_transcribe_word_timestamp": {"num_key_value_heads": 4},
    "nemotron3_diarization_audio": {"num_key_value_heads": 4},
    # Its encoder alone is not told what the whole model tells it.
    "t5gemma2_encoder": {"text_config": {"dropout_rate": 0.0}},
    # How many characters there are has no default.
    "wav2vec2-conformer": {"vocab_size": 40},
    # Layers of a window have no width of it by default.
    "step3p5": {"sliding_window": 8},
    # Four patches beside each other become one as wide as all of them.
    "llama4_vision_model": {
        "intermediate_size": 256,
        "projector_input_dim": 128,
        "projector_output_dim": 128,
    },
    # How wide its shared expert is has no default.
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 48},
    # Checkpoints say where images begin in a text, and the class has no default for it.
    "qwen2_5_omni_thinker": {"vision_start_token_id": 30, "audio_start_token_id": 31},
    "qwen3_omni_moe_thinker": {"vision_start_token_id": 30, "audio_start_token_id": 31},
    # Kinds of layers are counted in pairs.
    "gpt_neo": {
        "attention_types": [[["global", "local"], 1]],
        "attention_layers": ["global", "local"],
        "window_size": 4,
    },
    # As many caches as layers are gone through: layers, times 2, times 3 + 1.
    "hrm_text": {"num_layers_per_stack": 1, "num_hidden_layers": 8},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "qwen4_exp_text": {
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 16,
        "indexer_budget": 8,
        "indexer_compress_ratio": 2,
    },
    # Two layers that keep states come before one with attention.
    "recurrent_gemma": {"num_hidden_layers": 3},
    # The width and the number of layers have two names, and heads are multiples of 64 together.
    "xlstm": {"hidden_size": 128, "embedding_dim": 128, "num_blocks": 2},
    "xmod": {"languages": ["en_XX", "de_DE"], "default_language": "en_XX"},
    # What attention has in common is tied between two layers of it, at twice the width.
    "zamba": {
        "layers_block_type": ["linear_attention", "hybrid", "hybrid"],
        "num_hidden_layers": 3,
        "num_key_value_heads": 4,
        "attention_hidden_size": 128,
        "attention_head_dim": 32,
    },
    "zamba2": {
        "layers_block_type": ["linear_attention", "hybrid", "hybrid"],
        "num_hidden_layers": 3,
        "num_key_value_heads": 4,
        "attention_hidden_size": 128,
        "attention_head_dim": 32,
        "mamba_headdim": 16,
        "kv_channels": 16,
        "num_query_groups": 4,
        "hybrid_layer_ids": [1, 2],
    },
}
