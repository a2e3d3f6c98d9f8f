// Figures are those of bench/kernels.py on one thread of a Xeon. Some operators that the runtime
// has are not here, because they are slower than what they stand for: SkipLayerNormalization,
// MultiHeadAttention.
#include "targets/onnxruntime/fusions/fusions.h"

#include <array>

namespace sardonyx::targets {

namespace {

constexpr Fusion kSums = {
    .rule = &kSkipRmsNormalization,
    .before = "RMSNormalization(x + skip)",
    .after = "com.microsoft.SkipSimplifiedLayerNormalization(x, skip)",
    .measured =
        "0.98, 1.36, 1.68, 1.06 of the time for 1, 16, 128, 512 tokens of 1024: for "
        "runtimes alone that go on token by token",
    .since = "1.31"};
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
             .since = "1.31"},
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
             .since = "1.31"},
      kBiases,
      kFastBiases,
      kGates,
      kConvolutions,
      kRecurrences,
      kSums,
  };
  return kFusions;
}

}  // namespace sardonyx::targets
