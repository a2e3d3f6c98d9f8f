// Arithmetic, comparisons and logic on numbers.
#include <cmath>
#include <string>

#include "base/diagnostic.h"
#include "frontends/torchscript/builtins.h"

namespace sardonyx::torchscript {

using Kind = Datum::Kind;
using symbolic::Expr;
using SymbolicKind = symbolic::Kind;

Datum of_condition(Expr condition) {
  if (!condition.known())
    base::fail("SX1211", "a condition on numbers for which there is no formula");
  Datum datum;
  datum.kind = Kind::kBool;
  datum.expr = condition;
  return datum;
}

namespace {

bool is_known_real(const Datum& datum) {
  return (datum.kind == Kind::kFloat && !datum.expr.known()) ||
         (datum.kind != Kind::kFloat && datum.expr.is_constant());
}

double real_of(const Datum& datum) {
  return datum.kind == Kind::kFloat ? datum.real : static_cast<double>(datum.expr.value());
}

// As an expression; of a truth of data there is none.
Expr expression_of(Follower& follower, const Datum& datum) {
  if (datum.kind == Kind::kFloat && !datum.expr.known()) return follower.pool().real(datum.real);
  return datum.expr;
}

struct Pair {
  const Datum* left = nullptr;
  const Datum* right = nullptr;

  explicit operator bool() const { return left && right; }
  bool is_real() const { return left->kind == Kind::kFloat || right->kind == Kind::kFloat; }
  bool is_known() const { return is_known_real(*left) && is_known_real(*right); }
};

Pair numbers(const Operands& operands) {
  const Datum* left = operands.find(0, "a");
  const Datum* right = operands.find(1, "b");
  if (!left || !right || !left->is_number() || !right->is_number()) return {};
  if (left->value || right->value) return {};
  return {left, right};
}

Datum of_float(Follower& follower, Expr expr) {
  if (!expr.known()) follower.refuse("arithmetic on numbers for which there is no formula");
  Datum datum;
  datum.kind = Kind::kFloat;
  if (expr.known() && expr.kind() == SymbolicKind::kReal) return Datum::of_real(expr.real());
  datum.expr = expr;
  return datum;
}

Expr as_float(Follower& follower, Expr expr) {
  if (expr.is_constant()) return follower.pool().real(static_cast<double>(expr.value()));
  return expr.is_float() || expr.kind() == SymbolicKind::kReal
             ? expr
             : symbolic::apply(SymbolicKind::kToFloat, {expr});
}

Expr integer(const Datum& datum) { return datum.expr; }

// As 0-d tensors, where there is no formula: float64 and int64 ones, as Python computes.
Datum by_tensors(Follower& follower, const Operands& operands, const std::string& op = {}) {
  std::vector<Datum> tensors;
  for (const Datum& number : operands.positional)
    tensors.push_back(Datum::of_tensor(follower.tensor(number)));
  return follower.item(follower.call(op.empty() ? operands.op : op, std::move(tensors)));
}

Datum checked(Follower& follower, const Operands& operands, Datum made) {
  if (made.kind == Kind::kInt && !made.expr.known())
    follower.refuse(operands.op + " of " + description(operands.positional[0]) +
                    ": there is no formula for it");
  return made;
}

template <class OnIntegers, class OnReals>
std::optional<Datum> arithmetic(Follower& follower, const Operands& operands,
                                const OnIntegers& on_integers, const OnReals& on_reals,
                                std::optional<SymbolicKind> kind,
                                const std::string& tensor_op = {}) {
  const Pair pair = numbers(operands);
  if (!pair) return std::nullopt;
  if (!pair.is_real()) {
    return checked(follower, operands,
                   Datum::of_int(on_integers(integer(*pair.left), integer(*pair.right))));
  }
  if (pair.is_known()) return Datum::of_real(on_reals(real_of(*pair.left), real_of(*pair.right)));
  if (!kind) return by_tensors(follower, operands, tensor_op);
  return of_float(
      follower, symbolic::apply(*kind, {as_float(follower, expression_of(follower, *pair.left)),
                                        as_float(follower, expression_of(follower, *pair.right))}));
}

double floor_modulo(double a, double b) { return a - b * std::floor(a / b); }

std::optional<Datum> add(Follower& follower, const Operands& operands) {
  const Datum* left = operands.find(0, "a");
  const Datum* right = operands.find(1, "b");
  if (left && right && left->kind == Kind::kString && right->kind == Kind::kString)
    return left->is_message || right->is_message ? Datum::of_message(left->text + right->text)
                                                 : Datum::of_text(left->text + right->text);
  return arithmetic(
      follower, operands, [](Expr a, Expr b) { return a + b; },
      [](double a, double b) { return a + b; }, SymbolicKind::kAdd);
}

std::optional<Datum> subtract(Follower& follower, const Operands& operands) {
  const Pair pair = numbers(operands);
  if (pair && pair.is_real() && !pair.is_known()) {
    const Expr right = as_float(follower, expression_of(follower, *pair.right));
    const Expr minus = symbolic::apply(SymbolicKind::kMul, {follower.pool().real(-1.0), right});
    return of_float(
        follower,
        symbolic::apply(SymbolicKind::kAdd,
                        {as_float(follower, expression_of(follower, *pair.left)), minus}));
  }
  return arithmetic(
      follower, operands, [](Expr a, Expr b) { return a - b; },
      [](double a, double b) { return a - b; }, std::nullopt);
}

std::optional<Datum> multiply(Follower& follower, const Operands& operands) {
  return arithmetic(
      follower, operands, [](Expr a, Expr b) { return a * b; },
      [](double a, double b) { return a * b; }, SymbolicKind::kMul);
}

std::optional<Datum> floor_divide(Follower& follower, const Operands& operands) {
  return arithmetic(
      follower, operands, [](Expr a, Expr b) { return symbolic::floor_div(a, b); },
      [](double a, double b) { return std::floor(a / b); }, std::nullopt, "aten::floor_divide");
}

std::optional<Datum> remainder(Follower& follower, const Operands& operands) {
  return arithmetic(
      follower, operands, [](Expr a, Expr b) { return symbolic::mod(a, b); }, floor_modulo,
      std::nullopt);
}

std::optional<Datum> divide(Follower& follower, const Operands& operands) {
  const Pair pair = numbers(operands);
  if (!pair) return std::nullopt;
  if (pair.is_known()) return Datum::of_real(real_of(*pair.left) / real_of(*pair.right));
  return of_float(follower,
                  symbolic::apply(SymbolicKind::kTrueDiv, {expression_of(follower, *pair.left),
                                                           expression_of(follower, *pair.right)}));
}

std::optional<Datum> power(Follower& follower, const Operands& operands) {
  const Pair pair = numbers(operands);
  if (!pair) return std::nullopt;
  if (!pair.is_real()) {
    const bool is_known = pair.right->expr.is_constant() && pair.right->expr.value() >= 0;
    if (is_known && operands.op != "aten::pow")
      return Datum::of_int(symbolic::pow(pair.left->expr, pair.right->expr));
    if (is_known) return Datum::of_int(symbolic::pow(pair.left->expr, pair.right->expr));
  }
  if (!pair.is_known()) return by_tensors(follower, operands);
  return Datum::of_real(std::pow(real_of(*pair.left), real_of(*pair.right)));
}

template <SymbolicKind kind, bool swapped, class Compare>
std::optional<Datum> compare(Follower& follower, const Operands& operands) {
  const Pair pair = numbers(operands);
  if (!pair) return std::nullopt;
  if (pair.is_known()) {
    if (pair.is_real()) return Datum::of_bool(Compare()(real_of(*pair.left), real_of(*pair.right)));
    return Datum::of_bool(Compare()(pair.left->expr.value(), pair.right->expr.value()));
  }
  Expr left = expression_of(follower, *pair.left), right = expression_of(follower, *pair.right);
  if (pair.is_real()) {
    left = as_float(follower, left);
    right = as_float(follower, right);
  }
  const Expr condition =
      swapped ? symbolic::apply(kind, {right, left}) : symbolic::apply(kind, {left, right});
  return of_condition(condition);
}

template <bool maximum>
std::optional<Datum> extreme(Follower& follower, const Operands& operands) {
  if (operands.positional.size() == 1) {
    const Datum& list = operands.positional[0];
    if (list.kind != Kind::kList || list.held->items.empty()) return std::nullopt;
    Datum best = list.held->items[0];
    if (!best.is_number()) return std::nullopt;
    for (std::size_t i = 1; i < list.held->items.size(); ++i)
      best = *extreme<maximum>(follower, {operands.op, {best, list.held->items[i]}, {}});
    return best;
  }
  return arithmetic(
      follower, operands,
      [](Expr a, Expr b) { return maximum ? symbolic::max(a, b) : symbolic::min(a, b); },
      [](double a, double b) { return maximum ? std::fmax(a, b) : std::fmin(a, b); }, std::nullopt,
      maximum ? "aten::maximum" : "aten::minimum");
}

std::optional<Datum> negate(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (value.kind == Kind::kInt) return Datum::of_int(-value.expr);
  if (value.kind != Kind::kFloat) return std::nullopt;
  return multiply(follower, {operands.op, {value, Datum::of_real(-1)}, {}});
}

std::optional<Datum> absolute(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (value.kind == Kind::kInt) return Datum::of_int(symbolic::max(value.expr, -value.expr));
  if (value.kind == Kind::kFloat && is_known_real(value))
    return Datum::of_real(std::fabs(value.real));
  if (value.kind == Kind::kFloat) return by_tensors(follower, operands, "aten::abs");
  return std::nullopt;
}

// To an integer: floor, ceil, trunc, round.
template <SymbolicKind kind>
std::optional<Datum> to_integer(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (value.is_tensor()) return std::nullopt;
  if (value.kind == Kind::kInt) return value;
  if (value.kind == Kind::kBool && value.value)
    return follower.item(
        follower.call("aten::to", {Datum::of_tensor(value.value), Datum::of_int(4)}));
  if (value.kind == Kind::kBool && value.expr.is_constant()) return Datum::of_int(value.expr);
  if (value.kind == Kind::kBool)
    return Datum::of_int(symbolic::apply(SymbolicKind::kIf, {value.expr, 1, 0}));
  if (value.kind != Kind::kFloat) return std::nullopt;
  if (!value.expr.known()) {
    const double real = kind == SymbolicKind::kFloorToInt  ? std::floor(value.real)
                        : kind == SymbolicKind::kCeilToInt ? std::ceil(value.real)
                                                           : std::trunc(value.real);
    return Datum::of_int(static_cast<std::int64_t>(real));
  }
  return checked(follower, operands, Datum::of_int(symbolic::apply(kind, {value.expr})));
}

std::optional<Datum> make_int(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (!value.is_tensor()) return to_integer<SymbolicKind::kTruncToInt>(follower, operands);
  if (!value.value) return Datum::of_int(value.expr);
  if (value.value->dtype == base::DType::kInt64) return follower.item(value);
  return follower.item(follower.call("aten::to", {value, Datum::of_int(4)}));
}

std::optional<Datum> make_float(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (value.is_tensor() && value.value) {
    if (base::is_floating(value.value->dtype)) return follower.item(value);
    return follower.item(follower.call("aten::to", {value, Datum::of_int(7)}));
  }
  if (value.kind == Kind::kFloat) return value;
  if (value.kind == Kind::kString && !value.is_message)
    return Datum::of_real(std::strtod(value.text.c_str(), nullptr));
  if (value.value)
    return follower.item(
        follower.call("aten::to", {Datum::of_tensor(value.value), Datum::of_int(7)}));
  if (value.expr.is_constant()) return Datum::of_real(static_cast<double>(value.expr.value()));
  return of_float(follower, symbolic::apply(SymbolicKind::kToFloat, {value.expr}));
}

std::optional<Datum> make_bool(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (value.kind == Kind::kBool) return value;
  if (value.is_tensor()) {
    if (!value.value) return of_condition(symbolic::apply(SymbolicKind::kNe, {value.expr, 0}));
    if (value.value->dtype == base::DType::kBool) return follower.item(value);
    return follower.item(follower.call("aten::to", {value, Datum::of_int(11)}));
  }
  if (!value.is_number()) return std::nullopt;
  return compare<SymbolicKind::kNe, false, std::not_equal_to<>>(
      follower, {operands.op, {value, Datum::of_int(0)}, {}});
}

// How often `for i in range(low, high, step)` runs.
std::optional<Datum> range_length(Follower& follower, const Operands& operands) {
  const Expr low = operands.positional.at(0).expr, high = operands.positional.at(1).expr;
  const Expr step = operands.positional.at(2).expr;
  if (step.is(0)) follower.refuse("a range with a step of 0");
  const Expr sign = symbolic::min(symbolic::max(step, -1), 1);
  return checked(
      follower, operands,
      Datum::of_int(symbolic::max(symbolic::floor_div(high - low + step - sign, step), 0)));
}

// The number of its run `i`.
std::optional<Datum> derive_index(Follower&, const Operands& operands) {
  return Datum::of_int(operands.positional.at(1).expr +
                       operands.positional.at(0).expr * operands.positional.at(2).expr);
}

std::optional<Datum> quotient_and_rest(Follower& follower, const Operands& operands) {
  const auto quotient = floor_divide(follower, operands), rest = remainder(follower, operands);
  if (!quotient || !rest) return std::nullopt;
  return Datum::of_items(Kind::kTuple, {*quotient, *rest});
}

// To the nearest, a half to the even one; a float, or the integer itself.
std::optional<Datum> rounded(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (!value.is_number() || operands.positional.size() > 1) return std::nullopt;
  if (value.kind != Kind::kFloat) return value;
  if (is_known_real(value)) return Datum::of_real(std::nearbyint(value.real));
  return by_tensors(follower, operands);
}

// Of integers that are known.
template <class Function>
std::optional<Datum> bitwise(Follower& follower, const Operands& operands,
                             const Function& function) {
  const Pair pair = numbers(operands);
  if (!pair || pair.left->kind != Kind::kInt || pair.right->kind != Kind::kInt) return std::nullopt;
  if (!pair.is_known()) return by_tensors(follower, operands);
  return Datum::of_int(function(pair.left->expr.value(), pair.right->expr.value()));
}

std::optional<Datum> bits_and(Follower& follower, const Operands& operands) {
  return bitwise(follower, operands, [](std::int64_t a, std::int64_t b) { return a & b; });
}
std::optional<Datum> bits_or(Follower& follower, const Operands& operands) {
  return bitwise(follower, operands, [](std::int64_t a, std::int64_t b) { return a | b; });
}
std::optional<Datum> bits_xor(Follower& follower, const Operands& operands) {
  return bitwise(follower, operands, [](std::int64_t a, std::int64_t b) { return a ^ b; });
}
std::optional<Datum> shift_left(Follower& follower, const Operands& operands) {
  const Datum* by = operands.find(1, "b");
  if (by && by->kind == Kind::kInt && by->expr.is_constant() &&
      (by->expr.value() < 0 || by->expr.value() > 62))
    return std::nullopt;
  return bitwise(follower, operands, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
  });
}

// --- logic

template <bool conjunction>
std::optional<Datum> logical(Follower& follower, const Operands& operands) {
  if (operands.positional.size() != 2) return std::nullopt;
  const Datum &left = operands.positional[0], &right = operands.positional[1];
  if (left.kind != Kind::kBool || right.kind != Kind::kBool)
    return conjunction ? bits_and(follower, operands) : bits_or(follower, operands);
  for (const auto* pair : {&left, &right}) {
    const Datum& other = pair == &left ? right : left;
    if (pair->value || !pair->expr.is_constant()) continue;
    return (pair->expr.value() != 0) == conjunction ? other : *pair;
  }
  if (!left.value && !right.value) {
    return of_condition(symbolic::apply(conjunction ? SymbolicKind::kAnd : SymbolicKind::kOr,
                                        {left.expr, right.expr}));
  }
  return follower.item(follower.call(conjunction ? "aten::logical_and" : "aten::logical_or",
                                     {Datum::of_tensor(follower.truth_tensor(left)),
                                      Datum::of_tensor(follower.truth_tensor(right))}));
}

std::optional<Datum> invert(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (value.kind != Kind::kBool) return std::nullopt;
  return negation(follower, value);
}

// Equality of what is no tensor: numbers, texts, lists.
template <bool wanted>
std::optional<Datum> equal(Follower& follower, const Operands& operands) {
  if (operands.positional.size() != 2) return std::nullopt;
  std::optional<Datum> same = equality(follower, operands.positional[0], operands.positional[1]);
  if (!same) return std::nullopt;
  return wanted ? *same : negation(follower, *same);
}

// `x is None`
template <bool wanted>
std::optional<Datum> identical(Follower& follower, const Operands& operands) {
  const Datum &left = operands.positional.at(0), &right = operands.positional.at(1);
  if (left.is_none() || right.is_none())
    return Datum::of_bool((left.is_none() && right.is_none()) == wanted);
  if (left.is_tensor() && right.is_tensor())
    return Datum::of_bool((left.value && left.value == right.value) == wanted);
  return equal<wanted>(follower, operands);
}

template <double (*function)(double)>
std::optional<Datum> real_function(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (!value.is_number() || value.value) return std::nullopt;
  if (!is_known_real(value)) return by_tensors(follower, operands);
  return Datum::of_real(function(real_of(value)));
}

std::optional<Datum> square_root(Follower& follower, const Operands& operands) {
  const Datum& value = operands.positional.at(0);
  if (!value.is_number() || value.value) return std::nullopt;
  if (is_known_real(value)) return Datum::of_real(std::sqrt(real_of(value)));
  return of_float(follower, symbolic::apply(SymbolicKind::kSqrt, {expression_of(follower, value)}));
}

}  // namespace

Datum negation(Follower& follower, const Datum& truth) {
  if (truth.value)
    return follower.item(follower.call("aten::logical_not", {Datum::of_tensor(truth.value)}));
  if (truth.expr.is_constant()) return Datum::of_bool(truth.expr.value() == 0);
  return of_condition(symbolic::apply(SymbolicKind::kNot, {truth.expr}));
}

// Members of an enumeration: of one class, with one name.
static bool same_enumerator(const Datum& left, const Datum& right) {
  const Datum *one = left.held->attribute("name"), *other = right.held->attribute("name");
  return left.held->type == right.held->type && one && other && one->kind == Kind::kString &&
         one->text == other->text;
}

// Of numbers of which one is a truth of data.
static Datum equality_of_data(Follower& follower, const Datum& left, const Datum& right) {
  return follower.item(follower.call("aten::eq", {Datum::of_tensor(follower.tensor(left)),
                                                  Datum::of_tensor(follower.tensor(right))}));
}

std::optional<Datum> equality(Follower& follower, const Datum& left, const Datum& right) {
  if (left.is_number() && right.is_number() && (left.value || right.value))
    return equality_of_data(follower, left, right);
  if (left.is_number() && right.is_number())
    return compare<SymbolicKind::kEq, false, std::equal_to<>>(follower, {"", {left, right}, {}});
  const auto is_text = [](const Datum& datum) {
    return datum.kind == Kind::kString || datum.kind == Kind::kDevice;
  };
  if ((is_text(left) && left.is_message) || (is_text(right) && right.is_message))
    follower.refuse("a text that only a run tells is compared");
  if (is_text(left) && is_text(right)) return Datum::of_bool(left.text == right.text);
  const bool are_lists = left.kind == right.kind && left.held && left.kind != Kind::kStack;
  if (!are_lists) return std::nullopt;
  if (left.kind == Kind::kObject)
    return Datum::of_bool(left.held == right.held || same_enumerator(left, right));
  if (left.held->items.size() != right.held->items.size()) return Datum::of_bool(false);
  Datum all = Datum::of_bool(true);
  for (std::size_t i = 0; i < left.held->items.size(); ++i) {
    const auto each = equality(follower, left.held->items[i], right.held->items[i]);
    if (!each) return std::nullopt;
    all = *logical<true>(follower, {"", {all, *each}, {}});
  }
  return all;
}

void add_number_builtins(BuiltinTable& table) {
  using S = SymbolicKind;
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::sub", subtract},
      {"aten::div", divide},
      {"aten::floordiv", floor_divide},
      {"aten::remainder", remainder},
      {"aten::pow", power},
      {"aten::lt", compare<S::kLt, false, std::less<>>},
      {"aten::gt", compare<S::kLt, true, std::greater<>>},
      {"aten::le", compare<S::kLe, false, std::less_equal<>>},
      {"aten::ge", compare<S::kLe, true, std::greater_equal<>>},
      {"aten::eq", equal<true>},
      {"aten::ne", equal<false>},
      {"aten::__is__", identical<true>},
      {"aten::__isnot__", identical<false>},
      {"aten::__and__", logical<true>},
      {"aten::__or__", logical<false>},
      {"aten::__not__", invert},
      {"aten::neg", negate},
      {"aten::abs", absolute},
      {"prim::abs", absolute},
      {"prim::min", extreme<false>},
      {"prim::max", extreme<true>},
      {"aten::min", extreme<false>},
      {"aten::max", extreme<true>},
      {"aten::Int", make_int},
      {"aten::IntImplicit", make_int},
      {"aten::Float", make_float},
      {"aten::FloatImplicit", make_float},
      {"aten::Bool", make_bool},
      {"aten::is_nonzero", make_bool},
      {"aten::__range_length", range_length},
      {"aten::__derive_index", derive_index},
      {"aten::divmod", quotient_and_rest},
      {"aten::round", rounded},
      {"aten::__xor__", bits_xor},
      {"aten::__lshift__", shift_left},
      {"aten::sinh", real_function<std::sinh>},
      {"aten::cosh", real_function<std::cosh>},
      {"aten::tan", real_function<std::tan>},
      {"aten::log2", real_function<std::log2>},
      {"aten::log10", real_function<std::log10>},
      {"aten::atan", real_function<std::atan>},
      {"aten::floor", to_integer<S::kFloorToInt>},
      {"aten::ceil", to_integer<S::kCeilToInt>},
      {"aten::sqrt", square_root},
      {"aten::exp", real_function<std::exp>},
      {"aten::log", real_function<std::log>},
      {"aten::sin", real_function<std::sin>},
      {"aten::cos", real_function<std::cos>},
      {"aten::tanh", real_function<std::tanh>},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
  // Lists add and multiply, too.
  table.emplace("number::add", add);
  table.emplace("number::mul", multiply);
}

}  // namespace sardonyx::torchscript
