#include "frontends/pt2/metadata.h"

#include <functional>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "frontends/pt2/enums.h"
#include "program/ir/strides.h"

namespace sardonyx::pt2 {
namespace {

using symbolic::Expr;

// The positions of the commas outside of brackets.
std::vector<std::size_t> top_level_commas(std::string_view text) {
  std::vector<std::size_t> commas;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (text[i] == ',' && depth == 0) commas.push_back(i);
  }
  return commas;
}

}  // namespace

std::size_t Metadata::PlaceHash::operator()(
    const std::pair<std::string_view, std::string_view>& key) const {
  const std::hash<std::string_view> hash;
  return hash(key.first) * 31 + hash(key.second);
}

Expr Metadata::expression(std::string_view text) {
  const auto [found, is_new] = expressions_.try_emplace(text);
  if (is_new) found->second = symbolic::parse_srepr(*program_.pool, text);
  return found->second;
}

Expr Metadata::number(Json json) {
  const Tagged tagged = as_tagged(json, "a size");
  if (tagged.tag == "as_int") return Expr(as_integer(tagged.value, "as_int"));
  if (tagged.tag == "as_expr")
    return expression(text_member(as_object(tagged.value, "as_expr"), "expr_str"));
  if (tagged.tag == "as_bool") return Expr(as_flag(tagged.value, "as_bool") ? 1 : 0);
  if (tagged.tag == "as_float") return program_.pool->real(as_number(tagged.value, "as_float"));
  wrong_shape(tagged.tag, "a kind of number");
}

void Metadata::tensor(Json json, program::Value& value) {
  for (const auto field : as_object(json, "tensor_meta")) {
    if (field.key == "dtype") {
      value.dtype = dtype_of(as_integer(field.value, "dtype"));
    } else if (field.key == "layout") {
      const std::string layout = layout_of(as_integer(field.value, "layout"));
      if (layout.starts_with("sparse")) {
        base::fail("SX1221", "the program holds a tensor of layout torch." + layout,
                   "make it dense before export, by to_dense()");
      }
    } else if (field.key == "sizes" || field.key == "strides") {
      std::vector<Expr>& into = field.key == "sizes" ? value.shape : value.strides;
      const JsonArray sizes = as_array(field.value, field.key);
      into.clear();
      into.reserve(sizes.size());
      for (const Json size : sizes) into.push_back(number(size));
    }
  }
  program::drop_contiguous_strides(value);
}

const program::Source* Metadata::source(JsonObject metadata) {
  std::string_view modules;
  std::string_view trace;
  for (const auto field : metadata) {
    if (field.key == "nn_module_stack") modules = as_text(field.value, field.key);
    if (field.key == "stack_trace") trace = as_text(field.value, field.key);
  }
  if (modules.empty() && trace.empty()) return nullptr;
  const auto [found, is_new] = sources_.try_emplace({modules, trace}, nullptr);
  if (is_new) {
    program::Source source;
    source.modules = module_frames(modules);
    source.stack_trace = trace;
    found->second = program_.intern_source(std::move(source));
  }
  return found->second;
}

std::vector<program::ModuleFrame> module_frames(std::string_view text) {
  std::vector<program::ModuleFrame> frames;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::vector<std::size_t> commas = top_level_commas(entry);
    if (commas.size() < 2) continue;
    const std::size_t first = commas.front() + 1;
    const std::size_t last = commas.back();
    frames.push_back({std::string(entry.substr(first, last - first)),
                      std::string(entry.substr(last + 1)),
                      program::call_number(entry.substr(0, commas.front()))});
  }
  return frames;
}

}  // namespace sardonyx::pt2
