#include "refresh/recipes.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/fold/formula.h"
#include "onnx/graph/interleaved.h"
#include "onnx/graph/joined.h"
#include "onnx/graph/recipe.h"
#include "precision/half_values.h"
#include "precision/quantized_weight.h"
#include "precision/weight_reader.h"
#include "refresh/record.h"

namespace sardonyx::refresh {
namespace {

using base::DType;
using onnx::Tensor;
using Json = simdjson::dom::element;
using Dims = std::vector<std::int64_t>;

// What literals may come to: recipes are small.
constexpr std::int64_t kMaxLiteralElements = std::int64_t{1} << 20;

[[noreturn]] void refuse_record(std::string_view what) {
  base::fail("SX1820", fmt::format("the model's record of its weights is damaged: {}", what),
             "export the model again");
}

[[noreturn]] void refuse_weights(std::string what) {
  base::fail("SX1822", std::move(what), "export the model with the new weights instead");
}

template <typename T>
T as(Json json, std::string_view what) {
  T value;
  if (json.get(value) != simdjson::SUCCESS) refuse_record(what);
  return value;
}

std::optional<Json> find(Json object, std::string_view key) {
  Json value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

Json member(Json object, std::string_view key) {
  const auto found = find(object, key);
  if (!found) refuse_record(fmt::format("'{}' is missing", key));
  return *found;
}

std::string text_of(Json object, std::string_view key) {
  return std::string(as<std::string_view>(member(object, key), key));
}

std::int64_t integer_of(Json object, std::string_view key) {
  return as<std::int64_t>(member(object, key), key);
}

Dims integers(Json json, std::string_view what) {
  Dims list;
  for (const Json each : as<simdjson::dom::array>(json, what))
    list.push_back(as<std::int64_t>(each, what));
  return list;
}

DType dtype_of(std::string_view name) {
  const auto dtype = base::dtype_from_name(name);
  if (!dtype || base::bit_width(*dtype) < 8 || base::is_complex(*dtype))
    refuse_record(fmt::format("'{}' is no element type", name));
  return *dtype;
}

struct Type {
  DType dtype;
  Dims dims;
  std::int64_t count = 1;
};

// "float32[8,4]"
Type type_of(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') refuse_record("a type is none");
  Type type{dtype_of(text.substr(0, open)), {}, 1};
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    std::int64_t dim = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), dim);
    if (error != std::errc() || dim < 0) refuse_record("a shape is none");
    type.dims.push_back(dim);
    if (dim != 0 && type.count > kMaxLiteralElements / dim) refuse_record("a literal is too large");
    type.count *= dim;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return type;
}

std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  if (text.size() % 2 != 0) refuse_record("bytes are none");
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (error != std::errc() || end != text.data() + i + 2) refuse_record("bytes are none");
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

Tensor literal(Json json) {
  const Type type = type_of(text_of(json, "literal"));
  const auto width = static_cast<std::size_t>(base::bit_width(type.dtype) / 8);
  std::vector<std::byte> bytes;
  for (const Json run : as<simdjson::dom::array>(member(json, "runs"), "runs")) {
    const auto pair = as<simdjson::dom::array>(run, "a run");
    if (pair.size() != 2) refuse_record("a run is none");
    const auto count = as<std::int64_t>(pair.at(0).value(), "a run");
    const auto element = from_hex(as<std::string_view>(pair.at(1).value(), "a run"));
    if (count < 0 || count > type.count || element.size() != width) refuse_record("a run is none");
    for (std::int64_t i = 0; i < count; ++i)
      bytes.insert(bytes.end(), element.begin(), element.end());
    if (bytes.size() > static_cast<std::size_t>(type.count) * width) refuse_record("a run is none");
  }
  if (bytes.size() != static_cast<std::size_t>(type.count) * width)
    refuse_record("a literal is cut short");
  return Tensor::of_bytes(type.dtype, type.dims, bytes);
}

onnx::Attribute::Data attribute_of(Json json) {
  if (json.is_int64()) return as<std::int64_t>(json, "an attribute");
  if (json.is_string()) return std::string(as<std::string_view>(json, "an attribute"));
  if (json.is_array()) return integers(json, "an attribute");
  if (const auto real = find(json, "real")) {
    const auto bytes = from_hex(as<std::string_view>(*real, "real"));
    float value = 0;
    if (bytes.size() != sizeof value) refuse_record("a number is none");
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  return std::make_shared<const Tensor>(literal(json));
}

Tensor with_axes(const Tensor& tensor, Dims axes) {
  Dims sorted = axes;
  std::ranges::sort(sorted);
  Dims all(tensor.dims.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) refuse_record("axes are no permutation");
  return onnx::permuted(tensor, std::move(axes));
}

Tensor with_shape(const Tensor& tensor, Dims dims) {
  auto result = onnx::with_dims(tensor, std::move(dims));
  if (!result) refuse_record("a shape does not fit");
  return *std::move(result);
}

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

Tensor cast(const Tensor& tensor, DType dtype, std::int64_t by) {
  const bool reals = base::is_floating(tensor.dtype) && base::is_floating(dtype);
  if (!reals && !(base::is_integer(tensor.dtype) && base::is_integer(dtype)))
    refuse_record("a cast is between integers and real numbers");
  // Half precision is decided by what a weight holds.
  if (tensor.dtype == DType::kFloat32 && is_half(dtype) &&
      precision::in_half(tensor, dtype).fits != precision::Fits::kYes)
    refuse_weights(fmt::format("its numbers are beyond the range of {}", base::dtype_name(dtype)));
  return onnx::cast_with_offset(tensor, dtype, by);
}

Tensor with_scale(const Tensor& tensor, Json json, const Tensor& factors) {
  onnx::ChannelScale scale;
  scale.inner = integer_of(json, "inner");
  scale.period = integer_of(json, "period");
  scale.rows = integer_of(json, "rows");
  const auto reals = factors.reals();
  constexpr std::int64_t kMax = std::int64_t{1} << 20;
  const auto is_size = [](std::int64_t size) { return size > 0 && size < kMax * kMax; };
  if (!reals || factors.dtype != DType::kFloat64 || tensor.element_count() == 0 ||
      !is_size(scale.inner) || !is_size(scale.period) || !is_size(scale.rows))
    refuse_record("a scale is none");
  // As many groups of `period` channels as there are elements for.
  const std::int64_t runs = (tensor.element_count() - 1) / scale.inner;
  const std::int64_t groups = runs / scale.period / scale.rows + 1;
  if (groups > std::ssize(*reals) / scale.period) refuse_record("a scale lacks channels");
  if (!std::ranges::all_of(*reals, [](double each) { return std::isfinite(each); }))
    refuse_weights("a factor that is worked into it is not finite");
  scale.factors = *reals;
  if (onnx::has_origin(factors))
    scale.origin = std::make_shared<const Tensor>(onnx::without_data(factors));
  return onnx::scaled(tensor, std::move(scale));
}

kernels::BlockForm form_of(Json blocks) {
  kernels::BlockForm form;
  const std::int64_t bits = integer_of(blocks, "bits");
  form.size = integer_of(blocks, "size");
  form.symmetric = as<bool>(member(blocks, "symmetric"), "symmetric");
  form.search = as<bool>(member(blocks, "search"), "search");
  form.scale = dtype_of(text_of(blocks, "scale"));
  const bool is_power = form.size >= 16 && form.size <= 65536 &&
                        std::has_single_bit(static_cast<std::uint64_t>(form.size));
  if ((bits != 4 && bits != 8) || !is_power || !base::is_floating(form.scale))
    refuse_record("blocks are none");
  form.bits = static_cast<int>(bits);
  return form;
}

}  // namespace

struct Recipes::Text {
  simdjson::dom::parser parser;
  std::vector<Json> parts;
  std::map<std::string, Json> made;
};

// Follows recipes with one set of weights.
class Recipes::Builder {
 public:
  Builder(const Recipes& recipes, const Tensors& weights) : recipes_(recipes), weights_(weights) {}

  Tensor weight(const std::string& name) const {
    const auto found = weights_.find(name);
    if (found == weights_.end()) refuse_record(fmt::format("there is no weight '{}'", name));
    return onnx::named(found->second, name);
  }

  Tensor build(Json json) const {
    if (json.is_string()) return weight(std::string(as<std::string_view>(json, "a name")));
    if (!json.is_object()) refuse_record("a recipe is none");
    if (find(json, "literal")) return literal(json);
    if (find(json, "join")) return joined(json);
    if (const auto stack = find(json, "interleave")) return interleaved(build(*stack));
    if (find(json, "part")) return part(integer_of(json, "part"));
    const Tensor of = build(member(json, "of"));
    if (const auto axes = find(json, "permute")) return with_axes(of, integers(*axes, "permute"));
    if (const auto dims = find(json, "shape")) return with_shape(of, integers(*dims, "shape"));
    if (find(json, "cast"))
      return cast(of, dtype_of(text_of(json, "cast")), integer_of(json, "add"));
    if (const auto factors = find(json, "scale")) return with_scale(of, json, build(*factors));
    if (const auto other = find(json, "same")) return shared(of, build(*other));
    if (const auto blocks = find(json, "blocks")) return quantized(json, of, *blocks);
    refuse_record("a step is unknown");
  }

 private:
  static Tensor shared(const Tensor& tensor, const Tensor& other) {
    if (tensor.dtype != other.dtype || tensor.dims != other.dims || !same_bytes(tensor, other))
      refuse_weights("two weights that held the same numbers became one, and differ now");
    return onnx::shared_with(tensor, onnx::without_data(other));
  }

  Tensor joined(Json json) const {
    std::vector<Tensor> parts;
    for (const Json part : as<simdjson::dom::array>(member(json, "join"), "join"))
      parts.push_back(build(part));
    const std::int64_t axis = integer_of(json, "axis");
    if (parts.empty() || axis < 0 || axis > 1) refuse_record("there is nothing to join");
    auto result = onnx::joined(std::move(parts), static_cast<std::size_t>(axis));
    if (!result) refuse_record("parts do not go together");
    return *std::move(result);
  }

  static Tensor interleaved(const Tensor& stack) {
    auto result = onnx::interleaved(stack);
    if (!result) refuse_record("rows cannot be interleaved");
    return *std::move(result);
  }

  // Parts refer to earlier ones, so that there is an end to it.
  Tensor part(std::int64_t number) const {
    if (number < 0 || number >= std::min<std::int64_t>(limit_, std::ssize(recipes_.text_->parts)))
      refuse_record("a part is none");
    const auto known = recipes_.parts_.find(number);
    if (known != recipes_.parts_.end()) return known->second;
    const std::int64_t limit = std::exchange(limit_, number);
    Tensor result = computed(recipes_.text_->parts[static_cast<std::size_t>(number)]);
    limit_ = limit;
    return recipes_.parts_.emplace(number, std::move(result)).first->second;
  }

  Tensor computed(Json json) const {
    onnx::Formula formula;
    formula.op_type = text_of(json, "op");
    const std::int64_t outputs = integer_of(json, "outputs"), output = integer_of(json, "output");
    if (outputs < 1 || outputs > 1024 || output < 0 || output >= outputs)
      refuse_record("a result is none");
    formula.outputs = static_cast<std::size_t>(outputs);
    formula.output = static_cast<std::size_t>(output);
    for (const auto [name, value] :
         as<simdjson::dom::object>(member(json, "attributes"), "attributes"))
      formula.attributes.push_back({std::string(name), attribute_of(value), {}});
    std::vector<std::optional<Tensor>> operands;
    for (const Json each : as<simdjson::dom::array>(member(json, "inputs"), "inputs")) {
      operands.emplace_back();
      if (!each.is_null()) operands.back() = build(each);
      formula.operands.emplace_back();
      if (operands.back()) formula.operands.back() = onnx::without_data(*operands.back());
    }
    const std::optional<Tensor> part = part_of_stack(formula, operands);
    const Tensor result = part ? *part : onnx::computed(formula, operands);
    return onnx::computed_by(result, std::make_shared<const onnx::Formula>(std::move(formula)));
  }

  // A part along the first axis is read where it lies: those of a stack are as large as it is.
  static std::optional<Tensor> part_of_stack(const onnx::Formula& formula,
                                             const std::vector<std::optional<Tensor>>& operands) {
    if (formula.op_type != "Gather" || formula.attributes.size() != 1 || operands.size() != 2 ||
        !operands[0] || !operands[1] || !operands[1]->dims.empty())
      return std::nullopt;
    const auto* axis = std::get_if<std::int64_t>(&formula.attributes.front().data);
    const Tensor& stack = *operands[0];
    const auto number = operands[1]->ints();
    const bool is_part = axis != nullptr && *axis == 0 && number && !stack.dims.empty() &&
                         stack.data != nullptr && onnx::is_cast_alone(stack) &&
                         base::bit_width(stack.dtype) >= 8 && number->front() >= 0 &&
                         number->front() < stack.dims.front();
    return is_part ? std::optional(onnx::part_of_stack(stack, number->front())) : std::nullopt;
  }

  // Matrices, and stacks of them as experts are.
  static bool can_be_quantized(const Tensor& of, std::int64_t layout) {
    if (of.dims.size() == 2) return true;
    const bool is_packed = layout == static_cast<std::int64_t>(precision::Layout::kPackedRows);
    return of.dims.size() == 3 && is_packed && precision::is_readable_stack(of);
  }

  Tensor quantized(Json json, const Tensor& of, Json blocks) const {
    const std::int64_t layout = integer_of(blocks, "layout"), part = integer_of(blocks, "part");
    if (!can_be_quantized(of, layout) || of.element_count() == 0 || !base::is_floating(of.dtype) ||
        layout < 0 || layout > 3 || part < 0 || part > 2)
      refuse_record("blocks are none");
    const kernels::BlockForm form = form_of(blocks);
    const std::string key =
        fmt::format("{}/{}/{}/{}/{}/{}/{}", simdjson::minify(member(json, "of")), layout, form.bits,
                    form.size, form.symmetric, form.search, static_cast<int>(form.scale));
    std::shared_ptr<const void>& known = recipes_.quantized_[key];
    if (known == nullptr)
      known = std::make_shared<const precision::QuantizedWeight>(
          of, static_cast<precision::Layout>(layout), form);
    const auto coded = std::static_pointer_cast<const precision::QuantizedWeight>(known);
    if (part == precision::QuantizedWeight::kZeroPoints && !coded->has_zero_points())
      refuse_record("blocks are none");
    return coded->part(static_cast<precision::QuantizedWeight::Part>(part));
  }

  const Recipes& recipes_;
  const Tensors& weights_;
  mutable std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();  // of parts
};

Recipes::Recipes(const std::string& text) : text_(std::make_unique<Text>()) {
  Json root;
  if (text_->parser.parse(text).get(root) != simdjson::SUCCESS) refuse_record("it is no JSON");
  if (integer_of(root, "version") != kVersion)
    base::fail("SX1820", "the model's record of its weights is of another version of Sardonyx",
               "use that version, or export the model again");
  structure_ = text_of(root, "structure");
  const auto texts = [&](std::string_view key, std::map<std::string, std::string>& to) {
    for (const auto [name, value] : as<simdjson::dom::object>(member(root, key), key))
      to.emplace(name, as<std::string_view>(value, key));
  };
  texts("weights", weights_);
  texts("tied", tied_);
  for (const Json part : as<simdjson::dom::array>(member(root, "parts"), "parts"))
    text_->parts.push_back(part);
  for (const auto [name, value] : as<simdjson::dom::object>(member(root, "made"), "made"))
    text_->made.emplace(name, value);
  for (const auto [name, value] : as<simdjson::dom::object>(member(root, "fixed"), "fixed"))
    for (const Json each : as<simdjson::dom::array>(value, "fixed"))
      fixed_[std::string(name)].emplace_back(as<std::string_view>(each, "fixed"));
}

Recipes::~Recipes() = default;

std::vector<std::string> Recipes::made() const {
  std::vector<std::string> names;
  for (const auto& [name, recipe] : text_->made) names.push_back(name);
  return names;
}

Tensor Recipes::build(const std::string& initializer, const Tensors& weights) const {
  const Builder builder(*this, weights);
  const auto found = text_->made.find(initializer);
  return found != text_->made.end() ? builder.build(found->second) : builder.weight(initializer);
}

}  // namespace sardonyx::refresh
