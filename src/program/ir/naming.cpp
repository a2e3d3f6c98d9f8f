#include "program/ir/naming.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/diagnostic.h"
#include "program/ir/pytree.h"

namespace sardonyx::program {
namespace {

using Taken = std::unordered_set<std::string>;

// What runtimes call the parts of a cache; "" for a level that they leave out.
std::string cache_part(const std::string& step) {
  if (step == "layers") return "";
  if (step == "self_attention_cache") return "decoder";
  if (step == "cross_attention_cache") return "encoder";
  if (step == "keys" || step == "key_cache") return "key";
  if (step == "values" || step == "value_cache") return "value";
  return step;
}

std::string joined(std::span<const PathStep> steps) {
  std::string text;
  for (const PathStep& step : steps) text += (text.empty() ? "" : ".") + step.key;
  return text;
}

// "past_key_values.0.decoder.key": the layer comes first, wherever the container keeps it.
std::string cache_name(const std::string& prefix, std::span<const PathStep> inside) {
  std::string layer;
  std::string parts;
  for (const PathStep& step : inside) {
    if (step.is_position && layer.empty()) {
      layer = "." + step.key;
    } else if (const std::string part = cache_part(step.key); !part.empty()) {
      parts += "." + part;
    }
  }
  return prefix + layer + parts;
}

// The same for caches that are tuples of layers of (key, value) or, in encoder-decoders, of (key,
// value, cross key, cross value); empty when the path is no such thing.
std::string tuple_cache_name(const std::string& prefix, std::span<const PathStep> inside) {
  constexpr const char* kParts[] = {"key", "value"};
  constexpr const char* kCrossParts[] = {"decoder.key", "decoder.value", "encoder.key",
                                         "encoder.value"};
  if (inside.size() != 2 || !inside[0].is_position || !inside[1].is_position) return {};
  const std::size_t count = inside[1].siblings;
  if (count != 2 && count != 4) return {};
  const auto which = static_cast<std::size_t>(inside[1].key[0] - '0');
  return prefix + "." + inside[0].key + "." + (count == 2 ? kParts[which] : kCrossParts[which]);
}

// What models call the cache of their decoder, as a parameter and as a field of what they return;
// the name differs between releases of transformers, and between models of one release.
bool is_decoder_cache(std::string_view field) {
  static constexpr std::string_view kNames[] = {"cache",          "cache_params",    "layer_past",
                                                "past_key_value", "past_key_values", "state"};
  return std::ranges::find(kNames, field) != std::end(kNames);
}

// Where the caches among the leaves of a pytree stand, "past_key_values" or "inputs.cache".
class Caches {
 public:
  explicit Caches(std::span<const LeafPath> paths) {
    for (const LeafPath& path : paths) {
      if (path.cache_at != LeafPath::kNoCache) fields_.insert(field_of(path));
    }
  }

  // A model's only cache is that of its decoder, whatever it is called; one of several is where its
  // name is one of a decoder's cache.
  bool is_of_decoder(const LeafPath& path) const {
    return fields_.size() == 1 || path.cache_at == 0 ||
           is_decoder_cache(path.steps[path.cache_at - 1].key);
  }

 private:
  static std::string field_of(const LeafPath& path) {
    return joined(std::span(path.steps).first(path.cache_at));
  }

  std::unordered_set<std::string> fields_;
};

// A decoder's cache that a model takes as past_key_values it gives back as present.
constexpr const char* kPast = "past_key_values";
constexpr const char* kPresent = "present";

std::string present_prefix(const std::string& field) {
  if (field.empty()) return kPresent;
  return std::string(kPresent) + "_" + (field.starts_with("past_") ? field.substr(5) : field);
}

std::string unique(std::string name, Taken& taken) {
  if (taken.insert(name).second) return name;
  for (std::size_t i = 1;; ++i) {
    std::string candidate = name + "_" + std::to_string(i);
    if (taken.insert(candidate).second) return candidate;
  }
}

// Puts the user's names where they want them; the others stay empty. `eligible` says which
// positions count.
void place_wanted(std::span<const std::string> wanted, const std::vector<bool>& eligible,
                  std::string_view what, std::vector<std::string>& names, Taken& taken) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < eligible.size() && next < wanted.size(); ++i) {
    if (!eligible[i]) continue;
    const std::string& name = wanted[next++];
    if (name.empty()) continue;
    if (!taken.insert(name).second)
      base::fail("SX1001", "the name '" + name + "' is wanted for more than one input or output");
    names[i] = name;
  }
  if (next < wanted.size()) {
    base::fail("SX1001", std::to_string(wanted.size()) + " " + std::string(what) +
                             " names are given, but the program has only " + std::to_string(next));
  }
}

// Leaf paths of the inputs below (args, kwargs): the first step is the parameter, by name.
std::vector<LeafPath> input_paths(const Program& program, std::size_t count) {
  std::vector<LeafPath> paths = leaf_paths(program.input_spec);
  if (paths.size() != count) return std::vector<LeafPath>(count);
  for (LeafPath& path : paths) {
    if (path.steps.empty()) continue;
    const bool positional = path.steps[0].is_position && path.steps[0].key == "0";
    path.steps.erase(path.steps.begin());
    if (path.cache_at != LeafPath::kNoCache) --path.cache_at;
    if (!positional || path.steps.empty() || !path.steps[0].is_position) continue;
    const std::size_t index = std::stoul(path.steps[0].key);
    if (index >= program.parameter_names.size()) continue;
    path.steps[0].key = program.parameter_names[index];
    path.steps[0].is_position = false;
  }
  return paths;
}

std::string derived_input_name(const InputSpec& input, const LeafPath& path, const Caches& caches) {
  const std::span<const PathStep> steps = path.steps;
  if (path.cache_at != LeafPath::kNoCache && path.cache_at <= steps.size()) {
    const bool named = !steps[0].is_position && !caches.is_of_decoder(path);
    const std::string prefix = named ? joined(steps.first(path.cache_at)) : kPast;
    return cache_name(prefix, steps.subspan(path.cache_at));
  }
  if (!steps.empty() && steps[0].key == kPast) {
    const std::string name = tuple_cache_name(steps[0].key, steps.subspan(1));
    if (!name.empty()) return name;
  }
  if (input.value && !input.value->name.empty()) return input.value->name;
  return input.target.empty() ? joined(steps) : input.target;
}

bool is_input(const Program& program, const Value* value) {
  for (const InputSpec& input : program.inputs) {
    if (input.value == value) return true;
  }
  return false;
}

// What the model calls the input that the program calls `target`.
std::string input_name_of(const Program& program, const std::string& target,
                          std::span<const std::string> names) {
  std::size_t position = 0;
  for (const InputSpec& input : program.inputs) {
    if (input.kind != InputKind::kUser) continue;
    const bool found = input.value && input.value->name == target;
    if (found && position < names.size()) return names[position];
    ++position;
  }
  return target;
}

std::string captured_output_name(const Program& program, const OutputSpec& output,
                                 std::span<const std::string> inputs) {
  if (output.kind == OutputKind::kBufferMutation) return output.target + "_updated";
  if (output.kind == OutputKind::kInputMutation)
    return input_name_of(program, output.target, inputs) + "_updated";
  Value* const* value = output.value.get<Value*>();
  if (!value || !*value || (*value)->name.empty()) return "output";
  return (*value)->name + (is_input(program, *value) ? "_output" : "");
}

// The name that the pytree gives a user output; empty when it only counts positions.
std::string structured_output_name(const LeafPath& path, const Caches& caches) {
  std::span<const PathStep> steps = path.steps;
  std::size_t cache_at = path.cache_at;
  const bool is_cache = cache_at != LeafPath::kNoCache;
  while (!steps.empty() && steps[0].is_position && cache_at != 0) {
    steps = steps.subspan(1);
    if (cache_at != LeafPath::kNoCache) --cache_at;
  }
  if (is_cache) {
    const std::string field = joined(steps.first(cache_at));
    return cache_name(caches.is_of_decoder(path) ? kPresent : present_prefix(field),
                      steps.subspan(cache_at));
  }
  if (!steps.empty() && steps[0].key == kPast) {
    const std::string name = tuple_cache_name(kPresent, steps.subspan(1));
    if (!name.empty()) return name;
  }
  return joined(steps);
}

}  // namespace

std::vector<std::string> input_names(const Program& program, std::span<const std::string> wanted) {
  std::vector<const InputSpec*> inputs;
  std::vector<bool> eligible;
  for (const InputSpec& input : program.inputs) {
    if (input.kind != InputKind::kUser) continue;
    inputs.push_back(&input);
    eligible.push_back(input.value != nullptr);
  }
  std::vector<std::string> names(inputs.size());
  Taken taken;
  place_wanted(wanted, eligible, "input", names, taken);
  const std::vector<LeafPath> paths = input_paths(program, inputs.size());
  const Caches caches(paths);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!names[i].empty()) continue;
    std::string name = derived_input_name(*inputs[i], paths[i], caches);
    names[i] = unique(name.empty() ? "input" : std::move(name), taken);
  }
  return names;
}

std::vector<std::string> output_names(const Program& program, std::span<const std::string> inputs,
                                      std::span<const std::string> wanted) {
  std::vector<const OutputSpec*> outputs;
  std::vector<bool> eligible;
  std::size_t user_count = 0;
  for (const OutputSpec& output : program.outputs) {
    if (output.kind == OutputKind::kToken) continue;
    const bool user = output.kind == OutputKind::kUser || output.kind == OutputKind::kLoss;
    outputs.push_back(&output);
    const bool absent = output.value.is_none() || output.value.get<std::string>();
    eligible.push_back(user && !absent);
    user_count += user ? 1 : 0;
  }
  std::vector<std::string> names(outputs.size());
  Taken taken(inputs.begin(), inputs.end());
  place_wanted(wanted, eligible, "output", names, taken);
  std::vector<LeafPath> paths = leaf_paths(program.output_spec);
  if (paths.size() != user_count) paths.assign(user_count, {});
  const Caches caches(paths);
  std::size_t leaf = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const OutputKind kind = outputs[i]->kind;
    const bool user = kind == OutputKind::kUser || kind == OutputKind::kLoss;
    std::string name = user ? structured_output_name(paths[leaf++], caches) : std::string();
    if (!names[i].empty()) continue;
    if (name.empty()) name = captured_output_name(program, *outputs[i], inputs);
    names[i] = unique(std::move(name), taken);
  }
  return names;
}

std::vector<std::string> output_names(const Program& program, std::span<const std::string> wanted) {
  return output_names(program, input_names(program, {}), wanted);
}

}  // namespace sardonyx::program
