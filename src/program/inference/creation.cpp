// Results of what makes tensors.
#include <algorithm>
#include <cmath>

#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

// PyTorch's default type of floating-point numbers.
constexpr DType kFloat = DType::kFloat32;

DType dtype_of_number(const Argument& number) {
  Promotion promotion;
  promotion.add(number);
  return promotion.dtype();
}

const Argument& argument(const Bound& call, std::string_view name) {
  const auto position = call.schema().find(name);
  if (!position) call.refuse("it has no argument '" + std::string(name) + "'");
  return call.arguments()[*position];
}

TensorTypes sized(const Bound& call) {
  return {{call.dtype().value_or(kFloat), call.sizes("size"), {}}};
}

TensorTypes full(const Bound& call) {
  return {{call.dtype().value_or(dtype_of_number(argument(call, "fill_value"))),
           call.sizes("size"),
           {}}};
}

TensorTypes random_integers(const Bound& call) {
  return {{call.dtype().value_or(DType::kInt64), call.sizes("size"), {}}};
}

TensorTypes new_sized(const Bound& call) {
  return {{call.dtype().value_or(call.self().dtype), call.sizes("size"), {}}};
}

TensorTypes strided(const Bound& call) {
  const Value* self = call.schema().find("self") ? &call.self() : nullptr;
  return {{call.dtype().value_or(self ? self->dtype : kFloat), call.sizes("size"),
           call.sizes("stride")}};
}

TensorTypes same_size(const Bound& call) {
  return {{call.dtype().value_or(call.self().dtype), call.self().shape, {}}};
}

TensorTypes scalar_tensor(const Bound& call) { return {{call.dtype().value_or(kFloat), {}, {}}}; }

std::optional<double> known(const Argument& number) {
  if (const double* real = number.get<double>()) return *real;
  const Expr* expr = number.get<Expr>();
  if (expr && expr->is_constant()) return static_cast<double>(expr->value());
  return std::nullopt;
}

// What arange() to int64 makes of a number before it counts.
Expr cut(const Argument& number) {
  if (const Expr* expr = number.get<Expr>(); expr && !expr->is_float()) return *expr;
  const std::optional<double> real = known(number);
  return real && std::fabs(*real) < 9e18 ? Expr(static_cast<std::int64_t>(*real)) : Expr();
}

Expr count_of_steps(Expr start, Expr end, Expr step) {
  return step.is(1) ? symbolic::max(end - start, 0)
                    : symbolic::max(symbolic::ceil_div(end - start, step), 0);
}

// A bool counts as an integer.
Argument counted(const Argument& number) {
  const bool* flag = number.get<bool>();
  return flag == nullptr ? number : Argument(Expr(*flag ? 1 : 0));
}

TensorTypes arange(const Bound& call) {
  const Argument one = Expr(1), zero = Expr(0);
  const Argument start = call.has("start") ? counted(argument(call, "start")) : zero;
  const Argument end = counted(argument(call, "end"));
  const Argument step = call.has("step") ? counted(argument(call, "step")) : one;
  const bool integers = start.get<Expr>() && end.get<Expr>() && step.get<Expr>() &&
                        !start.get<Expr>()->is_float() && !end.get<Expr>()->is_float();
  const DType dtype = call.dtype().value_or(integers ? DType::kInt64 : kFloat);
  Expr length;
  if (integers) {
    length = count_of_steps(*start.get<Expr>(), *end.get<Expr>(), *step.get<Expr>());
  } else if (dtype == DType::kInt64) {
    const Expr first = cut(start), last = cut(end), by = cut(step);
    if (first.known() && last.known() && by.known() && !by.is(0))
      length = count_of_steps(first, last, by);
  } else if (known(start) && known(end) && known(step)) {
    length = static_cast<std::int64_t>(std::ceil((*known(end) - *known(start)) / *known(step)));
  }
  return {{dtype, {length.known() ? length : call.fresh()}, {}}};
}

TensorTypes spaced(const Bound& call) {
  return {{call.dtype().value_or(kFloat), {call.size("steps")}, {}}};
}

TensorTypes eye(const Bound& call) {
  const Expr rows = call.size("n");
  return {{call.dtype().value_or(kFloat), {rows, call.has("m") ? call.size("m") : rows}, {}}};
}

TensorTypes window(const Bound& call) {
  return {{call.dtype().value_or(kFloat), {call.size("window_length")}, {}}};
}

// With its end, unlike arange().
TensorTypes range(const Bound& call) {
  const Argument one = Expr(1);
  const auto start = known(argument(call, "start")), end = known(argument(call, "end"));
  const auto step = known(call.has("step") ? argument(call, "step") : one);
  const bool all = start && end && step;
  const Expr length =
      all ? Expr(static_cast<std::int64_t>(std::floor((*end - *start) / *step)) + 1) : call.fresh();
  return {{call.dtype().value_or(kFloat), {length}, {}}};
}

TensorTypes permutation(const Bound& call) {
  return {{call.dtype().value_or(DType::kInt64), {call.size("n")}, {}}};
}

// The places on one side of a diagonal, as two rows.
TensorTypes triangle(const Bound& call) {
  const DType dtype = call.dtype().value_or(DType::kInt64);
  const Expr rows = call.size("row"), columns = call.size("col"), offset = call.size("offset");
  if (!rows.is_constant() || !columns.is_constant() || !offset.is_constant())
    return {{dtype, {2, call.fresh()}, {}}};
  std::int64_t below = 0;
  for (std::int64_t i = 0; i < rows.value(); ++i)
    below += std::clamp<std::int64_t>(i + offset.value() + (call.name() == "tril_indices" ? 1 : 0),
                                      0, columns.value());
  const bool lower = call.name() == "tril_indices";
  return {{dtype, {2, lower ? below : rows.value() * columns.value() - below}, {}}};
}

constexpr ResultRow kRows[] = {
    {"zeros ones empty rand randn empty_permuted", sized},
    {"empty_strided new_empty_strided", strided},
    {"full", full},
    {"randint", random_integers},
    {"new_zeros new_ones new_empty new_full", new_sized},
    {"zeros_like ones_like empty_like full_like rand_like randn_like randint_like bernoulli",
     same_size},
    {"scalar_tensor", scalar_tensor},
    {"arange", arange},
    {"linspace logspace", spaced},
    {"eye", eye},
    {"range", range},
    {"randperm", permutation},
    {"tril_indices triu_indices", triangle},
    {"hann_window hamming_window blackman_window bartlett_window kaiser_window", window},
};

}  // namespace

std::span<const ResultRow> creation_results() { return kRows; }

}  // namespace sardonyx::program
