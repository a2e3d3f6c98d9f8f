// Where a model is to run, as data: which kernels there are, and what a runtime cannot take as it
// is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "rewriting/tuning.h"
#include "targets/fusion.h"
#include "targets/kernels/kernels.h"
#include "targets/rule.h"

namespace sardonyx::targets {

struct Target {
  std::string_view name;   // "onnxruntime-cpu", as users write it
  std::string_view title;  // "ONNX Runtime's CPU provider", as messages say it
  std::string_view about;  // a sentence for the documentation
  std::int64_t opset;      // that serves it best
  // The releases that models are for, oldest first, with the kernels that they have; none: whatever
  // the standard allows.
  std::span<const Release> releases;
  // Whether it expands functions of the standard that it has no kernel for, and casts float16
  // itself where it has none in that type.
  bool expands_functions = true;
  // Whether contrib operators are fused of a model that is in half precision already, as they are
  // for every accelerator whose kernels are listed.
  bool computes_in_half = false;
  // Whether it computes nothing in bfloat16, nor does the CPU next to it.
  bool lacks_bfloat16 = false;
  // What it cannot take as it is, in the order in which rules are asked.
  std::span<const Rules> rules;
  // Its contrib operators, each of which is fused from several of the canonical IR.
  Fusions fusions;
  // Whether it has the contrib operators for block-wise quantized weights.
  bool has_quantized_operators = false;
  // The accuracy_level that these are given where nobody asks for another: 4 rounds activations to
  // 8 bits, 0 leaves the choice to the runtime.
  int accuracy_level = 0;
  rewriting::Tuning tuning = {};
  // Where the rows come from: "tried with ONNX Runtime 1.31", "read in its documentation".
  std::string_view source;
  // Inputs that it feeds where the model has them: those that nothing reads are dropped.
  std::span<const std::string_view> fed_if_read = {};

  // The oldest release that loads models of the opset: what it has, a newer one has too. The newest
  // one where none is known to load it; null where the target has none.
  const Release* release_for(std::int64_t opset) const;
  // The kernels of an operator in that release, which may be none: such an operator is a function
  // that the runtime expands.
  std::span<const Kernel> kernels_of(onnx::Op op, std::int64_t opset) const;
  // Those of the CPU beside them; none where the target has no accelerator.
  std::span<const Kernel> cpu_kernels_of(onnx::Op op, std::int64_t opset) const;
  // Whether the target leaves to the CPU what its accelerator has no kernel for.
  bool is_accelerated() const { return !releases.empty() && releases.back().is_accelerated(); }
  // Whether the rule holds in that release.
  bool has_rule(const Rule& rule, std::int64_t opset) const;
  std::span<const Rule* const> rules_of(onnx::Op op) const;
};

// Every target; the first is the default.
std::span<const Target> targets();
// Null where there is none of that name.
const Target* find_target(std::string_view name);

}  // namespace sardonyx::targets
