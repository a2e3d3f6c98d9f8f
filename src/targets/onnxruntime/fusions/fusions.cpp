// Figures are those of bench/kernels.py on one thread of a Xeon. Some operators that the runtime
// has are not here, because they are slower than what they stand for: SkipLayerNormalization,
// MultiHeadAttention.
#include "targets/onnxruntime/fusions/fusions.h"

#include <array>

namespace sardonyx::targets {

namespace {

using enum base::DType;

constexpr onnx::DTypeSet kHalves = onnx::dtype_bit(kFloat16) | onnx::dtype_bit(kBFloat16);
constexpr onnx::DTypeSet kFloatOrHalf = onnx::dtype_bit(kFloat32) | onnx::dtype_bit(kFloat16);
constexpr onnx::DTypeSet kFloats = onnx::dtype_bit(kFloat32) | kHalves;

constexpr Fusion kSums = {
    .rule = &kSkipRmsNormalization,
    .before = "RMSNormalization(x + skip)",
    .after = "com.microsoft.SkipSimplifiedLayerNormalization(x, skip)",
    .measured =
        "0.98, 1.36, 1.68, 1.06 of the time for 1, 16, 128, 512 tokens of 1024: for "
        "runtimes alone that go on token by token",
    .since = "1.31",
    .types = kFloats};
constexpr Fusion kGates = {
    .rule = &kQuickGelu,
    .before = "x · Sigmoid(alpha · x)",
    .after = "com.microsoft.QuickGelu(x)",
    .measured =
        "1.00, 1.00, 1.14 of the time for 1, 128, 512 rows of 3072, where ONNX Runtime "
        "makes the same of both as it loads the model",
    .since = "1.31"};
constexpr Fusion kBiases = {.rule = &kBiasGelu,
                            .before = "Gelu(x + bias)",
                            .after = "com.microsoft.BiasGelu(x, bias)",
                            .measured = "1.00, 0.99, 0.88 of the time for 1, 128, 512 rows of 3072",
                            .since = "1.31"};

constexpr Fusion kFastBiases = {
    .rule = &kFastGelu,
    .before = "Gelu<approximate = tanh>(x + bias)",
    .after = "com.microsoft.FastGelu(x, bias)",
    .measured =
        "1.00, 1.01, 1.04 of the time for 1, 128, 512 rows of 3072, where ONNX Runtime makes the "
        "same of both as it loads the model",
    .since = "1.31"};
constexpr Fusion kConvolutions = {
    .rule = &kFusedConv,
    .before = "Relu(Conv(x, w)), and other activations",
    .after = "com.microsoft.FusedConv(x, w)",
    .measured =
        "1.00, 0.99, 1.01 of the time for 16 x 8 x 8, 64 x 56 x 56, 256 x 14 x 14, where ONNX "
        "Runtime makes the same of both as it loads the model; of a sum it takes 1.05 to 1.31",
    .since = "1.31"};

constexpr Fusion kRecurrences = {
    .rule = &kLinearAttention,
    .before = "LinearAttention(q, k, v, past, decay, beta)",
    .after = "com.microsoft.LinearAttention(q, k, v, past, decay, beta)",
    .measured =
        "beside a loop over the tokens 0.69, 0.37, 0.24, 0.21 of the time for 1, 16, 128, 512 "
        "tokens of a gated delta rule of 8 heads of 64 by 64 (0.69, 0.43, 0.26, 0.23 without the "
        "correction, as Mamba 2 has it), and 0.08, 0.11, 0.16, 0.17 (0.09, 0.09, 0.23, 0.37) of "
        "chunks as transformers computes them (`python -m bench.recurrences`)",
    .since = "1.31"};

}  // namespace

Fusions onnxruntime_cpu_fusions() {
  static const std::array kFusions = {
      Fusion{.rule = &kGroupQueryAttention,
             .before = "Attention(RotaryEmbedding(q), RotaryEmbedding(k), v, mask, past), each "
                       "token after those before it, a batch of one behind a cache",
             .after = "com.microsoft.GroupQueryAttention(q, k, v, past, lengths, angles)",
             .measured =
                 "with its products as one, 0.96 of the CPU time of a token behind 512 of a "
                 "Llama of 201 M parameters, in int4 1.00; alone 1.12, 1.28 of the time "
                 "behind 128, 512 and 0.75 for 512 tokens behind none; with sinks, 64 heads over "
                 "8, 1.28, 1.18 of the time of Attention with one more key behind 128, 512, 0.80, "
                 "0.72 for 128, 512 tokens, and 0.83, 0.50, 0.72, 0.68 of decomposed scores",
             .since = "1.31",
             .types = kFloatOrHalf},
      Fusion{.rule = &kPackedAttention,
             .before = "Attention(x·Wq + bq, x·Wk + bk, x·Wv + bv, mask)",
             .after = "com.microsoft.Attention(x, W, b, , , mask)",
             .measured = "with a mask 1.04, 0.99, 0.87 of the time for 16, 128, 512 tokens, 12 "
                         "heads of 64, and 0.99 for 8 batches of 128",
             .since = "1.31"},
      kBiases,
      kFastBiases,
      kGates,
      kConvolutions,
      kRecurrences,
  };
  return kFusions;
}

Fusions onnxruntime_genai_fusions() {
  static const std::array kFusions = {
      Fusion{.rule = &kGroupQueryAttentionAsFed,
             .before = "Attention(RotaryEmbedding(q), RotaryEmbedding(k), v, mask, past), each "
                       "token after those before it that attention_mask has 1 for",
             .after = "com.microsoft.GroupQueryAttention(q, k, v, past, lengths, angles)",
             .measured = "as for onnxruntime-cpu; with past and present in one buffer nothing is "
                         "copied",
             .since = "1.31",
             .types = kFloatOrHalf},
      kBiases,
      kFastBiases,
      kGates,
      kConvolutions,
      kRecurrences,
      kSums,
  };
  return kFusions;
}

// GroupNorm is not among them: its kernel takes images of channels last alone, and older ones leave
// epsilon out. Measured on an H100, in float16, between other nodes of the same kind.
namespace {

constexpr Fusion kProjectionsOnCuda = {
    .rule = &kPackedProjections,
    .before = "x·Wq, x·Wk, x·Wv",
    .after = "Split(x·[Wq Wk Wv])",
    .measured =
        "0.65, 0.66, 0.64, 1.42 of the time for 128, 1024, 512, 4096 rows of 768: where "
        "more than 1024 rows are not certain",
    .since = "1.31"};
constexpr Fusion kSumsOnCuda = {.rule = &kSkipRmsNormalization,
                                .before = "RMSNormalization(x + skip)",
                                .after = "com.microsoft.SkipSimplifiedLayerNormalization(x, skip)",
                                .measured = "0.57 of the time",
                                .since = "1.31",
                                .types = kFloats};
constexpr Fusion kCenteredSumsOnCuda = {
    .rule = &kSkipLayerNormalization,
    .before = "LayerNormalization(x + skip)",
    .after = "com.microsoft.SkipLayerNormalization(x, skip)",
    .measured = "1.00 of the time, where ONNX Runtime makes the same of both as it loads the model",
    .since = "1.31",
    .types = kFloats};
constexpr Fusion kLongAttentionOnCuda = {
    .rule = &kMultiHeadAttention,
    .before = "Attention(q, k, v, mask) of 512 queries and more",
    .after = "com.microsoft.MultiHeadAttention(q, k, v, , , bias)",
    .measured =
        "0.49, 0.45 of the time for batches of 1, 8 by 512 tokens with a mask, 0.69 for 8 "
        "without; more for 128 tokens",
    .since = "1.31",
    .types = kFloats};
constexpr Fusion kGatesOnCuda = {
    .rule = &kBiasSplitGelu,
    .before = "left · Gelu(right), of both halves of x + bias",
    .after = "com.microsoft.BiasSplitGelu(x, bias)",
    .measured = "not measured: a kernel for the four of them, in float32 inside",
    .since = "1.31",
    .types = kFloatOrHalf};
constexpr Fusion kRecurrencesOnCuda = {
    .rule = &kLinearAttention,
    .before = "LinearAttention(q, k, v, past, decay, beta)",
    .after = "com.microsoft.LinearAttention(q, k, v, past, decay, beta)",
    .measured = "not measured there: a kernel for a loop over the tokens",
    .since = "1.31",
    .types = kFloats};

constexpr Fusion kExpertsOnCuda = {
    .rule = &kMixtureOfExperts,
    .before =
        "the experts of each token, sorted, MatMul by expert, SwiGLU of columns that alternate or "
        "are halves, MatMul by expert, and their weighted sum",
    .after = "com.microsoft.MoE(x, logits, W1, b1, W2, b2)",
    .measured =
        "not measured: one kernel for two products and a slice of each expert. Weights that are "
        "quantized in float16 make it QMoE, whose codes lie as its CPU kernel, which was run, and "
        "the source of its CUDA kernel, which was read, take them (weights_prepacked = 0)",
    .since = "1.31",
    .types = kFloats};

constexpr Fusion cached_attention_on_cuda(const rewriting::Rule& rule) {
  return {.rule = &rule,
          .before =
              "Attention(RotaryEmbedding(q), RotaryEmbedding(k), v, mask, past), each token "
              "after those before it",
          .after = "com.microsoft.GroupQueryAttention(q, k, v, past, lengths, angles)",
          .measured =
              "not measured alone: onnxruntime-genai's own model of a Llama of 1.1 B parameters "
              "has it, one buffer of past and present, and the other fusions, and takes 0.59 of "
              "the time of the standard operators of opset 23 for a token behind 512; the operator "
              "alone takes 1.30 with two buffers",
          .since = "1.31",
          .types = kHalves};
}

}  // namespace

Fusions onnxruntime_cuda_fusions() {
  static const std::array kFusions = {kProjectionsOnCuda,  kLongAttentionOnCuda, kSumsOnCuda,
                                      kCenteredSumsOnCuda, kGatesOnCuda,         kRecurrencesOnCuda,
                                      kExpertsOnCuda};
  return kFusions;
}

Fusions onnxruntime_genai_cuda_fusions() {
  static const std::array kFusions = {cached_attention_on_cuda(kGroupQueryAttentionAsFed),
                                      kProjectionsOnCuda,
                                      kSumsOnCuda,
                                      kCenteredSumsOnCuda,
                                      kRecurrencesOnCuda,
                                      kExpertsOnCuda};
  return kFusions;
}

// Not measured: there is no such hardware at hand. On a software Vulkan (SwiftShader), 1.27 gives
// other numbers than the CPU for MultiHeadAttention of more than one query, so that attention is
// decomposed there.
namespace {

constexpr Fusion kSumsOnWebGpu = {
    .rule = &kSkipRmsNormalization,
    .before = "RMSNormalization(x + skip)",
    .after = "com.microsoft.SkipSimplifiedLayerNormalization(x, skip)",
    .measured = "not measured: a node less, as on CUDA",
    .since = "1.27",
    .types = kFloatOrHalf};
constexpr Fusion kCachedOnWebGpu = {
    .rule = &kGroupQueryAttentionAsFed,
    .before =
        "Attention(RotaryEmbedding(q), RotaryEmbedding(k), v, mask, past), each token after "
        "those before it that attention_mask has 1 for",
    .after = "com.microsoft.GroupQueryAttention(q, k, v, past, lengths, angles)",
    .measured = "not measured: there is no kernel for what it replaces",
    .since = "1.27",
    .types = kFloatOrHalf};

}  // namespace

Fusions onnxruntime_webgpu_fusions() {
  static const std::array kFusions = {kSumsOnWebGpu};
  return kFusions;
}

Fusions onnxruntime_genai_webgpu_fusions() {
  static const std::array kFusions = {kCachedOnWebGpu, kSumsOnWebGpu};
  return kFusions;
}

// Read in the source of ONNX Runtime's DirectML provider and of onnxruntime-genai's model builder,
// neither run nor measured: they are for Windows alone.
Fusions onnxruntime_genai_dml_fusions() {
  static const std::array kFusions = {
      Fusion{.rule = &kGroupQueryAttentionApart,
             .before = "Attention(RotaryEmbedding(q), RotaryEmbedding(k), v, mask, past), each "
                       "token after those before it",
             .after = "com.microsoft.GroupQueryAttention(RotaryEmbedding(q, position_ids, angles), "
                      "RotaryEmbedding(k, position_ids, angles), v, past, lengths)",
             .measured = "not measured: the form of onnxruntime-genai's own models, whose cache is "
                         "one buffer",
             .since = "1.31",
             .types = kFloatOrHalf},
      Fusion{.rule = &kSkipRmsNormalization,
             .before = "RMSNormalization(x + skip)",
             .after = "com.microsoft.SkipSimplifiedLayerNormalization(x, skip)",
             .measured = "not measured: a node less, as on CUDA",
             .since = "1.31",
             .types = kFloatOrHalf},
  };
  return kFusions;
}

}  // namespace sardonyx::targets
