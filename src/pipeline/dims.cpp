#include "pipeline/dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/dim_bounds.h"
#include "symbolic/expr.h"

namespace sardonyx::pipeline {
namespace {

using symbolic::Expr;

// The symbols of the inputs' shapes, each once.
std::vector<Expr> dims_of(const onnx::Graph& graph) {
  std::vector<Expr> dims;
  for (const onnx::ValueInfo* input : graph.inputs) {
    for (const Expr& size : input->shape) {
      if (!size.known()) continue;
      for (const Expr& symbol : symbolic::symbols_of(size))
        if (std::ranges::find(dims, symbol) == dims.end()) dims.push_back(symbol);
    }
  }
  return dims;
}

std::string described(Expr dim) {
  const symbolic::Range range = symbolic::range(dim);
  if (range.high == std::numeric_limits<std::int64_t>::max())
    return fmt::format("{} (from {})", dim.str(), range.low);
  return fmt::format("{} ({} to {})", dim.str(), range.low, range.high);
}

[[noreturn]] void refuse(const std::string& message, const std::vector<Expr>& dims) {
  std::vector<std::string> known;
  for (const Expr& dim : dims) known.push_back(described(dim));
  base::fail("SX1019", message,
             known.empty() ? std::string("the inputs have no dynamic dimension")
                           : fmt::format("the dynamic dimensions are {}", fmt::join(known, ", ")));
}

// The dimension of that name, which may be that number.
Expr dim_for(const std::string& name, std::int64_t number, const std::vector<Expr>& dims) {
  const auto found = std::ranges::find(dims, name, &Expr::str);
  if (found == dims.end()) refuse(fmt::format("there is no dynamic dimension `{}`", name), dims);
  const symbolic::Range range = symbolic::range(*found);
  if (number < range.low || number > range.high)
    refuse(fmt::format("{} cannot be {}, which is outside of its range", name, number), dims);
  return *found;
}

struct Fixed {
  Expr dim;
  std::int64_t number;
};

Expr substituted(Expr size, const std::vector<Fixed>& all) {
  for (const Fixed& each : all)
    if (size.known()) size = symbolic::substitute(size, each.dim, each.number);
  return size;
}

// Files have expressions as names: "2*length".
bool is_expression(Expr size) {
  return size.known() && size.is_symbol() &&
         size.name().find_first_of("+*/-(") != std::string_view::npos;
}

// What the name means with the numbers; the symbol itself where it depends on none of them.
Expr read_and_substituted(Expr symbol, const std::vector<Fixed>& all, symbolic::Pool& pool) {
  try {
    const Expr meant = symbolic::parse_srepr(pool, symbol.name());
    const Expr result = substituted(meant, all);
    return result == meant || !result.known() ? symbol : result;
  } catch (const base::Error&) {
    return symbol;
  }
}

void substitute(std::vector<Expr>& sizes, const std::vector<Fixed>& all, symbolic::Pool& pool) {
  for (Expr& size : sizes) {
    size = substituted(size, all);
    if (is_expression(size)) size = read_and_substituted(size, all, pool);
  }
}

void substitute(onnx::ValueInfo* value, const std::vector<Fixed>& all, symbolic::Pool& pool) {
  if (value == nullptr) return;
  substitute(value->shape, all, pool);
  substitute(value->contents, all, pool);
}

void substitute(const onnx::Graph& graph, const std::vector<Fixed>& all, symbolic::Pool& pool) {
  for (onnx::ValueInfo* input : graph.inputs) substitute(input, all, pool);
  for (onnx::Node* node = graph.first; node != nullptr; node = node->next) {
    for (onnx::ValueInfo* output : node->outputs) substitute(output, all, pool);
    for (const onnx::Graph* body : onnx::bodies(node)) substitute(*body, all, pool);
  }
}

}  // namespace

void set_dims(onnx::Model& model, const DimOptions& options) {
  if (options.fixed.empty() && options.max.empty()) return;
  const std::vector<Expr> dims = dims_of(*model.graph);
  for (const Expr dim : dims) onnx::read_bounds(model, dim);
  for (const auto& [name, number] : options.max) {
    const Expr dim = dim_for(name, number, dims);
    model.pool->constrain(dim, {symbolic::range(dim).low, number});
    onnx::write_bounds(model, dim);
  }
  std::vector<Fixed> all;
  for (const auto& [name, number] : options.fixed) {
    all.push_back({dim_for(name, number, dims), number});
    onnx::erase_bounds(model, all.back().dim);
  }
  substitute(*model.graph, all, *model.pool);
}

}  // namespace sardonyx::pipeline
