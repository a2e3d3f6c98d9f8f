// Arguments of nodes: tagged JSON as the program's own.
#include <complex>
#include <string>
#include <utility>

#include "frontends/pt2/enums.h"
#include "frontends/pt2/graph_reader.h"
#include "program/ir/target.h"

namespace sardonyx::pt2 {

using program::Argument;
using program::Enumerator;
using program::List;
using program::Value;
using program::ValueKind;

namespace {

Argument integer(Json json) { return symbolic::Expr(as_integer(json, "as_int")); }
Argument number(Json json) { return as_number(json, "as_float"); }
Argument flag(Json json) { return as_flag(json, "as_bool"); }
Argument text(Json json) { return std::string(as_text(json, "as_string")); }

std::string device(JsonObject json) {
  std::string name(text_member(json, "type"));
  if (const std::optional<Json> index = find_member(json, "index"))
    name += ":" + std::to_string(as_integer(*index, "index"));
  return name;
}

std::complex<double> complex(JsonObject json) {
  return {as_number(member(json, "real"), "real"), as_number(member(json, "imag"), "imag")};
}

}  // namespace

template <class Read>
List GraphReader::list(Json json, std::string_view what, const Read& read) {
  const JsonArray array = as_array(json, what);
  List items;
  items.reserve(array.size());
  for (const Json item : array) items.push_back(read(item));
  return items;
}

Argument GraphReader::argument(Json json, Scope& scope) {
  const auto [tag, held] = as_tagged(json, "an argument");
  const auto as_tensor = [&](Json item) { return tensor(item, scope); };
  const auto as_optional = [&](Json item) { return optional_tensor(item, scope); };
  const auto as_symbolic = [&](Json item) { return symbolic(item, scope); };

  if (tag == "as_tensor") return tensor(held, scope);
  if (tag == "as_int") return integer(held);
  if (tag == "as_ints") return list(held, tag, integer);
  if (tag == "as_none") return {};
  if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool")
    return symbolic(held, scope);
  if (tag == "as_sym_ints" || tag == "as_sym_floats" || tag == "as_sym_bools")
    return list(held, tag, as_symbolic);
  if (tag == "as_tensors") return list(held, tag, as_tensor);
  if (tag == "as_float") return number(held);
  if (tag == "as_floats") return list(held, tag, number);
  if (tag == "as_bool") return flag(held);
  if (tag == "as_bools") return list(held, tag, flag);
  if (tag == "as_string") return text(held);
  if (tag == "as_strings") return list(held, tag, text);
  if (tag == "as_scalar_type") return dtype_of(as_integer(held, tag));
  if (tag == "as_memory_format") return Enumerator{memory_format_of(as_integer(held, tag))};
  if (tag == "as_layout") return Enumerator{layout_of(as_integer(held, tag))};
  if (tag == "as_device") return Enumerator{device(as_object(held, tag))};
  if (tag == "as_optional_tensor") return optional_tensor(held, scope);
  if (tag == "as_optional_tensors") return list(held, tag, as_optional);
  if (tag == "as_graph") return body(as_object(held, tag));
  if (tag == "as_complex") return complex(as_object(held, tag));
  if (tag == "as_custom_obj") {
    const JsonObject object = as_object(held, tag);
    const std::string_view name = text_member(object, "name");
    if (scope.contains(name)) return value(name, scope);
    const std::optional<Json> type = find_member(object, "class_fqn");
    return program::Opaque{type ? std::string(as_text(*type, "class_fqn")) : std::string(name)};
  }
  if (tag == "as_operator") return program::Opaque{program::resolve_target(as_text(held, tag))};
  if (tag == "as_nested_tensors") {
    return list(held, tag, [&](Json inner) { return Argument(list(inner, tag, as_tensor)); });
  }
  if (tag == "as_int_lists")
    return list(held, tag, [&](Json inner) { return Argument(list(inner, tag, integer)); });
  if (tag == "as_float_lists")
    return list(held, tag, [&](Json inner) { return Argument(list(inner, tag, number)); });
  if (tag == "as_string_to_argument") return program::Opaque{"a dictionary"};
  base::fail("SX1105", "the argument tag '" + std::string(tag) + "' is unknown",
             "the file was written by a newer PyTorch than this build knows");
}

Argument GraphReader::value(std::string_view name, Scope& scope) {
  const auto found = scope.find(name);
  if (found == scope.end())
    base::fail("SX1206", "the program says nothing of its value '" + std::string(name) + "'");
  Value* held = found->second;
  if (held->kind != ValueKind::kTensor && held->expr.known()) return held->expr;
  return held;
}

Argument GraphReader::tensor(Json json, Scope& scope) {
  return value(text_member(as_object(json, "as_tensor"), "name"), scope);
}

Argument GraphReader::optional_tensor(Json json, Scope& scope) {
  const Tagged tagged = as_tagged(json, "as_optional_tensor");
  return tagged.tag == "as_none" ? Argument() : tensor(tagged.value, scope);
}

Argument GraphReader::symbolic(Json json, Scope& scope) {
  const auto [tag, held] = as_tagged(json, "a symbolic number");
  if (tag == "as_name") return value(as_text(held, tag), scope);
  if (tag == "as_int") return integer(held);
  if (tag == "as_float") return number(held);
  if (tag == "as_bool") return flag(held);
  wrong_shape(tag, "a kind of symbolic number");
}

Argument GraphReader::body(JsonObject graph_argument) {
  Scope scope;
  std::string name(text_member(graph_argument, "name"));
  return read(object_member(graph_argument, "graph"), std::move(name), scope);
}

}  // namespace sardonyx::pt2
