// The transformer encoder's layer and its attention as PyTorch's own inference kernels: what
// torch.export keeps whole of nn.TransformerEncoderLayer when gradients are off.
#pragma once

#include "aten/call.h"

namespace sardonyx::aten {

// aten::_native_multi_head_attention, aten::_transformer_encoder_layer_fwd
Outputs native_multi_head_attention(const Call& call, Emit& onnx);
Outputs transformer_encoder_layer(const Call& call, Emit& onnx);

}  // namespace sardonyx::aten
