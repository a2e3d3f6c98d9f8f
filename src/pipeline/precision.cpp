#include "pipeline/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "precision/half.h"
#include "precision/weight_only.h"

namespace sardonyx {
namespace {

constexpr std::int64_t kOpsetOfBlocks = 21;

// What the graph computes in, and what weights are held in: either may be left to the model.
struct Types {
  std::string half, blocks;
};

Types types_of(const PrecisionOptions& options) {
  const std::string& to = options.to;
  if (to == "fp16" || to == "bf16") return {to, {}};
  const std::size_t sign = to.find('+');
  if (sign == std::string::npos) return {{}, to};
  return {to.substr(0, sign), to.substr(sign + 1)};
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

precision::Report to_blocks(onnx::Model& model, const PrecisionOptions& options,
                            const targets::Target& target) {
  precision::WeightOnlyOptions weights{.bits = bits_of(types_of(options).blocks),
                                       .block_size = options.block_size,
                                       .symmetric = options.symmetric,
                                       .search = options.method == "search",
                                       .keep = options.keep,
                                       .mixed = {},
                                       .contrib = target.has_quantized_operators};
  for (const PrecisionOptions::Mixed& each : options.mixed)
    weights.mixed.push_back({each.pattern, bits_of(each.to)});
  weights.accuracy_level = options.accuracy_level.value_or(target.accuracy_level);
  return precision::code_weights(model, weights);
}

}  // namespace

std::int64_t quantized_block_size(const PrecisionOptions& options) {
  return types_of(options).blocks.empty() ? 0 : options.block_size;
}

base::DType half_of(const PrecisionOptions& options) {
  const std::string half = types_of(options).half;
  return half.empty()     ? base::DType::kUndefined
         : half == "fp16" ? base::DType::kFloat16
                          : base::DType::kBFloat16;
}

namespace {

precision::Report change(onnx::Model& model, const PrecisionOptions& options,
                         const targets::Target& target, const std::function<void()>& in_half) {
  const Types types = types_of(options);
  precision::Report report;
  if (!types.half.empty()) {
    report = precision::to_half(
        model, {.dtype = half_of(options), .io = options.io, .keep = options.keep});
  }
  in_half();
  if (types.blocks.empty()) return report;
  precision::Report coded = to_blocks(model, options, target);
  // What codes are made of, and a stack whose parts are coded, is not in half precision any more.
  std::set<std::string_view> gone;
  for (const precision::HeldWeight& each : coded.weights) gone.insert(each.weight);
  for (const onnx::ValueInfo* each : model.initializers)
    if (!onnx::has_uses(each)) gone.insert(each->name);
  std::erase_if(report.weights,
                [&](const precision::HeldWeight& each) { return gone.contains(each.weight); });
  std::ranges::move(coded.weights, std::back_inserter(report.weights));
  std::ranges::move(coded.stayed, std::back_inserter(report.stayed));
  return report;
}

}  // namespace

void check(const PrecisionOptions& options, const targets::Target& target) {
  if (options.to.empty()) return;
  const Types types = types_of(options);
  const bool is_known =
      types.blocks.empty() || ((types.blocks == "int4" || types.blocks == "int8") &&
                               (types.half.empty() || types.half == "fp16"));
  if (!is_known) refuse("precision", options.to, "fp16, bf16, int8, int4, fp16+int8, fp16+int4");
  if (options.method != "search" && options.method != "rtn")
    refuse("method", options.method, "search, rtn");
  for (const PrecisionOptions::Mixed& each : options.mixed) bits_of(each.to);
  if (types.blocks.empty() && !options.mixed.empty())
    refuse("mixed precision with", options.to, "int8, int4, fp16+int8, fp16+int4");
  if (half_of(options) == base::DType::kBFloat16 && target.lacks_bfloat16)
    base::fail("SX1505", fmt::format("{} computes nothing in bfloat16", target.title),
               "choose fp16 in place of bf16");
}

std::int64_t opset_for(const PrecisionOptions& options, const targets::Target& target,
                       std::optional<std::int64_t> requested, std::int64_t default_opset) {
  const std::int64_t opset = requested.value_or(default_opset);
  const bool in_blocks = !types_of(options).blocks.empty() && !target.has_quantized_operators;
  if (!in_blocks || opset >= kOpsetOfBlocks) return opset;
  if (!requested) return kOpsetOfBlocks;
  base::fail("SX1815",
             fmt::format("weights of {} in blocks are of opset {}, and not of {}", options.to,
                         kOpsetOfBlocks, opset),
             "ask for a newer opset or for none, or for a runtime with operators of its own");
}

void change_precision(onnx::Model& model, const PrecisionOptions& options,
                      const targets::Target& target, OptimizationReport& done,
                      const std::function<void()>& in_half) {
  if (options.to.empty()) return;
  precision::Report report = change(model, options, target, in_half);
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
    weight.made_of = each.made_of;
    weight.is_table = each.is_table;
    if (each.coded != nullptr) {
      weight.rows = each.coded->rows();
      weight.columns = each.coded->columns();
      weight.values = [coded = each.coded] { return coded->restored(); };
    }
    weight.error = [held = std::move(each)] {
      const kernels::CodingError error = held.error();
      return WeightError{error.relative(), error.largest};
    };
  }
}

}  // namespace sardonyx
