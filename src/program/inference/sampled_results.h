// The types of what a call gives where no rule here knows the operator, from somebody who knows it
// at given sizes, as PyTorch does in whose process we run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/inference/infer_result_types.h"

namespace sardonyx::program {

struct SizedTensor {
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> sizes;
};

struct OperatorSource {
  // The schemas of the overloads of an operator ("mylib::op") that this build does not know; none
  // where it is nobody's.
  std::function<std::vector<std::string>(const std::string& op)> schemas;
  // What a call gives where the symbols in its arguments have these values, lists flattened;
  // nothing where that cannot be told without data.
  std::function<std::optional<std::vector<SizedTensor>>(const Schema& schema,
                                                        const std::vector<Argument>& arguments,
                                                        std::span<const symbolic::Binding> sizes)>
      results;
};

// As infer_result_types(), by asking at a few sizes: a dimension that is always one of the call's
// own, or one more or less, or the sum, product, least or greatest of two of these, is said so;
// another that changes is a new unbacked symbol.
std::optional<std::vector<TensorType>> asked_results(const OperatorSource& source,
                                                     const Schema& schema,
                                                     const std::vector<Argument>& arguments,
                                                     symbolic::Pool& pool);

}  // namespace sardonyx::program
