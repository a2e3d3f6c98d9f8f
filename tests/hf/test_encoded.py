"""What a decoder looks at of its encoder's outputs."""

from __future__ import annotations

import torch
import transformers

from sardonyx.hf.base.tasks import choose
from sardonyx.hf.components import encoder_decoders
from tests.models.example import unsettle


def test_rows_that_are_made_of_the_map_of_an_image() -> None:
    # Its decoder asks for `pooler_output`, and its encoder takes nothing of the text.
    torch.manual_seed(0)
    config = transformers.PPFormulaNetConfig(
        text_config={
            "vocab_size": 100, "hidden_size": 32, "d_model": 32, "decoder_layers": 1,
            "decoder_attention_heads": 2, "decoder_ffn_dim": 48, "max_position_embeddings": 64,
        },
        vision_config={
            "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 64,
            "mlp_dim": 48, "output_channels": 16, "post_conv_in_channels": 16,
            "post_conv_mid_channels": 16, "post_conv_out_channels": 32,
            "decoder_hidden_size": 32, "global_attn_indexes": [0],
        },
    )  # fmt: skip
    model = transformers.PPFormulaNetForConditionalGeneration(config).eval()
    with torch.no_grad():
        unsettle(model)
    chosen = choose(config, None)

    encoder, first, *_ = encoder_decoders.parts(model, config, chosen)

    assert list(encoder.inputs) == ["pixel_values"]
    pixels = torch.randn(2, 3, 64, 64)
    ids = torch.tensor([[5, 6, 7], [8, 9, 10]])
    with torch.no_grad():
        (states,) = encoder.module({"pixel_values": pixels})
        got = first.module({"input_ids": ids, "encoder_hidden_states": states})[0]
        wanted = model(pixel_values=pixels, decoder_input_ids=ids).logits
    assert states.dim() == 3
    torch.testing.assert_close(got, wanted)
