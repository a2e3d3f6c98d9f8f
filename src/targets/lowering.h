// Emitting for a target: every operator in the form, the types and the words that it takes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "targets/target.h"

namespace sardonyx::targets {

struct LowerOptions {
  std::int64_t opset = 0;
  // False: weights stay what the program has, and what could be computed of them once is computed
  // at each run.
  bool change_weights = true;
  // A node that the opset has, and only the runtime does not take, stays as it is: somebody else's
  // model is not refused for it.
  bool keep_what_fails = false;
  // Modules of one class are to become one function: no node is said in another way for what reads
  // it, which another module does.
  bool alike = false;
};

// An Emit that takes operators of the canonical IR, as everywhere, and emits the target's nodes.
// An operator goes this way: the target's rules, in their order; the form of the older opset, or
// its definition where that has not come yet; identities and folding; casts to types that have a
// kernel.
class Lowering : public onnx::Emit {
 public:
  Lowering(onnx::Model& model, const Target& target, const LowerOptions& options);

  const Target& target() const { return target_; }
  std::int64_t opset() const { return dialect(); }
  bool changes_weights() const { return options_.change_weights; }
  bool says_alike() const { return options_.alike; }

  // Whether the opset has the node as it is.
  bool says(const onnx::Node* node) const;
  // Whether the target takes the node of the canonical IR as it is.
  bool takes(const onnx::Node* node);
  // What stands for it, if it does not.
  Values lowered(const onnx::Node* node, std::span<const Value> inputs);
  // The operator of `use`, perhaps with other inputs or attributes, for the rules after `rule`.
  Values without(const Rule& rule, const Use& use, std::span<const Value> inputs,
                 std::vector<Attribute> attributes);
  Values without(const Rule& rule, const Use& use);

 protected:
  Values build(const onnx::Operator& op, std::span<const Value> inputs,
               std::vector<Attribute> attributes, std::size_t outputs) override;

 private:
  bool has_name(const onnx::Node* node) const;
  // The first rule that applies, from those at `first` on.
  const Rule* rule_for(const Use& use, const Rule* after) const;
  Values by_rules(const Use& use, const Rule* after);
  Values emitted(const onnx::Operator& op, Values inputs, std::vector<Attribute> attributes,
                 std::size_t outputs);
  void cast_to_fixed_types(const onnx::Operator& op, const onnx::OperatorVersion& version,
                           Values& inputs);
  // kernel_types.cpp: casts round the operator where it has no kernel for the types.
  std::optional<Values> with_kernel_types(const onnx::Operator& op,
                                          const onnx::OperatorVersion& version,
                                          std::span<const Value> inputs,
                                          const std::vector<Attribute>& attributes,
                                          std::size_t outputs);
  // kernel_types.cpp: the same for a type that an attribute asks of the output.
  std::optional<Values> with_output_type(const onnx::Operator& op,
                                         const onnx::OperatorVersion& version,
                                         std::span<const Value> inputs,
                                         const std::vector<Attribute>& attributes);
  // kernel_types.cpp: whether there are kernels, or the operator is expanded, for all of its types.
  bool has_kernel(const onnx::Operator& op, const onnx::OperatorVersion& version,
                  std::span<const Value> inputs, const std::vector<Attribute>& attributes) const;

  const Target& target_;
  LowerOptions options_;
};

}  // namespace sardonyx::targets
