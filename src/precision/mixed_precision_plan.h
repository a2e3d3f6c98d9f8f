// Which nodes compute in half precision.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/graph/ir.h"
#include "precision/half.h"
#include "precision/half_values.h"
#include "precision/selection.h"

namespace sardonyx::precision {

// The number that a ConstantOfShape repeats.
double filling_of(const onnx::Node* constant_of_shape);

// A node stays in float32
// - where the user says so;
// - where PyTorch's autocast has it stay, because sums, powers and logarithms overflow or lose
//   their digits, and where the operator takes no half, or nobody knows what it does;
// - where all that it computes with was integers: positions, sizes and masks are exact, cheap and
//   large, and what is computed of them is cast once;
// - where it computes with constants alone: the result is rounded once, and a runtime computes it
//   once, as it loads the model;
// - where it scales sums of a product of integers, which are beyond half until then;
// - where it reads a constant that does not fit, or what was computed of one.
class MixedPrecisionPlan {
 public:
  MixedPrecisionPlan(onnx::Model& model, const HalfOptions& options);

  bool is_half(const onnx::Node* node) const { return half_[node->id]; }
  // Of integers alone, with numbers that stand for "none" among them.
  bool needs_limit(const onnx::ValueInfo* value) const { return limited_[value->id]; }
  const HalfValues& values_of(const onnx::ValueInfo* constant);
  const std::vector<Stayed>& stayed() const { return stayed_; }

 private:
  void visit(const onnx::Graph* graph);
  void visit(const onnx::Node* node);
  bool stays(const onnx::Node* node);
  bool is_kept(const onnx::Node* node);
  bool reads_unfit(const onnx::Node* node);
  bool is_of_integers(const onnx::Node* node) const;
  bool is_of_constants(const onnx::Node* node) const;
  bool computes(const onnx::Node* node) const;
  bool repeats_constant(const onnx::Node* node) const;
  bool counts(const onnx::Node* node) const;
  bool decides_by_integers(const onnx::Node* node) const;
  void keep_exact(const onnx::Node* node);
  void mark_sums(const onnx::Node* node);
  bool reads_sums(const onnx::Node* node) const;
  void fill_islands(const onnx::Graph* graph);

  const HalfOptions& options_;
  std::vector<Pattern> keep_;
  std::vector<bool> half_;      // by the node's id
  std::vector<bool> exact_;     // by the value's: of integers alone, or computed of constants
  std::vector<bool> fixed_;     // by the value's: of constants alone, moved or computed
  std::vector<bool> limited_;   // by the value's
  std::vector<bool> wide_;      // by the value's: may be beyond half
  std::vector<bool> sums_;      // by the value's: of a product of integers, without their scale
  std::vector<bool> repeated_;  // by the value's: a constant, as often as a shape says
  std::unordered_map<const onnx::Tensor*, HalfValues> values_;
  std::vector<Stayed> stayed_;
};

// The element type that the input of a node which computes in half is to have, where it is float32.
bool takes_half(const onnx::Node* node, std::size_t input, base::DType half);
// Whether the output becomes half with them.
bool gives_half(const onnx::Node* node, std::size_t output, base::DType half);
// Whether the node takes any real type, and what it gives does not depend on that.
bool takes_either(const onnx::Node* node);

}  // namespace sardonyx::precision
