// Metadata of values and nodes: symbolic sizes, tensor metadata, source locations.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/pt2/json.h"
#include "program/ir/program.h"

namespace sardonyx::pt2 {

class Metadata {
 public:
  explicit Metadata(program::Program& program) : program_(program) {}

  // Of {"as_int": 3} or {"as_expr": {"expr_str": "..."}}; the same for floats and bools.
  symbolic::Expr number(Json json);
  // dtype, shape and strides of a "tensor_meta" object.
  void tensor(Json json, program::Value& value);
  // Null when the node's metadata says nothing of where it came from.
  const program::Source* source(JsonObject metadata);

 private:
  symbolic::Expr expression(std::string_view text);

  struct PlaceHash {
    std::size_t operator()(const std::pair<std::string_view, std::string_view>& key) const;
  };

  program::Program& program_;
  // A program has a handful of distinct expressions, and neighbors share their source.
  std::unordered_map<std::string_view, symbolic::Expr> expressions_;
  std::unordered_map<std::pair<std::string_view, std::string_view>, const program::Source*,
                     PlaceHash>
      sources_;
};

// "key,path,type;key,path,type", as metadata gives it; commas inside of parentheses or brackets
// belong to the path ("layers.slice(None, 2, None).0").
std::vector<program::ModuleFrame> module_frames(std::string_view text);

}  // namespace sardonyx::pt2
