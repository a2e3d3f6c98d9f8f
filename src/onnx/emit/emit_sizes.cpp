// Symbolic sizes as values: constants, dims read once, and arithmetic on those.
#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "onnx/emit/elementary.h"
#include "onnx/emit/emit.h"
#include "onnx/emit/emit_state.h"
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {

using symbolic::Kind;

// All values are of one element and one axis, [1], so that they concatenate into shapes.
struct Emit::Sizes {
  Emit& onnx;
  State& state;

  explicit Sizes(Emit& emit) : onnx(emit), state(*emit.state_) {}

  // --- integers
  Value integer(Expr e);
  Value computed(Expr e);
  Value sum(std::span<const Expr> terms);
  Value quotient(Expr a, Expr b);
  Value solved(Expr symbol);
  Value read(const SizeSource& source);
  Value dims(Value x, std::int64_t start, std::int64_t end);

  // --- floats, in double as Python has them, and conditions
  Value real(Expr e);
  Value real_function(Expr e);
  Value logical(Expr e);
  Value compared(Expr e);
  Value any(Expr e) { return e.is_boolean() ? logical(e) : e.is_float() ? real(e) : integer(e); }

  bool known(Expr e);
  bool solvable(Expr symbol);
  // How many entries from `at` on stand side by side on a value; and where.
  std::size_t run(std::span<const Expr> entries, std::size_t at, SizeSource& best);

  [[noreturn]] static void no_source(Expr e) {
    base::fail("SX1402", fmt::format("nothing in the graph has the size `{}`", e.str()),
               "make it an input, or a dim of an input");
  }
};

Value Emit::Sizes::dims(Value x, std::int64_t start, std::int64_t end) {
  const std::int64_t rank = x.rank();
  return onnx.shape(x, {.end = end == rank ? std::optional<std::int64_t>() : end, .start = start});
}

Value Emit::Sizes::read(const SizeSource& source) {
  if (source.axis >= 0) return dims(source.value, source.axis, source.axis + 1);
  Value number = source.value;
  if (!number.has_rank() || number.rank() != 1)
    number = onnx.Operators::reshape(number, onnx.ints({1}));
  if (base::is_floating(number.dtype())) return onnx.cast(number, DType::kFloat64);
  if (source.expression.is_boolean()) return onnx.cast(number, DType::kBool);
  return onnx.cast(number, DType::kInt64);
}

Value Emit::Sizes::integer(Expr e) {
  if (!e.known()) base::fail("SX1402", "a size is not known");
  if (e.is_constant()) return onnx.ints({e.value()});
  if (const Value made = state.find_size(e)) return made;
  const SizeSource* source = state.find_source(e);
  const Value value = source != nullptr ? read(*source) : computed(e);
  if (!value.is_constant()) value->contents = {e};
  state.scope().sizes.emplace(e, value);
  return value;
}

Value Emit::Sizes::computed(Expr e) {
  const auto operands = e.operands();
  switch (e.kind()) {
    case Kind::kSymbol:
      return solved(e);
    case Kind::kAdd:
      return sum(operands);
    case Kind::kMul: {
      Value product = integer(operands[0]);
      for (const Expr factor : operands.subspan(1)) product = onnx.mul(product, integer(factor));
      return product;
    }
    case Kind::kPow: {
      // Constant exponents are small and positive.
      if (!operands[1].is_constant()) return onnx.pow(integer(operands[0]), integer(operands[1]));
      Value power = integer(operands[0]);
      for (std::int64_t i = 1; i < operands[1].value(); ++i)
        power = onnx.mul(power, integer(operands[0]));
      return power;
    }
    case Kind::kFloorDiv:
      return quotient(operands[0], operands[1]);
    case Kind::kMod:
      return onnx.mod(integer(operands[0]), integer(operands[1]));
    case Kind::kMin:
    case Kind::kMax: {
      Values all;
      for (const Expr operand : operands) all.push_back(integer(operand));
      return e.kind() == Kind::kMin ? onnx.min(all) : onnx.max(all);
    }
    case Kind::kIf:
      return onnx.where(logical(operands[0]), integer(operands[1]), integer(operands[2]));
    case Kind::kTruncToInt:
      return onnx.cast(real(operands[0]), DType::kInt64);
    case Kind::kFloorToInt:
      return onnx.cast(onnx.floor(real(operands[0])), DType::kInt64);
    case Kind::kCeilToInt:
      return onnx.cast(onnx.ceil(real(operands[0])), DType::kInt64);
    case Kind::kRoundToInt:
      return onnx.cast(onnx.round(real(operands[0])), DType::kInt64);  // halves to even, as Python
    default:
      no_source(e);
  }
}

// Terms with a negative coefficient are subtracted; they start with their coefficient.
Value Emit::Sizes::sum(std::span<const Expr> terms) {
  const auto negative = [](Expr term) {
    if (term.is_constant()) return term.value() < 0;
    return term.kind() == Kind::kMul && term.operands()[0].is_constant() &&
           term.operands()[0].value() < 0;
  };
  Value total;
  for (const Expr term : terms) {
    if (negative(term)) continue;
    const Value value = integer(term);
    total = total ? onnx.add(total, value) : value;
  }
  for (const Expr term : terms) {
    if (!negative(term)) continue;
    total = total ? onnx.sub(total, integer(-term)) : integer(term);
  }
  return total;
}

// ONNX's integer Div rounds to zero, // to minus infinity.
Value Emit::Sizes::quotient(Expr a, Expr b) {
  const Value x = integer(a), y = integer(b);
  if (symbolic::certainly_nonnegative(a) && symbolic::certainly_positive(b)) return onnx.div(x, y);
  return onnx.div(onnx.sub(x, onnx.mod(x, y)), y);
}

// From a dim such as 2*s + 1.
Value Emit::Sizes::solved(Expr symbol) {
  if (std::ranges::find(state.solving, symbol) == state.solving.end()) {
    state.solving.push_back(symbol);
    struct Leave {
      State& state;
      ~Leave() { state.solving.pop_back(); }
    } leave{state};
    for (auto scope = state.scopes.rbegin(); scope != state.scopes.rend(); ++scope) {
      if (const auto found = scope->solvable.find(symbol); found != scope->solvable.end()) {
        for (const SizeSource& source : found->second) {
          const auto linear = symbolic::linear_in(source.expression, symbol);
          if (!linear || !known(linear->rest)) continue;
          Value value = read(source);
          if (!linear->rest.is(0)) value = onnx.sub(value, integer(linear->rest));
          return linear->coefficient == 1 ? value
                                          : onnx.div(value, onnx.ints({linear->coefficient}));
        }
      }
      if (scope->rebinds(symbol)) break;
    }
  }
  no_source(symbol);
}

bool Emit::Sizes::solvable(Expr symbol) {
  if (std::ranges::find(state.solving, symbol) != state.solving.end()) return false;
  state.solving.push_back(symbol);
  bool found_one = false;
  for (auto scope = state.scopes.rbegin(); scope != state.scopes.rend() && !found_one; ++scope) {
    if (const auto found = scope->solvable.find(symbol); found != scope->solvable.end()) {
      for (const SizeSource& source : found->second) {
        const auto linear = symbolic::linear_in(source.expression, symbol);
        found_one = found_one || (linear && known(linear->rest));
      }
    }
    if (scope->rebinds(symbol)) break;
  }
  state.solving.pop_back();
  return found_one;
}

bool Emit::Sizes::known(Expr e) {
  if (!e.known()) return false;
  if (e.is_constant() || e.kind() == Kind::kReal) return true;
  if (state.find_source(e) != nullptr) return true;
  if (e.is_symbol()) return solvable(e);
  return std::ranges::all_of(e.operands(), [this](Expr operand) { return known(operand); });
}

std::size_t Emit::Sizes::run(std::span<const Expr> entries, std::size_t at, SizeSource& best) {
  std::size_t longest = 0;
  // The source of a later entry may hold the earlier ones, too.
  for (std::size_t shift = 0; shift < 3 && at + shift < entries.size(); ++shift) {
    if (entries[at + shift].is_constant() || !entries[at + shift].known()) break;
    const SizeSource* source = state.find_source(entries[at + shift]);
    if (source == nullptr || source->axis < static_cast<std::int64_t>(shift)) continue;
    const std::int64_t first = source->axis - static_cast<std::int64_t>(shift);
    const Shape& shape = source->value.shape();
    std::size_t length = 0;
    while (at + length < entries.size() &&
           static_cast<std::size_t>(first) + length < shape.size() &&
           !entries[at + length].is_constant() &&
           shape[static_cast<std::size_t>(first) + length] == entries[at + length])
      ++length;
    if (length <= longest || length < shift + 1) continue;
    longest = length;
    best = {source->value, first, entries[at]};
  }
  return longest;
}

// --- floats

Value Emit::Sizes::real(Expr e) {
  if (e.is_constant())
    return onnx.constant(Tensor::filled(DType::kFloat64, {1}, static_cast<double>(e.value())));
  if (e.kind() == Kind::kReal) return onnx.constant(Tensor::filled(DType::kFloat64, {1}, e.real()));
  if (!e.is_float()) return onnx.cast(any(e), DType::kFloat64);
  if (const SizeSource* source = state.find_source(e))
    return onnx.cast(read(*source), DType::kFloat64);
  const auto operands = e.operands();
  switch (e.kind()) {
    case Kind::kAdd:
    case Kind::kMul: {
      Value total = real(operands[0]);
      for (const Expr operand : operands.subspan(1))
        total = e.kind() == Kind::kAdd ? onnx.add(total, real(operand))
                                       : onnx.mul(total, real(operand));
      return total;
    }
    case Kind::kTrueDiv:
      return onnx.div(real(operands[0]), real(operands[1]));
    case Kind::kPow:
      return onnx.pow(real(operands[0]), real(operands[1]));
    case Kind::kToFloat:
      return real(operands[0]);
    case Kind::kMin:
    case Kind::kMax: {
      Values all;
      for (const Expr operand : operands) all.push_back(real(operand));
      return e.kind() == Kind::kMin ? onnx.min(all) : onnx.max(all);
    }
    case Kind::kMod:
      // Python's % has the divisor's sign.
      return onnx.sub(
          real(operands[0]),
          onnx.mul(onnx.floor(onnx.div(real(operands[0]), real(operands[1]))), real(operands[1])));
    case Kind::kFloorDiv:
      return onnx.floor(onnx.div(real(operands[0]), real(operands[1])));
    case Kind::kSqrt:
      return onnx.sqrt(real(operands[0]));
    case Kind::kIf:
      return onnx.where(logical(operands[0]), real(operands[1]), real(operands[2]));
    case Kind::kFunction:
      return real_function(e);
    default:
      no_source(e);
  }
}

Value Emit::Sizes::real_function(Expr e) {
  const std::string_view name = e.name();
  const Value x = real(e.operands()[0]);
  const auto number = [&](double value) {
    return onnx.constant(Tensor::filled(DType::kFloat64, {1}, value));
  };
  if (name == "log2") return onnx.div(onnx.log(x), number(0.6931471805599453));
  if (name == "log10") return onnx.div(onnx.log(x), number(2.302585092994046));
  if (name == "trunc") return onnx.where(onnx.less(x, number(0)), onnx.ceil(x), onnx.floor(x));
  if (name == "round") {
    // To so many decimals; Python rounds the decimal number, which differs by rounding alone.
    const Value scale =
        e.operands().size() > 1 ? onnx.pow(number(10), real(e.operands()[1])) : number(1);
    return onnx.div(onnx.round(onnx.mul(x, scale)), scale);
  }
  using Form = Value (*)(Emit&, Value);
  static constexpr std::pair<std::string_view, Form> kForms[] = {
      {"abs", [](Emit& emit, Value v) { return emit.abs(v); }},
      {"acos", [](Emit& emit, Value v) { return emit.acos(v); }},
      {"acosh", [](Emit& emit, Value v) { return emit.acosh(v); }},
      {"asin", [](Emit& emit, Value v) { return emit.asin(v); }},
      {"asinh", [](Emit& emit, Value v) { return emit.asinh(v); }},
      {"atan", [](Emit& emit, Value v) { return emit.atan(v); }},
      {"atanh", [](Emit& emit, Value v) { return emit.atanh(v); }},
      {"cos", [](Emit& emit, Value v) { return emit.cos(v); }},
      {"cosh", [](Emit& emit, Value v) { return emit.cosh(v); }},
      {"erf", [](Emit& emit, Value v) { return emit.erf(v); }},
      {"expm1", exp_minus_one},
      {"log1p", log_one_plus},
      {"exp", [](Emit& emit, Value v) { return emit.exp(v); }},
      {"log", [](Emit& emit, Value v) { return emit.log(v); }},
      {"sin", [](Emit& emit, Value v) { return emit.sin(v); }},
      {"sinh", [](Emit& emit, Value v) { return emit.sinh(v); }},
      {"tan", [](Emit& emit, Value v) { return emit.tan(v); }},
      {"tanh", [](Emit& emit, Value v) { return emit.tanh(v); }},
  };
  for (const auto& [known, form] : kForms)
    if (known == name) return form(onnx, x);
  base::fail("SX1402", fmt::format("the function `{}` of a size has no ONNX form", name));
}

// --- conditions

Value Emit::Sizes::logical(Expr e) {
  if (e.is_constant()) return onnx.constant(Tensor::filled_int(DType::kBool, {1}, e.value()));
  if (const SizeSource* source = state.find_source(e))
    return onnx.cast(read(*source), DType::kBool);
  const auto operands = e.operands();
  switch (e.kind()) {
    case Kind::kEq:
    case Kind::kNe:
    case Kind::kLt:
    case Kind::kLe:
      return compared(e);
    case Kind::kAnd:
    case Kind::kOr: {
      Value all = logical(operands[0]);
      for (const Expr operand : operands.subspan(1))
        all = e.kind() == Kind::kAnd ? onnx.and_(all, logical(operand))
                                     : onnx.or_(all, logical(operand));
      return all;
    }
    case Kind::kNot:
      return onnx.not_(logical(operands[0]));
    case Kind::kIf:
      return onnx.where(logical(operands[0]), logical(operands[1]), logical(operands[2]));
    default:
      if (e.is_boolean()) no_source(e);
      return onnx.not_(onnx.equal(integer(e), onnx.ints({0})));
  }
}

Value Emit::Sizes::compared(Expr e) {
  const Expr a = e.operands()[0], b = e.operands()[1];
  const bool real_valued = a.is_float() || b.is_float();
  const bool booleans = a.is_boolean() && b.is_boolean();
  const Value x = real_valued ? real(a) : booleans ? logical(a) : integer(a);
  const Value y = real_valued ? real(b) : booleans ? logical(b) : integer(b);
  switch (e.kind()) {
    case Kind::kEq:
      return onnx.equal(x, y);
    case Kind::kNe:
      return onnx.not_(onnx.equal(x, y));
    case Kind::kLt:
      return onnx.less(x, y);
    default:
      return onnx.less_or_equal(x, y);
  }
}

// --- the public face

Value Emit::size(Expr size) {
  if (size.is_constant()) return int_scalar(size.value());
  const SizeSource* source = state_->find_source(size);
  if (source != nullptr && source->axis < 0 && source->value.is_scalar())
    return cast(source->value, DType::kInt64);
  return Operators::squeeze(Sizes(*this).integer(size), ints({0}));
}

Value Emit::sizes(std::span<const Expr> entries) {
  Sizes sizes(*this);
  Values parts;
  std::vector<std::int64_t> constants;
  const auto flush = [&] {
    if (!constants.empty()) parts.push_back(ints(constants));
    constants.clear();
  };
  for (std::size_t i = 0; i < entries.size();) {
    if (entries[i].is_constant()) {
      constants.push_back(entries[i++].value());
      continue;
    }
    flush();
    SizeSource source;
    const std::size_t length = sizes.run(entries, i, source);
    parts.push_back(length > 1 ? sizes.dims(source.value, source.axis,
                                            source.axis + static_cast<std::int64_t>(length))
                               : sizes.integer(entries[i]));
    i += std::max<std::size_t>(length, 1);
  }
  flush();
  if (parts.empty()) return ints({});
  return parts.size() == 1 ? parts.front() : concat(parts, 0);
}

Value Emit::sizes(std::initializer_list<Expr> entries) {
  return sizes(std::span(entries.begin(), entries.size()));
}

Value Emit::real_size(Expr e, DType dtype) {
  if (e.is_constant()) return scalar(static_cast<double>(e.value()), dtype);
  if (e.kind() == Kind::kReal) return scalar(e.real(), dtype);
  const SizeSource* source = state_->find_source(e);
  if (source != nullptr && source->axis < 0 && source->value.is_scalar())
    return cast(source->value, dtype);
  const Value one = e.is_float() ? Sizes(*this).real(e) : Sizes(*this).any(e);
  return cast(Operators::squeeze(one, ints({0})), dtype);
}

Value Emit::condition(Expr e) {
  if (e.is_constant()) return bool_scalar(e.value() != 0);
  return Operators::squeeze(Sizes(*this).logical(e), ints({0}));
}

Value Emit::shape_of(Value x) {
  if (!x.has_rank()) return Operators::shape(x);
  return shape_of(x, 0, x.rank());
}

Value Emit::shape_of(Value x, std::int64_t start, std::int64_t end) {
  const std::int64_t rank = x.rank();
  start = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<std::int64_t>(end < 0 ? end + rank : end, start, rank);
  if (start == end) return ints({});
  if (end == start + 1 && state_->find_source(x.dim(start)) != nullptr)
    return sizes({x.dim(start)});
  return Sizes(*this).dims(x, start, end);  // a constant where inference knows every dim
}

Value Emit::dim_of(Value x, std::int64_t axis) {
  if (axis < 0) axis += x.rank();
  return shape_of(x, axis, axis + 1);
}

void Emit::add_size_source(Value value, std::int64_t axis, Expr dim) {
  if (dim.is_constant() || !dim.known()) return;
  const SizeSource source{value, axis < 0 ? axis + value.rank() : axis, dim};
  Scope& scope = state_->scope();
  if (state_->find_source(dim) == nullptr) scope.sources.emplace(dim, source);
  if (dim.is_symbol()) return;
  for (const Expr symbol : symbolic::symbols_of(dim)) scope.solvable[symbol].push_back(source);
}

void Emit::add_size_source(Value scalar, Expr symbol) {
  if (symbol.is_constant() || !symbol.known()) return;
  state_->scope().sources.try_emplace(symbol, SizeSource{scalar, -1, symbol});
  if (scalar->contents.empty() && !scalar.is_constant() && base::is_integer(scalar.dtype()))
    scalar->contents = {symbol};
}

void Emit::begin_symbols(std::vector<Expr> symbols) {
  Graph* const same = graph();
  Scope& scope = state_->scopes.emplace_back();
  scope.graph = same;
  scope.rebound = std::move(symbols);
}

void Emit::end_symbols() { state_->scopes.pop_back(); }

bool Emit::can_size(Expr size) const {
  // Looking changes nothing but the list of symbols in question, which is as before in the end.
  return Sizes(const_cast<Emit&>(*this)).known(size);
}

}  // namespace sardonyx::onnx
