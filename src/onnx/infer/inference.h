// What the inference rules of the operators see of a node. A rule sets the shapes of the outputs;
// the dtypes that follow from the schema's type parameters are set before it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/gen/op.h"
#include "onnx/graph/ir.h"
#include "onnx/operators/operator.h"

namespace sardonyx::onnx {

using symbolic::Expr;

class Inference {
 public:
  Inference(Node* node, symbolic::Pool& pool, std::int64_t opset, const OperatorVersion& version)
      : node_(node), pool_(pool), opset_(opset), version_(version) {}

  const Node& node() const { return *node_; }
  symbolic::Pool& pool() const { return pool_; }
  std::int64_t opset() const { return opset_; }
  const OperatorVersion& version() const { return version_; }

  // --- inputs
  std::size_t inputs() const { return node_->inputs.size(); }
  bool has(std::size_t i) const { return node_->input(i) != nullptr; }
  DType dtype(std::size_t i) const { return has(i) ? node_->input(i)->dtype : DType::kUndefined; }
  bool has_rank(std::size_t i) const { return has(i) && node_->input(i)->has_rank; }
  // The same; fails when it is known and below `least`.
  bool has_rank(std::size_t i, std::int64_t least) const {
    if (!has_rank(i)) return false;
    if (rank(i) < least) fail("the rank of an input is too low");
    return true;
  }
  // Only where has_rank(i).
  const Shape& shape(std::size_t i) const { return node_->input(i)->shape; }
  std::int64_t rank(std::size_t i) const { return static_cast<std::int64_t>(shape(i).size()); }
  // Elements of a constant integer input.
  std::optional<std::vector<std::int64_t>> ints(std::size_t i) const;
  // Elements of an integer input as expressions, known ones and unknown ones; nothing when not even
  // their number is known.
  std::optional<std::vector<Expr>> contents(std::size_t i) const;

  // --- attributes
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    return node_->int_or(name, otherwise);
  }
  const std::vector<std::int64_t>* list(std::string_view name) const { return node_->ints(name); }
  // An axis made non-negative; fails when it is out of [-rank, rank).
  std::size_t axis(std::int64_t axis, std::int64_t rank) const;
  std::vector<std::size_t> axes(std::span<const std::int64_t> axes, std::int64_t rank) const;

  // --- outputs; those that the node does not have are passed over
  std::size_t outputs() const { return node_->outputs.size(); }
  void set_dtype(std::size_t i, DType dtype);
  void set_shape(std::size_t i, Shape shape);
  void set_rank(std::size_t i, std::int64_t rank);  // every dim unknown
  void set_contents(std::size_t i, std::vector<Expr> contents);
  // Output i has the type and shape of input j.
  void same_as(std::size_t i, std::size_t j);

  // Throws SX1503 naming the operator, its inputs' types and `what`.
  [[noreturn]] void fail(std::string what) const;

 private:
  Node* node_;
  symbolic::Pool& pool_;
  std::int64_t opset_;
  const OperatorVersion& version_;
};

struct InferenceRule {
  Op op;
  void (*infer)(Inference&);
};

// The families' rules; infer.cpp puts them together.
std::span<const InferenceRule> elementwise_rules();
std::span<const InferenceRule> reduction_rules();
std::span<const InferenceRule> shape_rules();
std::span<const InferenceRule> indexing_rules();
std::span<const InferenceRule> linear_algebra_rules();
std::span<const InferenceRule> window_rules();  // convolution, pooling, resizing
std::span<const InferenceRule> normalization_rules();
std::span<const InferenceRule> recurrent_rules();
std::span<const InferenceRule> attention_rules();
std::span<const InferenceRule> control_flow_rules();
std::span<const InferenceRule> creation_rules();
std::span<const InferenceRule> quantization_rules();
std::span<const InferenceRule> signal_rules();

// The size that two dims broadcast to; unknown when that depends on values that are not known.
Expr broadcast_dim(Expr a, Expr b);
// Numpy's broadcasting; nothing when the shapes certainly do not go together.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
// a where the two agree for certain, unknown otherwise.
Expr common_dim(Expr a, Expr b);

// "float32[batch, 3]", "int64[?]", "float32" where the rank is not known.
std::string type_text(const ValueInfo& value);
// Every expression of a constant's elements, or its known contents; nothing when not known.
std::optional<std::vector<Expr>> contents_of(const ValueInfo* value);

}  // namespace sardonyx::onnx
