// What a rule for results sees of a call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "program/inference/infer_result_types.h"

namespace sardonyx::program {

using base::DType;
using symbolic::Expr;
using Sizes = std::vector<Expr>;
using TensorTypes = std::vector<TensorType>;

class Bound {
 public:
  Bound(const Schema& schema, const std::vector<Argument>& arguments, symbolic::Pool& pool)
      : schema_(schema), arguments_(arguments), pool_(pool) {}

  const Schema& schema() const { return schema_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  std::string_view name() const { return schema_.base_name(); }

  bool has(std::string_view name) const;  // there is such an argument, and it is not None
  // The first argument, or that of this name.
  const Value& self() const;
  const Value& tensor(std::string_view name) const;
  const Value* optional_tensor(std::string_view name) const;
  std::vector<const Value*> tensors(std::string_view name) const;  // None: null
  bool flag(std::string_view name) const;                          // false where there is none
  Expr size(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  Sizes sizes(std::string_view name) const;  // a number is a list of one; None is empty
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::optional<DType> dtype(std::string_view name = "dtype") const;

  // Non-negative, of a tensor of this rank (0-d ones take 0 and -1).
  std::size_t axis(std::string_view name, std::size_t rank) const;
  std::size_t axis(std::int64_t number, std::size_t rank) const;

  // As many as there are after a resampling by this factor.
  Expr scaled(Expr size, double factor) const;
  // A data-dependent size.
  Expr fresh() const;
  Sizes broadcast(std::span<const Expr> left, std::span<const Expr> right) const;

  [[noreturn]] void refuse(const std::string& what) const;  // SX1208

 private:
  const Argument& argument(std::string_view name) const;

  const Schema& schema_;
  const std::vector<Argument>& arguments_;
  symbolic::Pool& pool_;
};

using ResultRule = TensorTypes (*)(const Bound& call);

struct ResultRow {
  std::string_view names;  // operators, with a space between
  ResultRule rule;
};

std::span<const ResultRow> elementwise_results();
std::span<const ResultRow> reduction_results();
std::span<const ResultRow> view_results();
std::span<const ResultRow> joining_results();
std::span<const ResultRow> indexing_results();
std::span<const ResultRow> matrix_results();
std::span<const ResultRow> spatial_results();
std::span<const ResultRow> network_results();
std::span<const ResultRow> creation_results();
std::span<const ResultRow> loss_results();
std::span<const ResultRow> spectrum_results();
std::span<const ResultRow> factorization_results();
std::span<const ResultRow> detection_results();
std::span<const ResultRow> quantization_results();
std::span<const ResultRow> gradient_results();
std::span<const ResultRow> prims_results();

// The type of `value` with other sizes.
TensorType like(const Value& value);
TensorType like(const Value& value, Sizes shape);

// Integers are computed in float32.
base::DType as_floating(base::DType dtype);

// Whether sums of such elements are int64.
bool counts_up(base::DType dtype);

// Row-major strides.
Sizes strides_of(const Value& value);

// What PyTorch computes in for these operands (torch.result_type).
class Promotion {
 public:
  void add(const Value& tensor);
  void add(const Argument& number);
  DType dtype() const;

 private:
  DType dimensioned_ = DType::kUndefined;
  DType zero_dim_ = DType::kUndefined;
  DType number_ = DType::kUndefined;
};

}  // namespace sardonyx::program
