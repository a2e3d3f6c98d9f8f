#include "proto/metadata.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/stack_trace.h"

namespace sardonyx::proto {
namespace {

// As Python's repr() of a str without control characters.
void append_quoted(std::string& list, std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  list += list.size() > 1 ? ", " : "";
  list += quote;
  for (const char c : text) {
    if (c == quote || c == '\\') list += '\\';
    list += c;
  }
  list += quote;
}

// "aten::linear" is torch.ops.aten.linear.default.
std::string operator_path(std::string_view op) {
  std::string path(op);
  const std::size_t colons = path.find("::");
  if (colons == std::string::npos) return path;
  path.replace(colons, 2, ".");
  if (path.find('.', colons + 1) == std::string::npos) path += ".default";
  return path;
}

}  // namespace

void OriginTexts::set(const onnx::Origin& origin, bool strip_paths) {
  if (origin_ == &origin) return;
  origin_ = &origin;
  name_space.clear();
  class_hierarchy = "[";
  name_scopes = "[";
  for (std::size_t i = 0; i < std::max(origin.scopes.size(), origin.classes.size()); ++i) {
    const std::string_view scope =
        i < origin.scopes.size() ? std::string_view(origin.scopes[i]) : std::string_view();
    const std::string_view type =
        i < origin.classes.size() ? std::string_view(origin.classes[i]) : std::string_view();
    name_space.append(scope).append(": ").append(type).append("/");
    append_quoted(name_scopes, scope);
    append_quoted(class_hierarchy, type);
  }
  const std::string path = operator_path(origin.op);
  name_space.append(origin.captured_node).append(": ").append(path);
  append_quoted(name_scopes, origin.captured_node);
  append_quoted(class_hierarchy, path);
  stack_trace = base::without_paths(origin.stack_trace, strip_paths);
  name_scopes += "]";
  class_hierarchy += "]";
}

}  // namespace sardonyx::proto
