#include "program/ir/pytree.h"

#include <simdjson.h>

#include <utility>

namespace sardonyx::program {
namespace {

namespace dom = simdjson::dom;

// Specs are written by PyTorch's own recursion; deeper ones are not theirs.
constexpr int kMaxDepth = 100;

bool is_cache(std::string_view type) { return type.ends_with("Cache"); }

std::string key_text(dom::element key) {
  std::string_view text;
  return key.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(key);
}

// The names in a context that lists them: dicts have ["a", "b"], dataclasses and transformers'
// DynamicCache [["a", "b"], ...], defaultdicts {"dict_context": ["a", "b"]}.
std::vector<std::string> listed_names(dom::element context, std::size_t count, int depth = 0) {
  dom::array items;
  if (dom::object object; context.get(object) == simdjson::SUCCESS) {
    if (object["dict_context"].get(items) != simdjson::SUCCESS) return {};
  } else if (context.get(items) != simdjson::SUCCESS) {
    return {};
  }
  if (items.size() > 0 && items.at(0).is_array() && depth == 0)
    return listed_names(items.at(0), count, 1);
  if (items.size() != count) return {};
  std::vector<std::string> names;
  for (const dom::element item : items) names.push_back(key_text(item));
  return names;
}

class Leaves {
 public:
  std::vector<LeafPath> of(std::string_view spec) {
    dom::parser parser;
    dom::element root;
    const simdjson::padded_string text(spec);
    if (parser.parse(text).get(root) != simdjson::SUCCESS) return {};
    dom::element tree;
    if (root.at_pointer("/1").get(tree) != simdjson::SUCCESS || !visit(tree, {}, 0)) return {};
    return std::move(leaves_);
  }

 private:
  bool visit(dom::element node, LeafPath path, int depth) {
    dom::object object;
    dom::element type_element;
    dom::array children;
    if (depth > kMaxDepth || node.get(object) != simdjson::SUCCESS ||
        object["type"].get(type_element) != simdjson::SUCCESS ||
        object["children_spec"].get(children) != simdjson::SUCCESS) {
      return false;
    }
    std::string_view type;
    if (type_element.is_null()) {
      leaves_.push_back(std::move(path));
      return true;
    }
    if (type_element.get(type) != simdjson::SUCCESS) return false;
    if (is_cache(type) && path.cache_at == LeafPath::kNoCache) path.cache_at = path.steps.size();
    return visit_children(type, object, children, path, depth);
  }

  bool visit_children(std::string_view type, dom::object object, dom::array children,
                      const LeafPath& path, int depth) {
    const std::size_t count = children.size();
    const std::vector<std::vector<PathStep>> steps = steps_below(type, object, count);
    std::size_t i = 0;
    for (const dom::element child : children) {
      LeafPath below = path;
      below.steps.insert(below.steps.end(), steps[i].begin(), steps[i].end());
      if (!visit(child, std::move(below), depth + 1)) return false;
      ++i;
    }
    return true;
  }

  // The steps from a container to each of its children.
  static std::vector<std::vector<PathStep>> steps_below(std::string_view type, dom::object object,
                                                        std::size_t count) {
    std::vector<std::vector<PathStep>> steps(count);
    std::vector<std::string> names;
    std::string_view text;
    if (object["context"].get(text) == simdjson::SUCCESS) {
      dom::parser parser;
      dom::element context;
      const simdjson::padded_string padded(text);
      if (parser.parse(padded).get(context) == simdjson::SUCCESS) {
        if (context["_t"].error() == simdjson::SUCCESS) {
          collect_state(context, {}, steps, 0);
        } else {
          names = listed_names(context, count);
        }
      }
    }
    if (names.empty() && count == 2 && type.ends_with("EncoderDecoderCache"))
      names = {"self_attention_cache", "cross_attention_cache"};
    for (std::size_t i = 0; i < count; ++i) {
      if (!steps[i].empty()) continue;
      const bool named = !names.empty();
      steps[i] = {{named ? names[i] : std::to_string(i), !named, count}};
    }
    return steps;
  }

  // transformers' exporter flattens a whole object: its context is the object's state, in which
  // {"_t": "tensor", "i": 3} marks the place of child 3.
  static void collect_state(dom::element state, std::vector<PathStep> path,
                            std::vector<std::vector<PathStep>>& steps, int depth) {
    if (depth > kMaxDepth) return;
    if (dom::array items; state.get(items) == simdjson::SUCCESS) {
      std::size_t i = 0;
      const std::size_t count = items.size();
      for (const dom::element item : items) {
        path.push_back({std::to_string(i++), true, count});
        collect_state(item, path, steps, depth + 1);
        path.pop_back();
      }
      return;
    }
    dom::object object;
    if (state.get(object) != simdjson::SUCCESS) return;
    std::string_view tag;
    if (object["_t"].get(tag) != simdjson::SUCCESS) tag = {};
    std::uint64_t child = 0;
    if ((tag == "tensor" || tag == "sym") && object["i"].get(child) == simdjson::SUCCESS) {
      if (child < steps.size()) steps[child] = std::move(path);
      return;
    }
    dom::element inner;
    if (tag == "obj" && object["s"].get(inner) == simdjson::SUCCESS) {
      collect_state(inner, std::move(path), steps, depth + 1);
    } else if (!tag.empty() && object["v"].get(inner) == simdjson::SUCCESS) {
      collect_state(inner, std::move(path), steps, depth + 1);
    } else if (tag.empty()) {
      for (const dom::key_value_pair field : object) {
        path.push_back({std::string(field.key), false, object.size()});
        collect_state(field.value, path, steps, depth + 1);
        path.pop_back();
      }
    }
  }

  std::vector<LeafPath> leaves_;
};

}  // namespace

std::vector<LeafPath> leaf_paths(std::string_view spec) {
  return spec.empty() ? std::vector<LeafPath>() : Leaves().of(spec);
}

}  // namespace sardonyx::program
