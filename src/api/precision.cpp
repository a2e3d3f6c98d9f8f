#include "api/precision.h"

#include <fmt/format.h>

#include <utility>

#include "base/diagnostic.h"
#include "precision/half.h"
#include "precision/weight_only.h"

namespace sardonyx {
namespace {

constexpr std::int64_t kOpsetOfBlocks = 21;

bool is_half(const PrecisionOptions& options) {
  return options.to == "fp16" || options.to == "bf16";
}

bool is_cpu(std::string_view runtime) {
  return runtime == "onnxruntime-cpu" || runtime == "onnxruntime-genai";
}

bool has_own_operators(std::string_view runtime) {
  return is_cpu(runtime) || runtime == "onnxruntime-cuda";
}

[[noreturn]] void refuse(std::string_view what, const std::string& word, std::string_view known) {
  base::fail("SX1810", fmt::format("there is no {} `{}`", what, word),
             fmt::format("choose one of {}", known));
}

int bits_of(const std::string& word) {
  if (word == "keep") return 0;
  if (word != "int4" && word != "int8") refuse("type of weights", word, "int4, int8, keep");
  return word == "int4" ? 4 : 8;
}

precision::Report change(onnx::Model& model, const PrecisionOptions& options,
                         std::string_view runtime) {
  if (is_half(options)) {
    const auto half = options.to == "fp16" ? base::DType::kFloat16 : base::DType::kBFloat16;
    return precision::to_half(model, {.dtype = half, .io = options.io, .keep = options.keep});
  }
  precision::WeightOnlyOptions weights{.bits = bits_of(options.to),
                                       .block_size = options.block_size,
                                       .symmetric = options.symmetric,
                                       .search = options.method == "search",
                                       .keep = options.keep,
                                       .mixed = {},
                                       .contrib = has_own_operators(runtime)};
  for (const PrecisionOptions::Mixed& each : options.mixed)
    weights.mixed.push_back({each.pattern, bits_of(each.to)});
  weights.accuracy_level = options.accuracy_level.value_or(is_cpu(runtime) ? 4 : 0);
  return precision::code_weights(model, weights);
}

}  // namespace

void check(const PrecisionOptions& options) {
  if (options.to.empty()) return;
  if (!is_half(options) && options.to != "int4" && options.to != "int8")
    refuse("precision", options.to, "fp16, bf16, int8, int4");
  if (options.method != "search" && options.method != "rtn")
    refuse("method", options.method, "search, rtn");
  for (const PrecisionOptions::Mixed& each : options.mixed) bits_of(each.to);
  if (is_half(options) && !options.mixed.empty())
    refuse("mixed precision with", options.to, "int8, int4");
}

std::int64_t opset_for(const PrecisionOptions& options, std::string_view runtime,
                       std::optional<std::int64_t> asked, std::int64_t otherwise) {
  const std::int64_t opset = asked.value_or(otherwise);
  const bool in_blocks = !options.to.empty() && !is_half(options) && !has_own_operators(runtime);
  if (!in_blocks || opset >= kOpsetOfBlocks) return opset;
  if (!asked) return kOpsetOfBlocks;
  base::fail("SX1815",
             fmt::format("weights of {} in blocks are of opset {}, and not of {}", options.to,
                         kOpsetOfBlocks, opset),
             "ask for a newer opset or for none, or for a runtime with operators of its own");
}

void change_precision(onnx::Model& model, const PrecisionOptions& options, std::string_view runtime,
                      Simplification& done) {
  if (options.to.empty()) return;
  precision::Report report = change(model, options, runtime);
  if (!report.weights.empty())
    done.applied.push_back({"precision", static_cast<std::int64_t>(report.weights.size())});
  for (precision::Stayed& each : report.stayed)
    done.declined.push_back({"precision", std::move(each.what), std::move(each.reason)});
  for (precision::HeldWeight& each : report.weights) {
    WeightPrecision& weight = done.weights.emplace_back();
    weight.weight = each.weight;
    weight.type = each.type;
    weight.bytes_before = each.bytes_before;
    weight.bytes_after = each.bytes_after;
    weight.error = [held = std::move(each)] {
      const precision::CodingError error = held.error();
      return WeightError{error.relative(), error.largest};
    };
  }
}

}  // namespace sardonyx
