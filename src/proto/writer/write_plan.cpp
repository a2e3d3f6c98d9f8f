#include "proto/writer/write_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "onnx/graph/names.h"

namespace sardonyx::proto {
namespace {

using onnx::Graph;
using onnx::Model;
using onnx::Node;
using onnx::ValueInfo;

bool is_quantizer(const Node* node) {
  return node->op_type == "DequantizeLinear" || node->op_type == "QuantizeLinear";
}

// Bodies of operators that are not the standard's may be run by themselves: the preview operator
// FlexAttention is, by onnx's reference evaluator. They hold what they read.
bool runs_apart(const Node* node) { return node->op == onnx::kUnknownOp; }

bool is_initializer(const ValueInfo* value) {
  return value != nullptr && value->constant != nullptr && value->producer == nullptr;
}

bool is_never(const ValueInfo*) { return false; }

bool is_inner_number(const ValueInfo* value) {
  return is_initializer(value) && !value->is_weight && !value->is_pinned;
}

bool is_inner(const ValueInfo* value) { return is_initializer(value) && !value->is_pinned; }

// Which constants stand in the bodies whose quantizers read them. Before version 4 of the format
// initializers are inputs, of which bodies of an If have none.
bool (*which_apart(const Model& model, const WriteOptions& options))(const ValueInfo*) {
  if (model.ir_version > 0 && model.ir_version < 4) return is_never;
  const bool all = options.include_initializers && !options.keep_initializers_as_inputs;
  return all ? is_inner : is_inner_number;
}

// The constants that a graph and the bodies inside it read, each once.
class ConstantsRead {
 public:
  // `apart`: what bodies hold of that which their quantizers read, or all nodes of a body that runs
  // apart; it is not among them.
  ConstantsRead(const Model& model, bool (*apart)(const ValueInfo*))
      : seen_(model.value_count(), false), apart_(apart) {}

  void visit(const Graph& graph, bool is_apart = false) {
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      const bool reads_inner = is_apart || (graph.parent != nullptr && is_quantizer(node));
      for (const ValueInfo* input : node->inputs)
        if (!reads_inner || !apart_(input)) add(input);
      for (const Graph* body : onnx::bodies(node)) visit(*body, is_apart || runs_apart(node));
    }
    for (const ValueInfo* output : graph.outputs)
      if (!is_apart || !apart_(output)) add(output);
  }

  // Constants that nothing reads, but something which is carried through names.
  void add_pinned(const Model& model) {
    for (const ValueInfo* value : model.initializers)
      if (value->is_pinned) add(value);
  }

  // In the order of the model's initializers, then of first use.
  std::vector<const ValueInfo*> in_order(const Model& model) {
    std::vector<const ValueInfo*> ordered;
    for (const ValueInfo* value : model.initializers) {
      if (!seen_[value->id]) continue;
      ordered.push_back(value);
      seen_[value->id] = false;
    }
    for (const ValueInfo* value : values_) {
      if (seen_[value->id]) ordered.push_back(value);
    }
    return ordered;
  }

 private:
  void add(const ValueInfo* value) {
    if (!is_initializer(value) || seen_[value->id]) return;
    seen_[value->id] = true;
    values_.push_back(value);
  }

  std::vector<bool> seen_;  // by id
  bool (*apart_)(const ValueInfo*);
  std::vector<const ValueInfo*> values_;
};

// Which constants each body holds for its quantizers, or for all nodes where it runs apart.
class InnerConstants {
 public:
  InnerConstants(const Model& model, const std::vector<const ValueInfo*>& outer,
                 bool (*apart)(const ValueInfo*), Plan& plan)
      : apart_(apart), plan_(plan), count_(model.value_count(), 0) {
    for (const ValueInfo* value : outer) count_[value->id] = 1;
  }

  void visit(const Graph& graph, bool is_apart = false) {
    std::vector<const ValueInfo*> held;
    const auto add = [&](const ValueInfo* value) {
      if (apart_(value) && std::ranges::find(held, value) == held.end()) held.push_back(value);
    };
    for (const Node* node = graph.first; node != nullptr; node = node->next)
      if (is_apart || (graph.parent != nullptr && is_quantizer(node)))
        std::ranges::for_each(node->inputs, add);
    if (is_apart) std::ranges::for_each(graph.outputs, add);
    for (const ValueInfo* value : held) hold(graph, *value);
    for (const Node* node = graph.first; node != nullptr; node = node->next)
      for (const Graph* body : onnx::bodies(node)) visit(*body, is_apart || runs_apart(node));
    // Bodies beside this one may have the same names.
    for (const ValueInfo* value : held) --count_[value->id];
  }

 private:
  void hold(const Graph& graph, const ValueInfo& value) {
    std::string name = value.name;
    // A name that the graphs around have is not hidden.
    if (count_[value.id] > 0)
      for (int i = count_[value.id]; graph.names->has(name); ++i)
        name = fmt::format("{}_inner_{}", value.name, i);
    ++count_[value.id];
    const auto [place, is_new] = plan_.inner_of.try_emplace(&graph, plan_.inner.size());
    if (is_new) plan_.inner.emplace_back();
    plan_.inner[place->second].push_back(
        {{&value, false, 0, value.constant->byte_count()}, std::move(name)});
  }

  bool (*apart_)(const ValueInfo*);
  Plan& plan_;
  std::vector<int> count_;  // by id: the graphs around that have it
};

void check_types(const std::vector<const ValueInfo*>& values) {
  for (const ValueInfo* value : values) {
    if (value->constant->dtype != base::DType::kUndefined) continue;
    base::fail("SX1605", fmt::format("the constant '{}' has no element type", value->name));
  }
}

void check_data(const std::vector<Placement>& initializers) {
  constexpr std::size_t kNamed = 5;
  std::string names;
  std::size_t count = 0;
  for (const Placement& placement : initializers) {
    if (!lacks_data(data_of(*placement.value)) || ++count > kNamed) continue;
    names += (names.empty() ? "'" : ", '") + placement.value->name + "'";
  }
  if (count == 0) return;
  if (count > kNamed) names += fmt::format(" and {} more", count - kNamed);
  base::fail("SX1604", fmt::format("weights have no data: {}", names),
             "capture the model with real weights, supply them before saving, or save with "
             "include_initializers=False");
}

void check_inner(const Plan& plan) {
  for (const std::vector<Inner>& held : plan.inner) {
    std::vector<const ValueInfo*> values;
    std::vector<Placement> placements;
    for (const Inner& each : held) {
      values.push_back(each.placement.value);
      placements.push_back(each.placement);
    }
    check_types(values);
    check_data(placements);
  }
}

// Small tensors are not mapped on their own; a page keeps them from straddling more than needed.
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kWorthMapping = std::int64_t{1} << 20;

std::int64_t aligned(std::int64_t offset, std::int64_t length, const WriteOptions& options) {
  const std::int64_t wanted =
      length >= kWorthMapping ? options.alignment : std::min(options.alignment, kPage);
  const std::int64_t alignment = std::max<std::int64_t>(wanted, 1);
  return (offset + alignment - 1) / alignment * alignment;
}

// Whether the elements are bytes in memory or a file as they would be written.
bool is_written_directly(const onnx::Tensor& tensor) {
  return tensor.dtype != base::DType::kString && tensor.contiguous() && tensor.is_materialized();
}

void leave_in_place(Placement& placement, const WriteOptions& options) {
  const onnx::Tensor& tensor = data_of(*placement.value);
  if (placement.length < options.size_threshold || placement.length == 0 ||
      !is_written_directly(tensor))
    return;
  const auto place = base::place_in_file({tensor.data, static_cast<std::size_t>(placement.length)});
  if (!place) return;
  const auto file = options.in_place.find(place->path);
  if (file == options.in_place.end()) return;
  placement.external = true;
  placement.offset = place->offset;
  placement.location = file->second;
}

}  // namespace

const onnx::Tensor& data_of(const ValueInfo& value) {
  return value.constant != nullptr ? *value.constant : *value.initial;
}

bool lacks_data(const onnx::Tensor& tensor) {
  if (tensor.missing) return true;
  if (tensor.dtype == base::DType::kString)
    return std::cmp_not_equal(tensor.strings.size(), tensor.element_count());
  return tensor.data == nullptr && tensor.element_count() != 0;
}

Plan make_plan(const Model& model, const WriteOptions& options) {
  Plan plan;
  const auto apart = which_apart(model, options);
  ConstantsRead main(model, apart);
  main.visit(*model.graph);
  main.add_pinned(model);
  const std::vector<const ValueInfo*> constants = main.in_order(model);
  check_types(constants);
  InnerConstants(model, constants, apart, plan).visit(*model.graph);
  check_inner(plan);
  for (const ValueInfo* value : constants) {
    if (options.include_initializers || !value->is_weight)
      plan.initializers.push_back({value, false, 0, value->constant->byte_count()});
    // Before version 4 of the format every initializer had to be an input.
    const bool listed = (options.keep_initializers_as_inputs && value->is_weight) ||
                        (model.ir_version > 0 && model.ir_version < 4);
    const std::vector<ValueInfo*>& inputs = model.graph->inputs;
    if (listed && std::find(inputs.begin(), inputs.end(), value) == inputs.end())
      plan.weight_inputs.push_back(value);
  }
  for (const ValueInfo* input : model.graph->inputs) {
    if (input->initial != nullptr && options.include_initializers)
      plan.initializers.push_back({input, false, 0, input->initial->byte_count()});
  }
  check_data(plan.initializers);
  if (!options.in_place.empty()) {
    for (Placement& placement : plan.initializers) leave_in_place(placement, options);
    for (std::vector<Inner>& held : plan.inner)
      for (Inner& each : held) leave_in_place(each.placement, options);
  }

  for (const onnx::Function& function : model.functions) {
    ConstantsRead read(model, is_never);
    read.visit(*function.body);
    std::vector<const ValueInfo*> inside = read.in_order(model);
    check_types(inside);
    std::vector<Placement> all;
    all.reserve(inside.size());
    for (const ValueInfo* value : inside) all.push_back({value, false, 0, 0});
    check_data(all);
    if (!inside.empty()) plan.function_constants.emplace(function.body, std::move(inside));
  }
  return plan;
}

namespace {

// Weights over the same bytes (reshaped ties) take one place.
using Places = std::map<std::pair<const std::byte*, std::int64_t>, std::int64_t>;

void move_to_data_file(Placement& placement, Plan& plan, const WriteOptions& options,
                       Places& places) {
  const onnx::Tensor& tensor = data_of(*placement.value);
  if (placement.external || tensor.dtype == base::DType::kString ||
      placement.length < options.size_threshold || placement.length == 0)
    return;
  placement.external = true;
  placement.offset = aligned(plan.data_size, placement.length, options);
  if (is_written_directly(tensor)) {
    const auto [place, made] =
        places.try_emplace({tensor.data, placement.length}, placement.offset);
    placement.offset = place->second;
    if (!made) return;
  }
  plan.data.push_back(placement);
  plan.data_size = placement.offset + placement.length;
}

}  // namespace

void move_to_data_file(Plan& plan, const WriteOptions& options, std::string location,
                       bool of_bodies) {
  plan.location = std::move(location);
  Places places;
  for (Placement& placement : plan.initializers)
    move_to_data_file(placement, plan, options, places);
  if (!of_bodies) return;
  for (std::vector<Inner>& held : plan.inner)
    for (Inner& each : held) move_to_data_file(each.placement, plan, options, places);
}

}  // namespace sardonyx::proto
