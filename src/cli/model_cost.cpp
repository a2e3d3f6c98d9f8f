#include "cli/model_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "onnx/infer/infer_model.h"
#include "sardonyx/report.h"
#include "symbolic/expr.h"
#include "viewer/measured_nodes.h"
#include "viewer/model_texts.h"
#include "viewer/modules.h"

namespace sardonyx::cli {
namespace {

using onnx::Graph;
using onnx::Model;
using onnx::Node;
using onnx::ValueInfo;

// Of a node that runs once; bodies of loops run once here.
struct Cost {
  std::int64_t nodes = 0;
  std::int64_t multiply_adds = 0;
  std::int64_t bytes = 0;    // that are read and written, weights included
  std::int64_t unknown = 0;  // nodes with a size that is not known
  double milliseconds = 0;   // in a runtime, where that was measured

  void add(const Cost& other) {
    nodes += other.nodes;
    multiply_adds += other.multiply_adds;
    bytes += other.bytes;
    unknown += other.unknown;
    milliseconds += other.milliseconds;
  }
};

using Bindings = std::vector<symbolic::Binding>;

Bindings bindings_of(const Model& model, const DimSizes& sizes) {
  Bindings bindings;
  DimSizes unused = sizes;
  for (const ValueInfo* input : model.graph->inputs) {
    for (const symbolic::Expr dim : input->shape) {
      if (!dim.known() || dim.constant()) continue;
      const auto found = sizes.find(dim.str());
      bindings.push_back({dim, found == sizes.end() ? 1 : found->second});
      unused.erase(dim.str());
    }
  }
  if (!unused.empty())
    base::fail("SX1001",
               fmt::format("the model has no dynamic dimension '{}'", unused.begin()->first),
               fmt::format("it has {}", fmt::join(viewer::dynamic_dims(model), ", ")));
  return bindings;
}

using Dims = std::vector<std::int64_t>;

class Costs {
 public:
  Costs(const Model& model, const DimSizes& sizes, const NodeTimes* times)
      : bindings_(bindings_of(model, sizes)), has_times_(times != nullptr) {
    if (times == nullptr) return;
    std::vector<const Node*> nodes;
    add_nodes(*model.graph, nodes);
    times_ = viewer::numbers_of_nodes(*times, nodes, true, &rest_);
  }

  bool has_times() const { return has_times_; }
  // Of nodes that the runtime made and that are of none in the model.
  double rest() const { return rest_; }

  Cost of(const Node* node) const {
    Cost cost{1};
    if (const auto time = times_.find(node); time != times_.end()) cost.milliseconds = time->second;
    bool is_known = true;
    for (const auto* values : {&node->inputs, &node->outputs}) {
      for (const ValueInfo* value : *values) {
        if (value == nullptr) continue;
        const auto dims = dims_of(value);
        is_known &= dims.has_value();
        if (dims) cost.bytes += base::byte_size(value->dtype, product(*dims));
      }
    }
    if (is_known) cost.multiply_adds = multiply_adds(node);
    cost.unknown = is_known ? 0 : 1;
    return cost;
  }

  // With what its bodies cost.
  Cost all_of(const Node* node) const {
    Cost cost = of(node);
    for (const Graph* body : onnx::bodies(node))
      for (const Node* inner = body->first; inner != nullptr; inner = inner->next)
        cost.add(all_of(inner));
    return cost;
  }

 private:
  std::optional<Dims> dims_of(const ValueInfo* value) const {
    if (value->constant != nullptr) return value->constant->dims;
    if (!value->has_rank || value->type_kind != onnx::TypeKind::kTensor) return std::nullopt;
    Dims dims;
    for (const symbolic::Expr dim : value->shape) {
      const auto size = dim.known() ? symbolic::evaluate(dim, bindings_) : std::nullopt;
      if (!size) return std::nullopt;
      dims.push_back(*size);
    }
    return dims;
  }

  static std::int64_t product(const Dims& dims) {
    std::int64_t result = 1;
    for (const std::int64_t dim : dims) result *= dim;
    return result;
  }

  std::int64_t multiply_adds(const Node* node) const {
    const std::string_view type = node->op_type;
    const auto dims = [&](std::size_t input) {
      const ValueInfo* value = node->input(input);
      return value == nullptr ? Dims() : dims_of(value).value_or(Dims());
    };
    const std::int64_t results =
        node->output() == nullptr ? 0 : product(dims_of(node->output()).value_or(Dims{0}));
    if (type == "Conv" || type == "ConvInteger" || type == "FusedConv" || type == "QLinearConv") {
      const Dims weight = dims(type == "QLinearConv" ? 3 : 1);
      return weight.empty() || weight[0] == 0 ? 0 : results * (product(weight) / weight[0]);
    }
    if (type == "ConvTranspose") {
      const Dims weight = dims(1);
      return weight.empty() || weight[0] == 0 ? 0
                                              : product(dims(0)) * (product(weight) / weight[0]);
    }
    if (type == "MatMulNBits") return results * node->int_or("K", 0);
    if (type == "MatMul" || type == "MatMulInteger" || type == "FusedMatMul" ||
        type == "QLinearMatMul" || type == "Gemm" || type == "QGemm") {
      const Dims a = dims(0);
      if (a.empty()) return 0;
      const bool is_transposed = node->int_or("transA", 0) != 0 && a.size() > 1;
      return results * a[a.size() - (is_transposed ? 2 : 1)];
    }
    if (type == "LSTM" || type == "GRU" || type == "RNN") {
      const Dims x = dims(0);
      return x.size() == 3 ? x[0] * x[1] * (product(dims(1)) + product(dims(2))) : 0;
    }
    // Each element of a query is read for each key, and once more for its weight.
    if (type == "Attention" && node->domain.empty() && dims(1).size() > 2) {
      const Dims key = dims(1);
      return 2 * product(dims(0)) * key[key.size() - 2];
    }
    return 0;
  }

  static void add_nodes(const Graph& graph, std::vector<const Node*>& nodes) {
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      nodes.push_back(node);
      for (const Graph* body : onnx::bodies(node)) add_nodes(*body, nodes);
    }
  }

  Bindings bindings_;
  bool has_times_;
  double rest_ = 0;
  viewer::NodeNumbers times_;
};

using ByOperator = std::vector<std::pair<std::string, Cost>>;

void add_operators(const Graph& graph, const Costs& costs, std::map<std::string, Cost>& found) {
  for (const Node* node = graph.first; node != nullptr; node = node->next) {
    found[viewer::operator_name(*node)].add(costs.of(node));
    for (const Graph* body : onnx::bodies(node)) add_operators(*body, costs, found);
  }
}

// The most multiply-adds first, then the most bytes.
ByOperator operators_by_cost(const Model& model, const Costs& costs) {
  std::map<std::string, Cost> found;
  add_operators(*model.graph, costs, found);
  ByOperator sorted(found.begin(), found.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    return std::pair(a.second.multiply_adds, a.second.bytes) >
           std::pair(b.second.multiply_adds, b.second.bytes);
  });
  return sorted;
}

Cost total_of(const ByOperator& operators) {
  Cost total;
  for (const auto& each : operators) total.add(each.second);
  return total;
}

Cost cost_of(const viewer::ModuleTree& module, const Costs& costs) {
  Cost cost;
  for (const Node* node : module.nodes) cost.add(costs.all_of(node));
  for (const viewer::ModuleTree& child : module.children) cost.add(cost_of(child, costs));
  return cost;
}

std::string row_text(const std::string& label, const Cost& cost, bool has_times) {
  std::string text =
      fmt::format("{:<48} {:>6} nodes {:>12.3f} M {:>10}", label, cost.nodes,
                  static_cast<double>(cost.multiply_adds) / 1e6, viewer::size_text(cost.bytes));
  if (has_times) text += fmt::format(" {:>10.3f} ms", cost.milliseconds);
  return text + "\n";
}

// A row of the table by module.
struct ModuleCost {
  int level;
  std::string label, path;
  Cost cost;
};

void add_modules(const viewer::ModuleTree& module, const Costs& costs, int level,
                 std::vector<ModuleCost>& found) {
  for (const viewer::ModuleTree& child : module.children) {
    const std::string type =
        child.type.empty() ? "" : " (" + child.type.substr(child.type.rfind('.') + 1) + ")";
    found.push_back({level,
                     std::string(static_cast<std::size_t>(level) * 2, ' ') + child.name + type,
                     child.path, cost_of(child, costs)});
    add_modules(child, costs, level + 1, found);
  }
}

// All that is known of the cost of a model.
struct Found {
  Cost total;
  bool has_times;
  double rest;
  ByOperator operators;
  std::vector<ModuleCost> modules;

  Found(const CostedModel& costed, const DimSizes& sizes) {
    onnx::infer_types(costed.model);
    const Costs costs(costed.model, sizes, costed.times);
    has_times = costs.has_times();
    rest = costs.rest();
    operators = operators_by_cost(costed.model, costs);
    total = total_of(operators);
    total.milliseconds += rest;
    add_modules(viewer::module_tree(*costed.model.graph), costs, 1, modules);
  }
};

std::string members(const Cost& cost, bool has_times) {
  std::string text =
      fmt::format("\"nodes\": {}, \"multiply_adds\": {}, \"bytes\": {}, \"unknown\": {}",
                  cost.nodes, cost.multiply_adds, cost.bytes, cost.unknown);
  if (has_times) text += fmt::format(", \"milliseconds\": {:.6g}", cost.milliseconds);
  return text;
}

// Of the model before and the one after.
std::string change_text(const std::string& label, const Cost& a, const Cost& b, bool has_times) {
  std::string text = fmt::format(
      "{:<40} {:>11} nodes {:>21} M {:>21}", label, fmt::format("{} -> {}", a.nodes, b.nodes),
      fmt::format("{:.3f} -> {:.3f}", static_cast<double>(a.multiply_adds) / 1e6,
                  static_cast<double>(b.multiply_adds) / 1e6),
      fmt::format("{} -> {}", viewer::size_text(a.bytes), viewer::size_text(b.bytes)));
  if (has_times)
    text +=
        fmt::format(" {:>18} ms", fmt::format("{:.3f} -> {:.3f}", a.milliseconds, b.milliseconds));
  return text + "\n";
}

constexpr const char* kRest = "  (made by the runtime)";

// The rows of one table and those that only the other one has, by name.
template <typename Rows, typename KeyOf>
std::vector<std::pair<const typename Rows::value_type*, const typename Rows::value_type*>> paired(
    const Rows& a, const Rows& b, KeyOf key_of) {
  std::vector<std::pair<const typename Rows::value_type*, const typename Rows::value_type*>> rows;
  for (const auto& each : a) {
    const auto other = std::ranges::find(b, key_of(each), key_of);
    rows.emplace_back(&each, other == b.end() ? nullptr : &*other);
  }
  for (const auto& each : b)
    if (std::ranges::find(a, key_of(each), key_of) == a.end()) rows.emplace_back(nullptr, &each);
  return rows;
}

}  // namespace

std::string cost_text(const CostedModel& model, const DimSizes& sizes, int depth) {
  const Found found(model, sizes);
  std::string text = "cost: multiply-adds in millions, bytes read and written";
  text += found.has_times ? ", time in ONNX Runtime\n" : "\n";
  text += row_text("  all", found.total, found.has_times);
  if (found.total.unknown != 0)
    text += fmt::format("  {} nodes have values of unknown size, which do not count\n",
                        found.total.unknown);
  text += "by operator\n";
  for (const auto& [name, cost] : found.operators)
    text += row_text("  " + name, cost, found.has_times);
  if (found.rest > 0) text += row_text(kRest, Cost{.milliseconds = found.rest}, true);
  if (found.modules.empty() || depth == 0) return text;
  text += "by module\n";
  for (const ModuleCost& each : found.modules)
    if (each.level <= depth) text += row_text(each.label, each.cost, found.has_times);
  return text;
}

std::string cost_text(const CostedModel& before, const CostedModel& after, const DimSizes& sizes,
                      int depth) {
  const Found a(before, sizes), b(after, sizes);
  const bool has_times = a.has_times && b.has_times;
  const Cost none;
  std::string text = "cost, before and after: multiply-adds in millions, bytes read and written";
  text += has_times ? ", time in ONNX Runtime\n" : "\n";
  text += change_text("  all", a.total, b.total, has_times);
  text += "by operator\n";
  const auto operators =
      paired(a.operators, b.operators, [](const auto& each) -> const auto& { return each.first; });
  for (const auto& [one, two] : operators)
    text +=
        change_text("  " + (one != nullptr ? one : two)->first, one != nullptr ? one->second : none,
                    two != nullptr ? two->second : none, has_times);
  if (has_times)
    text += change_text(kRest, Cost{.milliseconds = a.rest}, Cost{.milliseconds = b.rest}, true);
  const auto modules =
      paired(a.modules, b.modules, [](const ModuleCost& each) -> const auto& { return each.path; });
  if (modules.empty() || depth == 0) return text;
  text += "by module\n";
  for (const auto& [one, two] : modules) {
    const ModuleCost& named = one != nullptr ? *one : *two;
    if (named.level > depth) continue;
    text += change_text(named.label, one != nullptr ? one->cost : none,
                        two != nullptr ? two->cost : none, has_times);
  }
  return text;
}

std::string cost_json(const CostedModel& model, const DimSizes& sizes) {
  const Found found(model, sizes);
  std::vector<std::string> rows, modules;
  for (const auto& [name, cost] : found.operators)
    rows.push_back(
        fmt::format("{{\"name\": {}, {}}}", json_string(name), members(cost, found.has_times)));
  for (const ModuleCost& each : found.modules)
    modules.push_back(fmt::format("{{\"name\": {}, {}}}", json_string(each.path),
                                  members(each.cost, found.has_times)));
  return fmt::format("{{{}, \"operators\": [{}], \"modules\": [{}]}}",
                     members(found.total, found.has_times), fmt::join(rows, ", "),
                     fmt::join(modules, ", "));
}

}  // namespace sardonyx::cli
