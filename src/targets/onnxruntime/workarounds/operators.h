// Contrib operators (com.microsoft) that are emitted for ONNX Runtime.
#pragma once

#include "onnx/infer/foreign.h"

namespace sardonyx::targets::microsoft {

extern const onnx::ForeignOperator kActivatedConvolution;  // FusedConv
extern const onnx::ForeignOperator kPackedAttention;   // Attention: with the products of q, k and v
extern const onnx::ForeignOperator kHeadsOfAttention;  // MultiHeadAttention
extern const onnx::ForeignOperator kCachedAttention;   // GroupQueryAttention
extern const onnx::ForeignOperator kExperts;           // MoE
extern const onnx::ForeignOperator kRecurrentAttention;     // LinearAttention
extern const onnx::ForeignOperator kGeluOfSum;              // BiasGelu
extern const onnx::ForeignOperator kGatedGeluOfSum;         // BiasSplitGelu
extern const onnx::ForeignOperator kFastGeluOfSum;          // FastGelu
extern const onnx::ForeignOperator kNormalizationOfSum;     // SkipLayerNormalization
extern const onnx::ForeignOperator kRmsNormalizationOfSum;  // SkipSimplifiedLayerNormalization
extern const onnx::ForeignOperator kRotatedHeads;           // RotaryEmbedding
extern const onnx::ForeignOperator kSwish;                  // QuickGelu

}  // namespace sardonyx::targets::microsoft
