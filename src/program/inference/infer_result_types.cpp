#include "program/inference/infer_result_types.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

using Index = std::unordered_map<std::string_view, ResultRule>;

void add_rows(Index& index, std::span<const ResultRow> rows) {
  for (const ResultRow& row : rows) {
    std::string_view rest = row.names;
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      if (space > 0) index.emplace(rest.substr(0, space), row.rule);
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  }
}

const Index& rules() {
  static const Index kIndex = [] {
    Index index;
    for (const auto rows :
         {elementwise_results(), reduction_results(), view_results(), joining_results(),
          indexing_results(), matrix_results(), spatial_results(), network_results(),
          creation_results(), loss_results(), spectrum_results(), factorization_results(),
          detection_results(), quantization_results(), gradient_results(), prims_results()})
      add_rows(index, rows);
    return index;
  }();
  return kIndex;
}

// "add_", "masked_fill_"; not "__and__".
bool is_in_place(std::string_view name) { return name.ends_with('_') && !name.ends_with("__"); }

ResultRule find_rule(const Schema& schema) {
  constexpr std::string_view kSpaces[] = {
      "aten", "prims", "torchvision", "packed", "quantized_decomposed", "torchao"};
  if (std::ranges::find(kSpaces, schema.space()) == std::end(kSpaces)) return nullptr;
  const std::string qualified =
      std::string(schema.space()) + "::" + std::string(schema.base_name());
  for (const std::string_view name : {std::string_view(qualified), schema.base_name()}) {
    const auto found = rules().find(name);
    if (found != rules().end()) return found->second;
  }
  return nullptr;
}

// Of "expand_copy", the rule of "expand", whose results lie one behind the other here.
std::optional<TensorTypes> copied_view(const Schema& schema, const Bound& call) {
  constexpr std::string_view kCopy = "_copy";
  const std::string_view name = schema.base_name();
  if (schema.space() != "aten" || !name.ends_with(kCopy)) return std::nullopt;
  const auto found = rules().find(name.substr(0, name.size() - kCopy.size()));
  if (found == rules().end()) return std::nullopt;
  TensorTypes results = found->second(call);
  for (TensorType& result : results) result.strides.clear();
  return results;
}

}  // namespace

std::optional<std::vector<TensorType>> infer_result_types(const Schema& schema,
                                                          const std::vector<Argument>& arguments,
                                                          symbolic::Pool& pool) {
  const Bound call(schema, arguments, pool);
  if (const ResultRule rule = find_rule(schema)) return rule(call);
  if (std::optional<TensorTypes> copies = copied_view(schema, call)) return copies;
  // What is written to keeps its type.
  if (is_in_place(schema.base_name()) && schema.mutates() && !arguments.empty() &&
      tensor_of(arguments.front()))
    return TensorTypes{like(call.self())};
  return std::nullopt;
}

bool Bound::has(std::string_view name) const {
  const auto position = schema_.find(name);
  return position && !arguments_[*position].is_none();
}

const Argument& Bound::argument(std::string_view name) const {
  const auto position = schema_.find(name);
  if (!position) refuse("it has no argument '" + std::string(name) + "'");
  return arguments_[*position];
}

void Bound::refuse(const std::string& what) const {
  base::Diagnostic diagnostic;
  diagnostic.code = "SX1208";
  diagnostic.message = schema_.qualified() + ": " + what;
  diagnostic.op = schema_.qualified();
  throw base::Error(std::move(diagnostic));
}

const Value& Bound::self() const {
  const Value* value = arguments_.empty() ? nullptr : tensor_of(arguments_.front());
  if (!value) refuse("its first argument is no tensor");
  return *value;
}

const Value& Bound::tensor(std::string_view name) const {
  const Value* value = tensor_of(argument(name));
  if (!value) refuse("its argument '" + std::string(name) + "' is no tensor");
  return *value;
}

const Value* Bound::optional_tensor(std::string_view name) const {
  const auto position = schema_.find(name);
  return position ? tensor_of(arguments_[*position]) : nullptr;
}

std::vector<const Value*> Bound::tensors(std::string_view name) const {
  const List* list = argument(name).get<List>();
  if (!list) refuse("its argument '" + std::string(name) + "' is no list");
  std::vector<const Value*> values;
  for (const Argument& item : *list) values.push_back(tensor_of(item));
  return values;
}

bool Bound::flag(std::string_view name) const {
  const auto position = schema_.find(name);
  const bool* flag = position ? arguments_[*position].get<bool>() : nullptr;
  return flag && *flag;
}

Expr Bound::size(std::string_view name) const {
  const Expr* size = argument(name).get<Expr>();
  if (!size) refuse("its argument '" + std::string(name) + "' is no integer that is known");
  return *size;
}

std::int64_t Bound::integer(std::string_view name) const {
  const auto constant = size(name).constant();
  if (!constant) refuse("its argument '" + std::string(name) + "' depends on sizes or data");
  return *constant;
}

Sizes Bound::sizes(std::string_view name) const {
  const Argument& found = argument(name);
  if (found.is_none()) return {};
  if (const Expr* size = found.get<Expr>()) return {*size};
  const List* list = found.get<List>();
  if (!list) refuse("its argument '" + std::string(name) + "' is no list of integers");
  Sizes sizes;
  for (const Argument& item : *list) {
    const Expr* size = item.get<Expr>();
    if (!size) refuse("its argument '" + std::string(name) + "' holds what is no integer");
    sizes.push_back(*size);
  }
  return sizes;
}

std::vector<std::int64_t> Bound::integers(std::string_view name) const {
  std::vector<std::int64_t> integers;
  for (const Expr size : sizes(name)) {
    if (!size.is_constant())
      refuse("its argument '" + std::string(name) + "' depends on sizes or data");
    integers.push_back(size.value());
  }
  return integers;
}

std::optional<DType> Bound::dtype(std::string_view name) const {
  if (const Value* written = name == "dtype" ? optional_tensor("out") : nullptr)
    return written->dtype;
  const auto position = schema_.find(name);
  const DType* dtype = position ? arguments_[*position].get<DType>() : nullptr;
  return dtype ? std::optional(*dtype) : std::nullopt;
}

std::size_t Bound::axis(std::string_view name, std::size_t rank) const {
  return axis(integer(name), rank);
}

std::size_t Bound::axis(std::int64_t number, std::size_t rank) const {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (number < -count || number >= count) {
    refuse("there is no dimension " + std::to_string(number) + " of " + std::to_string(rank));
  }
  return static_cast<std::size_t>(number < 0 ? number + count : number);
}

Expr Bound::scaled(Expr size, double factor) const {
  if (size.is_constant())
    return static_cast<std::int64_t>(static_cast<double>(size.value()) * factor);
  const auto whole = static_cast<std::int64_t>(factor);
  if (static_cast<double>(whole) == factor) return size * whole;
  const Expr real = symbolic::apply(symbolic::Kind::kToFloat, {size}) * pool_.real(factor);
  return symbolic::apply(symbolic::Kind::kTruncToInt, {real});
}

Expr Bound::fresh() const {
  const Expr size = pool_.fresh("u");
  pool_.mark_unbacked(size);
  return size;
}

Sizes Bound::broadcast(std::span<const Expr> left, std::span<const Expr> right) const {
  if (left.size() < right.size()) std::swap(left, right);
  Sizes shape(left.begin(), left.end());
  const std::size_t missing = left.size() - right.size();
  for (std::size_t i = 0; i < right.size(); ++i) {
    Expr& size = shape[missing + i];
    const Expr other = right[i];
    if (size == other || other.is(1)) continue;
    if (size.is(1)) {
      size = other;
    } else if (size.is_constant() && other.is_constant()) {
      refuse("sizes " + size.str() + " and " + other.str() + " do not fit each other");
    } else if (other.is_constant()) {
      size = other;
    } else if (!size.is_constant()) {
      size = fresh();  // either of them may be 1
    }
  }
  return shape;
}

bool counts_up(base::DType dtype) { return base::is_integer(dtype) || dtype == base::DType::kBool; }

base::DType as_floating(base::DType dtype) {
  return counts_up(dtype) ? base::DType::kFloat32 : dtype;
}

TensorType like(const Value& value) { return {value.dtype, value.shape, value.strides}; }

TensorType like(const Value& value, Sizes shape) { return {value.dtype, std::move(shape), {}}; }

Sizes strides_of(const Value& value) {
  if (!value.strides.empty()) return value.strides;
  Sizes strides(value.shape.size());
  Expr next = 1;
  for (std::size_t i = strides.size(); i-- > 0;) {
    strides[i] = next;
    next = next * value.shape[i];
  }
  return strides;
}

namespace {

int category(DType dtype) {
  if (base::is_complex(dtype)) return 4;
  if (base::is_floating(dtype)) return 3;
  if (base::is_integer(dtype)) return 2;
  return dtype == DType::kBool ? 1 : 0;
}

DType both(DType a, DType b) {
  if (a == DType::kUndefined) return b;
  return b == DType::kUndefined ? a : base::promote(a, b);
}

}  // namespace

void Promotion::add(const Value& tensor) {
  DType& into = tensor.shape.empty() ? zero_dim_ : dimensioned_;
  into = both(into, tensor.dtype);
}

void Promotion::add(const Argument& number) {
  if (const Value* value = tensor_of(number)) {
    if (value->kind == ValueKind::kTensor) return add(*value);
    number_ = both(number_, value->kind == ValueKind::kFloat  ? DType::kFloat32
                            : value->kind == ValueKind::kBool ? DType::kBool
                                                              : DType::kInt64);
  } else if (const Expr* expr = number.get<Expr>()) {
    number_ = both(number_, expr->is_float()     ? DType::kFloat32
                            : expr->is_boolean() ? DType::kBool
                                                 : DType::kInt64);
  } else if (number.get<double>()) {
    number_ = both(number_, DType::kFloat32);
  } else if (number.get<bool>()) {
    number_ = both(number_, DType::kBool);
  } else if (number.get<std::complex<double>>()) {
    number_ = both(number_, DType::kComplex64);
  }
}

DType Promotion::dtype() const {
  DType result = dimensioned_;
  for (const DType other : {zero_dim_, number_}) {
    if (other == DType::kUndefined || category(other) <= category(result)) continue;
    // A complex number beside doubles is a complex of doubles.
    result =
        base::is_complex(other) && base::is_floating(result) ? base::complex_of(result) : other;
  }
  return result;
}

}  // namespace sardonyx::program
