#include "refresh/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx/fold/formula.h"
#include "onnx/graph/interleaved.h"
#include "onnx/graph/joined.h"
#include "onnx/graph/origins.h"
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

void append_hex(std::string& out, std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const std::byte each : bytes) {
    out += kDigits[std::to_integer<std::size_t>(each >> 4)];
    out += kDigits[std::to_integer<std::size_t>(each & std::byte{15})];
  }
}

void append_literal(std::string& out, const Tensor& tensor) {
  const bool has_bytes = tensor.data != nullptr || tensor.element_count() == 0;
  if (!has_bytes || !tensor.strings.empty() || base::bit_width(tensor.dtype) < 8 ||
      tensor.byte_count() > kMaxLiteral || onnx::derivation_of(tensor) != nullptr)
    throw NotRecorded();
  std::vector<std::byte> copied;
  std::span<const std::byte> bytes(tensor.data, static_cast<std::size_t>(tensor.byte_count()));
  if (!tensor.is_materialized() || !tensor.contiguous()) bytes = copied = bytes_of(tensor);
  const auto width = static_cast<std::size_t>(base::bit_width(tensor.dtype) / 8);
  out += R"({"literal":")";
  out += type_text(tensor.dtype, tensor.dims);
  out += R"(","runs":[)";
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = at + width;
    while (end < bytes.size() && std::memcmp(&bytes[at], &bytes[end], width) == 0) end += width;
    out += at == 0 ? "[" : ",[";
    out += std::to_string((end - at) / width);
    out += ",\"";
    append_hex(out, bytes.subspan(at, width));
    out += "\"]";
    at = end;
  }
  out += "]}";
}

void append_attribute(std::string& out, const onnx::Attribute& attribute) {
  if (const auto* one = std::get_if<std::int64_t>(&attribute.data)) {
    out += std::to_string(*one);
  } else if (const auto* type = std::get_if<base::DType>(&attribute.data)) {
    out += std::to_string(static_cast<std::int64_t>(*type));
  } else if (const auto* text = std::get_if<std::string>(&attribute.data)) {
    out += quoted(*text);
  } else if (const auto* real = std::get_if<float>(&attribute.data)) {
    out += R"({"real":")";
    append_hex(out, std::as_bytes(std::span(real, 1)));
    out += R"("})";
  } else if (const auto* all = std::get_if<std::vector<std::int64_t>>(&attribute.data)) {
    out += fmt::format("[{}]", fmt::join(*all, ","));
  } else if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&attribute.data)) {
    append_literal(out, **tensor);
  } else {
    throw NotRecorded();
  }
}

class Recorder {
 public:
  Recorder(const onnx::Model& model, const Origins& origins) : model_(model), origins_(origins) {}

  void add(const ValueInfo& value) {
    const Tensor& tensor = *value.constant;
    if (!value.is_weight && value.made_of.empty() && tensor.recipe == nullptr) return;
    Weights weights;
    try {
      std::string recipe;
      append_recipe(recipe, value, tensor, weights);
      if (weights.empty()) return;
      if (recipe != quoted(value.name)) add_entry(made_, value.name, recipe);
      weights_.merge(weights);
    } catch (const NotRecorded&) {
      if (is_of_local_weights(value)) return;
      std::set<std::string> names;
      for (const ValueInfo* each : onnx::origins_of(value)) names.insert(each->name);
      std::string list;
      for (const std::string& each : names)
        if (!origins_.local.contains(each)) list += (list.empty() ? "" : ",") + quoted(each);
      if (!list.empty()) add_entry(fixed_, value.name, "[" + list + "]");
    }
  }

  std::string text() {
    if (weights_.empty()) return {};
    std::string weights, tied, program;
    for (const auto& [name, text] : origins_.program) add_entry(program, name, quoted(text));
    for (const Weight& weight : types_)
      if (weights_.contains(&weight)) add_entry(weights, weight.first, quoted(weight.second));
    tied_.insert(origins_.tied.begin(), origins_.tied.end());
    for (const auto& [other, name] : tied_)
      if (is_wanted(name) && !is_wanted(other)) add_entry(tied, other, quoted(name));
    return fmt::format(
        R"({{"version":{},"structure":"{}","program":{{{}}},"weights":{{{}}},"tied":{{{}}},)"
        R"("parts":[{}],"made":{{{}}},"fixed":{{{}}}}})",
        kVersion, structure_of(model_), program, weights, tied, part_texts_, made_, fixed_);
  }

 private:
  using Types = std::map<std::string, std::string>;  // of the program's weights, by their names
  using Weight = Types::value_type;
  using Weights = std::set<const Weight*>;

  struct Part {
    std::size_t number = 0;
    Weights weights;
  };

  bool is_wanted(const std::string& name) const {
    const auto known = types_.find(name);
    return known != types_.end() && weights_.contains(&*known);
  }

  static void add_entry(std::string& entries, std::string_view name, std::string_view text) {
    if (!entries.empty()) entries += ',';
    entries += quoted(name);
    entries += ':';
    entries += text;
  }

  // What is derived of what no checkpoint has stays what it is.
  bool is_of_local_weights(const ValueInfo& value) {
    if (onnx::derivation_of(*value.constant) == nullptr) return false;
    try {
      Weights weights;
      std::string recipe;
      append_recipe(recipe, value, *value.constant->recipe->source, weights);
      return weights.empty();
    } catch (const NotRecorded&) {
      return false;
    }
  }

  // `tensor`: the value's, or one of those that it is derived of.
  void append_recipe(std::string& out, const ValueInfo& value, const Tensor& tensor,
                     Weights& weights) {
    const onnx::Derived* step = onnx::derivation_of(tensor);
    if (step == nullptr) return append_recipe(out, onnx::recorded(value, tensor), weights);
    if (const onnx::Joined* joined = onnx::joined_of(tensor)) {
      out += R"({"join":[)";
      bool first = true;
      for (const Tensor& part : joined->parts()) {
        if (!std::exchange(first, false)) out += ',';
        append_recipe(out, value, part, weights);
      }
      out += fmt::format(R"(],"axis":{}}})", joined->axis());
      return;
    }
    if (dynamic_cast<const onnx::Interleaved*>(step->how.get()) != nullptr) {
      out += R"({"interleave":)";
      append_recipe(out, value, *tensor.recipe->source, weights);
      out += '}';
      return;
    }
    const auto* coded = dynamic_cast<const precision::QuantizedWeight*>(step->how.get());
    if (coded == nullptr) throw NotRecorded();
    const kernels::BlockForm& form = coded->form();
    out += R"({"of":)";
    append_recipe(out, value, *tensor.recipe->source, weights);
    out += fmt::format(R"(,"blocks":{{"layout":{},"bits":{},"size":{},"symmetric":{},"search":{},)"
                       R"("scale":"{}","part":{}}}}})",
                       static_cast<int>(coded->layout()), form.bits, form.size, form.symmetric,
                       form.search, base::dtype_name(form.scale), step->part);
  }

  void append_recipe(std::string& out, const Tensor& recorded, Weights& weights) {
    if (onnx::is_unknown(recorded)) throw NotRecorded();
    if (recorded.recipe == nullptr) return append_literal(out, recorded);
    const std::size_t start = out.size();
    const bool is_literal = !onnx::has_origin(recorded);
    if (is_literal)
      append_literal(out, recorded);
    else
      append_origin(out, recorded, weights);
    const std::string* const whole = named_alone(recorded);
    for (const onnx::Step& step : recorded.recipe->steps) {
      const auto* shared = std::get_if<onnx::Shared>(&step);
      const std::string* const other = shared != nullptr ? named_alone(*shared->other) : nullptr;
      if (whole != nullptr && other != nullptr && !origins_.local.contains(*other)) {
        tied_.emplace(*other, *whole);
        continue;
      }
      if (is_literal && shared == nullptr) continue;  // the literal is what comes of it
      if (const std::string with = with_step(step, weights); !with.empty()) {
        out.insert(start, R"({"of":)");
        out += ',';
        out += with;
        out += '}';
      }
    }
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

  void append_origin(std::string& out, const Tensor& recorded, Weights& weights) {
    const onnx::Step& first = recorded.recipe->steps.front();
    if (const auto* computed = std::get_if<onnx::Computed>(&first))
      return append_part(out, computed->formula, weights);
    const std::string& name = std::get<onnx::Named>(first).weight;
    // What no checkpoint has stays what it is.
    if (origins_.local.contains(name)) return append_local(out, name, recorded);
    const auto [known, is_new] = types_.try_emplace(name);
    if (is_new) {
      const Tensor type = onnx::source_type(recorded);
      known->second = type_text(type.dtype, type.dims);
    }
    weights.insert(&*known);
    out += quoted(name);
  }

  void append_local(std::string& out, const std::string& name, const Tensor& recorded) const {
    if (recorded.recipe->steps.size() == 1)
      out += quoted(name);
    else
      append_constant(out, name);
  }

  // The data of an initializer that lies in the model as it is.
  void append_constant(std::string& out, const std::string& name) const {
    for (const ValueInfo* value : model_.initializers)
      if (value->name == name && value->constant->recipe == nullptr)
        return append_literal(out, *value->constant);
    throw NotRecorded();
  }

  // What several recipes have in common stands once, before all that refer to it.
  void append_part(std::string& out, const std::shared_ptr<const onnx::Formula>& formula,
                   Weights& weights) {
    auto known = parts_.find(formula);
    if (known == parts_.end()) {
      Part part;
      std::string text;
      append_formula(text, *formula, part.weights);
      part.number = parts_.size();
      if (!part_texts_.empty()) part_texts_ += ',';
      part_texts_ += text;
      known = parts_.emplace(formula, std::move(part)).first;
    }
    weights.insert(known->second.weights.begin(), known->second.weights.end());
    out += R"({"part":)";
    out += std::to_string(known->second.number);
    out += '}';
  }

  void append_formula(std::string& out, const onnx::Formula& formula, Weights& weights) {
    out += R"({"op":)";
    out += quoted(formula.op_type);
    out += R"(,"inputs":[)";
    for (const std::optional<Tensor>& operand : formula.operands) {
      if (&operand != &formula.operands.front()) out += ',';
      if (operand)
        append_operand(out, *operand, weights);
      else
        out += "null";
    }
    out += R"(],"attributes":{)";
    for (const onnx::Attribute& each : formula.attributes) {
      if (&each != &formula.attributes.front()) out += ',';
      out += quoted(each.name);
      out += ':';
      append_attribute(out, each);
    }
    out += R"(},"outputs":)";
    out += std::to_string(formula.outputs);
    out += R"(,"output":)";
    out += std::to_string(formula.output);
    out += '}';
  }

  void append_operand(std::string& out, const Tensor& operand, Weights& weights) {
    const auto* name = onnx::has_origin(operand)
                           ? std::get_if<onnx::Named>(&operand.recipe->steps.front())
                           : nullptr;
    if (name != nullptr && origins_.local.contains(name->weight))
      append_constant(out, name->weight);
    else
      append_recipe(out, operand, weights);
  }

  // Empty for an origin, which is no step.
  std::string with_step(const onnx::Step& step, Weights& weights) {
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
      std::string text = R"("scale":)";
      append_scale(text, scale, weights);
      return text + fmt::format(R"(,"inner":{},"period":{},"rows":{})", scale.inner, scale.period,
                                scale.rows);
    }
    if (const auto* each = std::get_if<onnx::Shared>(&step)) {
      std::string text = R"("same":)";
      append_recipe(text, *each->other, weights);
      return text;
    }
    throw NotRecorded();
  }

  void append_scale(std::string& out, const onnx::ChannelScale& scale, Weights& weights) {
    if (scale.origin != nullptr && onnx::has_origin(*scale.origin))
      return append_recipe(out, *scale.origin, weights);
    append_literal(out, Tensor::of_bytes(base::DType::kFloat64,
                                         {static_cast<std::int64_t>(scale.factors.size())},
                                         std::as_bytes(std::span(scale.factors))));
  }

  const onnx::Model& model_;
  const Origins& origins_;
  Types types_;
  Weights weights_;
  std::unordered_map<std::shared_ptr<const onnx::Formula>, Part> parts_;
  std::string part_texts_;                   // elements of JSON
  std::map<std::string, std::string> tied_;  // other names of weights, and theirs
  std::string made_, fixed_;                 // entries of JSON
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
