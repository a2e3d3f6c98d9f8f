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

  void add(const Cost& other) {
    nodes += other.nodes;
    multiply_adds += other.multiply_adds;
    bytes += other.bytes;
    unknown += other.unknown;
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
  Costs(const Model& model, const DimSizes& sizes) : bindings_(bindings_of(model, sizes)) {}

  Cost of(const Node* node) const {
    Cost cost{1, 0, 0, 0};
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

  Bindings bindings_;
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

std::string row_text(const std::string& label, const Cost& cost) {
  return fmt::format("{:<48} {:>6} nodes {:>12.3f} M {:>10}\n", label, cost.nodes,
                     static_cast<double>(cost.multiply_adds) / 1e6, viewer::size_text(cost.bytes));
}

void add_modules(const viewer::ModuleTree& module, const Costs& costs, int level, int depth,
                 std::string& text) {
  if (level > depth) return;
  for (const viewer::ModuleTree& child : module.children) {
    const std::string type =
        child.type.empty() ? "" : " (" + child.type.substr(child.type.rfind('.') + 1) + ")";
    text += row_text(std::string(static_cast<std::size_t>(level) * 2, ' ') + child.name + type,
                     cost_of(child, costs));
    add_modules(child, costs, level + 1, depth, text);
  }
}

std::string members(const Cost& cost) {
  return fmt::format("\"nodes\": {}, \"multiply_adds\": {}, \"bytes\": {}, \"unknown\": {}",
                     cost.nodes, cost.multiply_adds, cost.bytes, cost.unknown);
}

void add_modules_json(const viewer::ModuleTree& module, const Costs& costs,
                      std::vector<std::string>& items) {
  for (const viewer::ModuleTree& child : module.children) {
    items.push_back(fmt::format("{{\"name\": {}, {}}}", json_string(child.path),
                                members(cost_of(child, costs))));
    add_modules_json(child, costs, items);
  }
}

}  // namespace

std::string cost_text(Model& model, const DimSizes& sizes, int depth) {
  onnx::infer_types(model);
  const Costs costs(model, sizes);
  const ByOperator operators = operators_by_cost(model, costs);
  const Cost total = total_of(operators);
  std::string text = "cost: multiply-adds in millions, bytes read and written\n";
  text += row_text("  all", total);
  if (total.unknown != 0)
    text +=
        fmt::format("  {} nodes have values of unknown size, which do not count\n", total.unknown);
  text += "by operator\n";
  for (const auto& [name, cost] : operators) text += row_text("  " + name, cost);
  const viewer::ModuleTree tree = viewer::module_tree(*model.graph);
  if (tree.children.empty() || depth == 0) return text;
  text += "by module\n";
  add_modules(tree, costs, 1, depth, text);
  return text;
}

std::string cost_json(Model& model, const DimSizes& sizes) {
  onnx::infer_types(model);
  const Costs costs(model, sizes);
  const ByOperator operators = operators_by_cost(model, costs);
  std::vector<std::string> rows, modules;
  for (const auto& [name, cost] : operators)
    rows.push_back(fmt::format("{{\"name\": {}, {}}}", json_string(name), members(cost)));
  add_modules_json(viewer::module_tree(*model.graph), costs, modules);
  return fmt::format("{{{}, \"operators\": [{}], \"modules\": [{}]}}", members(total_of(operators)),
                     fmt::join(rows, ", "), fmt::join(modules, ", "));
}

}  // namespace sardonyx::cli
