#include "functionalize/views/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/diagnostic.h"

namespace sardonyx::functionalize {
namespace {

using program::Argument;
using program::Call;
using program::List;
using program::Schema;
using program::Value;
using symbolic::Expr;

std::int64_t integer(const Argument& argument, std::int64_t otherwise) {
  const Expr* expr = argument.get<Expr>();
  return expr && expr->is_constant() ? expr->value() : otherwise;
}

bool flag(const Argument& argument) {
  const bool* value = argument.get<bool>();
  return value && *value;
}

bool same_sizes(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}

// PyTorch returns the argument itself when it has the dtype already (the program runs on one
// device) and lies in memory as asked.
ViewKind conversion_kind(const Call& call, const Value& self, const Value& output) {
  if (self.dtype != output.dtype) return ViewKind::kFresh;
  if (call.schema->find("copy") && flag(call.argument("copy"))) return ViewKind::kFresh;
  return same_sizes(self.strides, output.strides) ? ViewKind::kSame : ViewKind::kFresh;
}

ViewKind contiguous_kind(const Call& call, const Value& self, const Value& output) {
  const auto* format = call.argument("memory_format").get<program::Enumerator>();
  if (format && format->name != "contiguous_format") {
    return same_sizes(self.strides, output.strides) ? ViewKind::kSame : ViewKind::kFresh;
  }
  return is_contiguous(self) ? ViewKind::kSame : ViewKind::kFresh;
}

ViewKind dropout_kind(const Call& call) {
  const double* probability = call.argument("p").get<double>();
  const bool idle = !flag(call.argument("train")) || (probability && *probability == 0.0);
  return idle ? ViewKind::kSame : ViewKind::kFresh;
}

// A copy is contiguous; a view that is contiguous has a contiguous tensor below it.
ViewKind reshape_kind(const Value& self, const Value& output) {
  if (!is_contiguous(self) && is_contiguous(output)) return ViewKind::kFresh;
  return same_sizes(self.shape, output.shape) ? ViewKind::kSame : ViewKind::kReshape;
}

ViewKind permute_kind(const Call& call, const Value& self) {
  const std::string_view name = call.schema->base_name();
  const bool conjugates = name == "mH" || name == "adjoint" || name == "matrix_H";
  if (conjugates && base::is_complex(self.dtype)) return ViewKind::kUnknown;
  const std::vector<std::int64_t> order = permutation_of(call, self.rank());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int64_t>(i)) return ViewKind::kPermute;
  }
  return ViewKind::kSame;
}

ViewKind section_kind(const Call& call, const Value& self, const Value& output, std::size_t index) {
  const auto section = section_of(call, index);
  if (!section) return ViewKind::kUnknown;
  const bool whole = integer(section->step, 0) == 1 && same_sizes(self.shape, output.shape);
  return whole ? ViewKind::kSame : ViewKind::kSection;
}

}  // namespace

ViewFamily view_family(const Schema& schema) {
  const ViewFamily family = program::facts_of(schema).view;
  if (family != ViewFamily::kNone) return family;
  if (schema.returns.empty() || schema.returns.front().alias.set.empty()) return ViewFamily::kNone;
  return schema.mutates() ? ViewFamily::kNone : ViewFamily::kUnknown;
}

Value* viewed(const Call& call, ViewFamily family, std::size_t index) {
  if (call.arguments.empty()) return nullptr;
  const Argument* argument = &call.arguments.front();
  const bool list = family == ViewFamily::kBroadcastList || family == ViewFamily::kGrid ||
                    family == ViewFamily::kAtLeastList;
  if (list) {
    const List* items = argument->get<List>();
    if (!items || index >= items->size()) return nullptr;
    argument = &(*items)[index];
  }
  return program::tensor_of(*argument);
}

ViewKind view_kind(const Call& call, ViewFamily family, std::size_t index) {
  const Value* self = viewed(call, family, index);
  const Value* output = call.outputs[index];
  if (!self || !output) return ViewKind::kFresh;
  const bool complex = base::is_complex(self->dtype);
  const bool same_shape = same_sizes(self->shape, output->shape);
  switch (family) {
    case ViewFamily::kNone:
      return ViewKind::kFresh;
    case ViewFamily::kAlias:
      return ViewKind::kSame;
    case ViewFamily::kContiguous:
      return contiguous_kind(call, *self, *output);
    case ViewFamily::kConversion:
      return conversion_kind(call, *self, *output);
    case ViewFamily::kDropout:
      return dropout_kind(call);
    case ViewFamily::kResolve:
      return complex ? ViewKind::kFresh : ViewKind::kSame;
    case ViewFamily::kReal:
      return complex ? ViewKind::kReal : ViewKind::kSame;
    case ViewFamily::kImaginary:
      return ViewKind::kImaginary;
    case ViewFamily::kConjugate:
      return complex ? ViewKind::kConjugate : ViewKind::kSame;
    case ViewFamily::kNegative:
      return ViewKind::kNegative;
    case ViewFamily::kView:
    case ViewFamily::kAtLeastList:
      return same_shape ? ViewKind::kSame : ViewKind::kReshape;
    case ViewFamily::kReshapeOrCopy:
      return reshape_kind(*self, *output);
    case ViewFamily::kPermute:
      return permute_kind(call, *self);
    case ViewFamily::kSection:
      return section_kind(call, *self, *output, index);
    case ViewFamily::kSelect:
    case ViewFamily::kUnbind:
      return ViewKind::kSelect;
    case ViewFamily::kExpand:
    case ViewFamily::kBroadcastList:
      return same_shape ? ViewKind::kSame : ViewKind::kExpand;
    case ViewFamily::kDiagonal:
      return ViewKind::kDiagonal;
    case ViewFamily::kStrided:
      return ViewKind::kStrided;
    case ViewFamily::kWindows:
      return ViewKind::kWindows;
    case ViewFamily::kPairs:
      return ViewKind::kPairs;
    case ViewFamily::kComplex:
      return ViewKind::kComplex;
    case ViewFamily::kBits:
      return self->dtype == output->dtype ? ViewKind::kSame : ViewKind::kBits;
    case ViewFamily::kGrid:
    case ViewFamily::kUnknown:
      return ViewKind::kUnknown;
  }
  return ViewKind::kUnknown;
}

std::int64_t dimension(const Argument& argument, std::size_t rank) {
  const std::int64_t dim = integer(argument, 0);
  const std::int64_t count = std::max<std::int64_t>(static_cast<std::int64_t>(rank), 1);
  if (dim < -count || dim >= count)
    base::fail("SX1302", fmt::format("there is no dimension {} of {}", dim, rank));
  return dim < 0 ? dim + count : dim;
}

bool is_contiguous(const Value& value) { return value.strides.empty(); }

}  // namespace sardonyx::functionalize
