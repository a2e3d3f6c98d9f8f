// What operators of com.microsoft are fused from. A new one is a file with its test, a line here
// and a row in fusions.cpp.
#pragma once

#include "targets/fusion.h"

namespace sardonyx::targets {

extern const rewriting::Rule kBiasGelu;
extern const rewriting::Rule kBiasSplitGelu;
extern const rewriting::Rule kFastGelu;
extern const rewriting::Rule kFusedConv;
extern const rewriting::Rule kGroupQueryAttention;
extern const rewriting::Rule kGroupQueryAttentionAsFed;
extern const rewriting::Rule kGroupQueryAttentionApart;
extern const rewriting::Rule kLinearAttention;
extern const rewriting::Rule kMixtureOfExperts;
extern const rewriting::Rule kMultiHeadAttention;
extern const rewriting::Rule kPackedAttention;
extern const rewriting::Rule kPackedProjections;
extern const rewriting::Rule kQuickGelu;
extern const rewriting::Rule kSkipLayerNormalization;
extern const rewriting::Rule kSkipRmsNormalization;

Fusions onnxruntime_cpu_fusions();
Fusions onnxruntime_genai_fusions();
Fusions onnxruntime_cuda_fusions();
Fusions onnxruntime_genai_cuda_fusions();
Fusions onnxruntime_webgpu_fusions();
Fusions onnxruntime_genai_webgpu_fusions();
Fusions onnxruntime_genai_dml_fusions();

}  // namespace sardonyx::targets
