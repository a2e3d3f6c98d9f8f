// What an Emit remembers between nodes; known to the files that implement it only.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// Where a size can be read: dim `axis` of the value, or the value itself when axis is -1.
struct SizeSource {
  Value value;
  std::int64_t axis = 0;
  Expr expression;  // what stands there
};

// One graph that is being filled. What is found in an outer scope holds in the inner ones.
struct Scope {
  Graph* graph = nullptr;
  std::unordered_map<std::string, Values> nodes;                     // equal nodes, by content
  std::unordered_map<Expr, SizeSource, symbolic::ExprHash> sources;  // by whole expression
  std::unordered_map<Expr, std::vector<SizeSource>, symbolic::ExprHash> solvable;  // by symbol
  std::unordered_map<Expr, Value, symbolic::ExprHash> sizes;  // made already, int64 [1]
  // Symbols that mean something else here than outside.
  std::vector<Expr> rebound;

  bool rebinds(Expr expression) const {
    if (rebound.empty()) return false;
    return std::ranges::any_of(symbolic::symbols_of(expression), [this](Expr symbol) {
      return std::ranges::find(rebound, symbol) != rebound.end();
    });
  }
};

struct Emit::State {
  std::vector<Scope> scopes;  // innermost last
  const Origin* origin = nullptr;
  std::string name;
  std::unordered_map<std::string, std::int64_t> versions;  // of domains, as somebody named them
  std::vector<Expr> solving;  // symbols being solved for, so that no two wait for each other

  Scope& scope() { return scopes.back(); }

  const Values* find_node(const std::string& key) const {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (const auto found = scope->nodes.find(key); found != scope->nodes.end())
        return &found->second;
    return nullptr;
  }
  const SizeSource* find_source(Expr expression) const {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (const auto found = scope->sources.find(expression); found != scope->sources.end())
        return &found->second;
      else if (scope->rebinds(expression))
        return nullptr;
    return nullptr;
  }
  // Dims that are more than one symbol are read off a value that has them rather than computed.
  void add_compound_dims(Value value) {
    if (!value.has_rank()) return;
    const Shape& shape = value.shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].is_constant() || !shape[i].known() || shape[i].is_symbol()) continue;
      scope().sources.try_emplace(shape[i],
                                  SizeSource{value, static_cast<std::int64_t>(i), shape[i]});
    }
  }
  Value find_size(Expr expression) const {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (const auto found = scope->sizes.find(expression); found != scope->sizes.end())
        return found->second;
      else if (scope->rebinds(expression))
        return {};
    return {};
  }
};

// Whether the attribute may be left out: it says what holds without it.
bool is_default(const AttributeFormal& formal, const Attribute::Data& data);

// Attributes of a list that is not yet a node's.
inline const Attribute* find_attribute(std::span<const Attribute> attributes,
                                       std::string_view name) {
  for (const Attribute& attribute : attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

inline std::int64_t int_attribute(std::span<const Attribute> attributes, std::string_view name,
                                  std::int64_t otherwise) {
  const Attribute* found = find_attribute(attributes, name);
  if (found == nullptr) return otherwise;
  if (const auto* dtype = std::get_if<DType>(&found->data)) return static_cast<int>(*dtype);
  const auto* value = std::get_if<std::int64_t>(&found->data);
  return value == nullptr ? otherwise : *value;
}

inline const std::vector<std::int64_t>* ints_attribute(std::span<const Attribute> attributes,
                                                       std::string_view name) {
  const Attribute* found = find_attribute(attributes, name);
  return found == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->data);
}

}  // namespace sardonyx::onnx
