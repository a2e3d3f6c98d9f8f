#include "refresh/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/fold/formula.h"
#include "onnx/graph/joined.h"
#include "onnx/graph/pieces.h"
#include "onnx/graph/recipe.h"
#include "precision/quantized_weight.h"
#include "sardonyx/report.h"

namespace sardonyx::refresh {
namespace {

using onnx::Tensor;
using onnx::ValueInfo;

// Constants up to this size are part of a recipe.
constexpr std::int64_t kMaxLiteral = std::int64_t{64} << 10;

// Something that recipes do not say.
struct NotRecorded : std::exception {};

std::string quoted(std::string_view text) { return json_string(text); }

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", each);
  return text;
}

std::string literal(const Tensor& tensor) {
  const bool has_bytes = tensor.data != nullptr || tensor.element_count() == 0;
  if (!has_bytes || !tensor.strings.empty() || base::bit_width(tensor.dtype) < 8 ||
      tensor.byte_count() > kMaxLiteral || onnx::derivation_of(tensor) != nullptr)
    throw NotRecorded();
  const std::vector<std::byte> bytes = bytes_of(tensor);
  const auto width = static_cast<std::size_t>(base::bit_width(tensor.dtype) / 8);
  std::string runs;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = at + width;
    while (end < bytes.size() && std::memcmp(&bytes[at], &bytes[end], width) == 0) end += width;
    runs += fmt::format("{}[{},\"{}\"]", runs.empty() ? "" : ",", (end - at) / width,
                        hex(std::span(bytes).subspan(at, width)));
    at = end;
  }
  return fmt::format(R"({{"literal":"{}","runs":[{}]}})", type_text(tensor.dtype, tensor.dims),
                     runs);
}

std::string attribute_text(const onnx::Attribute& attribute) {
  if (const auto* one = std::get_if<std::int64_t>(&attribute.data)) return fmt::format("{}", *one);
  if (const auto* type = std::get_if<base::DType>(&attribute.data))
    return fmt::format("{}", static_cast<std::int64_t>(*type));
  if (const auto* text = std::get_if<std::string>(&attribute.data)) return quoted(*text);
  if (const auto* real = std::get_if<float>(&attribute.data))
    return fmt::format(R"({{"real":"{}"}})", hex(std::as_bytes(std::span(real, 1))));
  if (const auto* all = std::get_if<std::vector<std::int64_t>>(&attribute.data))
    return fmt::format("[{}]", fmt::join(*all, ","));
  if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&attribute.data))
    return literal(**tensor);
  throw NotRecorded();
}

class Recorder {
 public:
  Recorder(const onnx::Model& model, const Origins& origins) : model_(model), origins_(origins) {}

  void add(const ValueInfo& value) {
    const Tensor& tensor = *value.constant;
    if (!value.is_weight && value.made_of.empty() && tensor.recipe == nullptr) return;
    Weights weights;
    try {
      const std::string recipe = recipe_of(value, tensor, weights);
      if (weights.empty()) return;
      if (recipe != quoted(value.name)) add_entry(made_, value.name, recipe);
      weights_.merge(weights);
    } catch (const NotRecorded&) {
      if (is_of_local_weights(value)) return;
      std::set<std::string> names;
      add_origins(value, names);
      std::string list;
      for (const std::string& each : names)
        if (!origins_.local.contains(each)) list += (list.empty() ? "" : ",") + quoted(each);
      if (!list.empty()) add_entry(fixed_, value.name, "[" + list + "]");
    }
  }

  std::string text() const {
    if (weights_.empty()) return {};
    std::string weights, tied, program;
    for (const auto& [name, text] : origins_.program) add_entry(program, name, quoted(text));
    for (const auto& [name, type] : weights_) add_entry(weights, name, quoted(type));
    tied_.insert(origins_.tied.begin(), origins_.tied.end());
    for (const auto& [other, name] : tied_)
      if (weights_.contains(name) && !weights_.contains(other))
        add_entry(tied, other, quoted(name));
    return fmt::format(
        R"({{"version":{},"structure":"{}","program":{{{}}},"weights":{{{}}},"tied":{{{}}},)"
        R"("parts":[{}],"made":{{{}}},"fixed":{{{}}}}})",
        kVersion, structure_of(model_), program, weights, tied, part_texts_, made_, fixed_);
  }

 private:
  using Weights = std::map<std::string, std::string>;  // name and type

  static void add_entry(std::string& entries, std::string_view name, std::string_view text) {
    entries += fmt::format("{}{}:{}", entries.empty() ? "" : ",", quoted(name), text);
  }

  // What is derived of what no checkpoint has stays what it is.
  bool is_of_local_weights(const ValueInfo& value) const {
    if (onnx::derivation_of(*value.constant) == nullptr) return false;
    try {
      Weights weights;
      recipe_of(value, *value.constant->recipe->source, weights);
      return weights.empty();
    } catch (const NotRecorded&) {
      return false;
    }
  }

  static void add_origins(const ValueInfo& value, std::set<std::string>& names) {
    if (value.made_of.empty()) names.insert(value.name);
    for (const ValueInfo* each : value.made_of) add_origins(*each, names);
  }

  // `tensor`: the value's, or one of those that it is derived of.
  std::string recipe_of(const ValueInfo& value, const Tensor& tensor, Weights& weights) const {
    const onnx::Derived* step = onnx::derivation_of(tensor);
    if (step == nullptr) return recipe_of(onnx::recorded(value, tensor), weights);
    if (const onnx::Joined* joined = onnx::joined_of(tensor)) {
      std::string parts;
      for (const Tensor& part : joined->parts())
        parts += (parts.empty() ? "" : ",") + recipe_of(value, part, weights);
      return fmt::format(R"({{"join":[{}],"axis":{}}})", parts, joined->axis());
    }
    const auto* coded = dynamic_cast<const precision::QuantizedWeight*>(step->how.get());
    if (coded == nullptr) throw NotRecorded();
    const kernels::BlockForm& form = coded->form();
    return fmt::format(
        R"({{"of":{},"blocks":{{"layout":{},"bits":{},"size":{},"symmetric":{},"search":{},)"
        R"("scale":"{}","part":{}}}}})",
        recipe_of(value, *tensor.recipe->source, weights), static_cast<int>(coded->layout()),
        form.bits, form.size, form.symmetric, form.search, base::dtype_name(form.scale),
        step->part);
  }

  std::string recipe_of(const Tensor& recorded, Weights& weights) const {
    if (onnx::is_unknown(recorded)) throw NotRecorded();
    if (recorded.recipe == nullptr) return literal(recorded);
    const bool is_literal = !onnx::has_origin(recorded);
    std::string text = is_literal ? literal(recorded) : origin_of(recorded, weights);
    const std::string* const whole = named_alone(recorded);
    for (const onnx::Step& step : recorded.recipe->steps) {
      const auto* shared = std::get_if<onnx::Shared>(&step);
      const std::string* const other = shared != nullptr ? named_alone(*shared->other) : nullptr;
      if (whole != nullptr && other != nullptr && !origins_.local.contains(*other)) {
        tied_.emplace(*other, *whole);
        continue;
      }
      if (is_literal && shared == nullptr) continue;  // the literal is what comes of it
      if (std::string with = with_step(step, weights); !with.empty())
        text = fmt::format(R"({{"of":{},{}}})", text, with);
    }
    return text;
  }

  // The weight that the tensor is as it stands, whatever else it stands for; null where it is none.
  static const std::string* named_alone(const Tensor& recorded) {
    if (!onnx::has_origin(recorded)) return nullptr;
    const std::vector<onnx::Step>& steps = recorded.recipe->steps;
    const auto* name = std::get_if<onnx::Named>(&steps.front());
    const bool is_alone = std::all_of(steps.begin() + 1, steps.end(), [](const onnx::Step& step) {
      return std::holds_alternative<onnx::Shared>(step);
    });
    return name != nullptr && !name->weight.empty() && is_alone ? &name->weight : nullptr;
  }

  std::string origin_of(const Tensor& recorded, Weights& weights) const {
    const onnx::Step& first = recorded.recipe->steps.front();
    if (const auto* computed = std::get_if<onnx::Computed>(&first))
      return part_of(computed->formula, weights);
    const std::string& name = std::get<onnx::Named>(first).weight;
    const Tensor type = onnx::source_type(recorded);
    // What no checkpoint has stays what it is.
    if (origins_.local.contains(name)) return local_text(name, recorded);
    weights.emplace(name, type_text(type.dtype, type.dims));
    return quoted(name);
  }

  std::string local_text(const std::string& name, const Tensor& recorded) const {
    if (recorded.recipe->steps.size() == 1) return quoted(name);
    for (const ValueInfo* value : model_.initializers)
      if (value->name == name && value->constant->recipe == nullptr)
        return literal(*value->constant);
    throw NotRecorded();
  }

  // What several recipes have in common stands once, before all that refer to it.
  std::string part_of(const std::shared_ptr<const onnx::Formula>& formula, Weights& weights) const {
    auto known = parts_.find(formula);
    if (known == parts_.end()) {
      Part part;
      const std::string text = formula_text(*formula, part.weights);
      part.number = parts_.size();
      part_texts_ += (part_texts_.empty() ? "" : ",") + text;
      known = parts_.emplace(formula, std::move(part)).first;
    }
    weights.insert(known->second.weights.begin(), known->second.weights.end());
    return fmt::format(R"({{"part":{}}})", known->second.number);
  }

  std::string formula_text(const onnx::Formula& formula, Weights& weights) const {
    std::string inputs, attributes;
    for (const std::optional<Tensor>& operand : formula.operands)
      inputs += (inputs.empty() ? "" : ",") +
                (operand ? operand_text(*operand, weights) : std::string("null"));
    for (const onnx::Attribute& each : formula.attributes)
      add_entry(attributes, each.name, attribute_text(each));
    return fmt::format(R"({{"op":{},"inputs":[{}],"attributes":{{{}}},"outputs":{},"output":{}}})",
                       quoted(formula.op_type), inputs, attributes, formula.outputs,
                       formula.output);
  }

  std::string operand_text(const Tensor& operand, Weights& weights) const {
    std::string text = recipe_of(operand, weights);
    const auto* name = onnx::has_origin(operand)
                           ? std::get_if<onnx::Named>(&operand.recipe->steps.front())
                           : nullptr;
    if (name == nullptr || !origins_.local.contains(name->weight)) return text;
    for (const ValueInfo* value : model_.initializers)
      if (value->name == name->weight && value->constant->recipe == nullptr)
        return literal(*value->constant);
    throw NotRecorded();
  }

  // Empty for an origin, which is no step.
  std::string with_step(const onnx::Step& step, Weights& weights) const {
    if (std::holds_alternative<onnx::Named>(step) || std::holds_alternative<onnx::Computed>(step))
      return {};
    if (const auto* each = std::get_if<onnx::Permuted>(&step))
      return fmt::format(R"("permute":[{}])", fmt::join(each->axes, ","));
    if (const auto* each = std::get_if<onnx::Shaped>(&step))
      return fmt::format(R"("shape":[{}])", fmt::join(each->dims, ","));
    if (const auto* each = std::get_if<onnx::CastWithOffset>(&step))
      return fmt::format(R"("cast":"{}","add":{})", base::dtype_name(each->dtype), each->by);
    if (const auto* each = std::get_if<onnx::Scaled>(&step)) {
      const onnx::ChannelScale& scale = *each->scale;
      return fmt::format(R"("scale":{},"inner":{},"period":{},"rows":{})",
                         scale_text(scale, weights), scale.inner, scale.period, scale.rows);
    }
    if (const auto* each = std::get_if<onnx::Shared>(&step))
      return fmt::format(R"("same":{})", recipe_of(*each->other, weights));
    throw NotRecorded();
  }

  std::string scale_text(const onnx::ChannelScale& scale, Weights& weights) const {
    if (scale.origin != nullptr && onnx::has_origin(*scale.origin))
      return recipe_of(*scale.origin, weights);
    Tensor factors =
        Tensor::of_bytes(base::DType::kFloat64, {static_cast<std::int64_t>(scale.factors.size())},
                         std::as_bytes(std::span(scale.factors)));
    return literal(factors);
  }

  const onnx::Model& model_;
  const Origins& origins_;
  Weights weights_;
  struct Part {
    std::size_t number = 0;
    Weights weights;
  };
  mutable std::map<std::shared_ptr<const onnx::Formula>, Part> parts_;
  mutable std::string part_texts_;  // elements of JSON
  mutable std::map<std::string, std::string> tied_;
  std::string made_, fixed_;  // entries of JSON
};

}  // namespace

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  std::vector<std::byte> bytes;
  if (tensor.element_count() == 0) return bytes;
  const auto append = [&](std::span<const std::byte> piece, std::size_t /*thread*/) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  };
  onnx::put_pieces(*onnx::pieces_of(tensor), append);
  return bytes;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  if (a.byte_count() != b.byte_count()) return false;
  const auto is_plain = [](const Tensor& tensor) {
    return tensor.is_materialized() && tensor.contiguous();
  };
  if (!is_plain(a) || !is_plain(b)) return bytes_of(a) == bytes_of(b);
  if (a.data == b.data || a.data == nullptr || b.data == nullptr) return a.data == b.data;
  return std::memcmp(a.data, b.data, static_cast<std::size_t>(a.byte_count())) == 0;
}

void erase_record(onnx::Model& model) {
  std::erase_if(model.metadata, [](const auto& entry) { return entry.first == kKey; });
}

std::string record(const onnx::Model& model, const Origins& origins) {
  Recorder recorder(model, origins);
  for (const ValueInfo* value : model.initializers)
    if (value->names != nullptr && value->constant != nullptr && onnx::has_uses(value))
      recorder.add(*value);
  return recorder.text();
}

}  // namespace sardonyx::refresh
