// Weights of a model, replaced by live tensors.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "bindings.h"
#include "borrowed.h"
#include "onnx/graph/ir.h"
#include "onnx/graph/names.h"
#include "onnx/graph/recipe.h"
#include "refresh/record.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

std::string text_of(base::DType dtype, const std::vector<std::int64_t>& dims) {
  std::string text(base::dtype_name(dtype));
  text += '[';
  for (std::size_t i = 0; i < dims.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(dims[i]);
  }
  return text + "]";
}

std::unordered_map<std::string_view, onnx::ValueInfo*> weights_of(const onnx::Model& model) {
  std::unordered_map<std::string_view, onnx::ValueInfo*> weights;
  for (onnx::ValueInfo* value : model.initializers) {
    if (value->is_weight && value->constant) weights.emplace(value->name, value);
  }
  return weights;
}

// Weights whose values are in others that something reads.
std::unordered_set<const onnx::ValueInfo*> worked_in(const onnx::Model& model) {
  std::unordered_set<const onnx::ValueInfo*> found;
  std::vector<const onnx::ValueInfo*> waiting;
  for (const onnx::ValueInfo* value : model.initializers)
    if (onnx::has_uses(value)) waiting.push_back(value);
  while (!waiting.empty()) {
    const onnx::ValueInfo* const made = waiting.back();
    waiting.pop_back();
    for (const onnx::ValueInfo* source : made->made_of)
      if (found.insert(source).second) waiting.push_back(source);
  }
  return found;
}

nb::list weight_names(const Model& model) {
  nb::list names;
  for (const auto& [name, value] : weights_of(model.internal())) {
    names.append(nb::str(name.data(), name.size()));
  }
  return names;
}

using Renamed = std::vector<std::pair<onnx::ValueInfo*, std::string>>;

// What is known of weights that get other names.
void rename(refresh::Origins& origins, const Renamed& renamed) {
  std::map<std::string, std::string> names;
  for (const auto& [value, name] : renamed) names.emplace(value->name, name);
  const auto now = [&](const std::string& name) {
    const auto found = names.find(name);
    return found != names.end() ? found->second : name;
  };
  std::set<std::string> local;
  for (const std::string& name : origins.local) local.insert(now(name));
  origins.local = std::move(local);
  for (auto& [other, name] : origins.tied) name = now(name);
}

// Weights under other names. SX1001 where something else has one of them.
void rename_weights(Model& model, const nb::dict& names) {
  const auto weights = weights_of(model.internal());
  Renamed renamed;
  for (const auto& [before, after] : names) {
    const auto found = weights.find(nb::str(before).c_str());
    if (found != weights.end()) renamed.emplace_back(found->second, nb::str(after).c_str());
  }
  if (refresh::Origins* const origins = model.origins().get()) rename(*origins, renamed);
  for (const auto& [value, name] : renamed) {
    if (model.internal().graph->names->has(name)) {
      base::fail("SX1001", "the model has something else called '" + name + "'",
                 "give each input and weight a name of its own");
    }
    model.internal().rename(value, name);
  }
}

using Tensors = std::map<std::string, onnx::Tensor>;

// New data for weights: all of it takes effect, or none.
class Replacements {
 public:
  // `all`: the tensors by the program's names, those of weights too that became one with another.
  // `cast`: whether weights of another floating type are rounded to the model's as they are
  // written.
  explicit Replacements(Model& model, Tensors all, bool cast = false)
      : all_(std::move(all)),
        cast_(cast),
        weights_(weights_of(model.internal())),
        worked_in_(worked_in(model.internal())) {}

  void add(const std::string& name, onnx::Tensor tensor) {
    const auto found = weights_.find(name);
    if (found == weights_.end()) return problem("the model has no weight '" + name + "'");
    if (worked_in_.contains(found->second))
      return problem(
          "'" + name +
          "' has been worked into other weights; export with do_constant_folding=False to "
          "replace it");
    const onnx::Tensor& old = *found->second->constant;
    const onnx::Tensor program = onnx::source_type(old);
    if (cast_ && base::is_floating(tensor.dtype) && base::is_floating(program.dtype) &&
        tensor.dtype != program.dtype)
      tensor = onnx::cast_with_offset(tensor, program.dtype, 0);
    if (tensor.dtype != program.dtype || tensor.dims != program.dims)
      return problem("'" + name + "' is " + text_of(program.dtype, program.dims) +
                     " in the model, and " + text_of(tensor.dtype, tensor.dims) + " here");
    check_shared(name, old, tensor);
    replacements_.emplace_back(found->second, onnx::rebuilt(old, std::move(tensor)));
  }

  // What does not fit; nothing is replaced then.
  nb::list apply() {
    if (nb::len(problems_) > 0) return problems_;
    for (auto& [value, tensor] : replacements_) {
      value->constant = std::make_shared<const onnx::Tensor>(std::move(tensor));
    }
    return problems_;
  }

 private:
  // A weight that stands for another one, or for a constant, which had the same elements.
  void check_shared(const std::string& name, const onnx::Tensor& old, const onnx::Tensor& tensor) {
    if (old.recipe == nullptr) return;
    for (const onnx::Step& step : old.recipe->steps) {
      const auto* shared = std::get_if<onnx::Shared>(&step);
      if (shared == nullptr) continue;
      const auto* origin = onnx::has_origin(*shared->other)
                               ? std::get_if<onnx::Named>(&shared->other->recipe->steps.front())
                               : nullptr;
      const auto other = origin != nullptr ? all_.find(origin->weight) : all_.end();
      const bool same = other != all_.end()
                            ? refresh::same_bytes(other->second, tensor)
                            : refresh::same_bytes(onnx::rebuilt(old, onnx::Tensor(tensor)), old);
      if (!same)
        problem("'" + name + "' and " +
                (origin != nullptr ? "'" + origin->weight + "'" : std::string("a constant")) +
                " had the same elements and are one in the model; export the new module instead");
    }
  }

  void problem(const std::string& text) { problems_.append(nb::str(text.c_str())); }

  Tensors all_;
  bool cast_;
  std::unordered_map<std::string_view, onnx::ValueInfo*> weights_;
  std::unordered_set<const onnx::ValueInfo*> worked_in_;
  std::vector<std::pair<onnx::ValueInfo*, onnx::Tensor>> replacements_;
  nb::list problems_;
};

template <typename Pairs>
Tensors named(Pairs pairs) {
  Tensors tensors;
  for (auto& [name, tensor] : pairs) tensors.emplace(name, std::move(tensor));
  return tensors;
}

// `state`: `tensors`, and those of the state dict that the model has no weight of its own for.
nb::list apply_weights(Model& model, const nb::dict& tensors, const nb::dict& state) {
  Replacements replacements(model, named(borrow_tensors(state)));
  for (auto& [name, tensor] : borrow_tensors(tensors)) replacements.add(name, std::move(tensor));
  return replacements.apply();
}

// Entries are (name, path, dtype, dims, offset, length).
nb::list apply_file_weights(Model& model, const nb::list& entries, const nb::list& state,
                            bool cast) {
  Replacements replacements(model, named(borrow_from_files(state)), cast);
  for (auto& [name, tensor] : borrow_from_files(entries)) replacements.add(name, std::move(tensor));
  return replacements.apply();
}

}  // namespace

void bind_weights(nb::module_& module) {
  module.def("weight_names", &weight_names, "model"_a, "The weights by name.");
  module.def("rename_weights", &rename_weights, "model"_a, "names"_a,
             "Gives weights other names; those that the model has not are passed over.");
  module.def("apply_weights", &apply_weights, "model"_a, "tensors"_a, "state"_a,
             "Replaces weights by tensors; returns what does not fit, and replaces nothing then. "
             "`state` has the tensors of weights, too, that became one with another.");
  module.def("apply_file_weights", &apply_file_weights, "model"_a, "entries"_a, "state"_a,
             "cast"_a = false,
             "The same with bytes of files: (name, path, dtype, dims, offset, length) each. `cast` "
             "takes weights of another floating type, too.");
  module.def("reference_external_weights", &sardonyx::reference_external_weights, "model"_a,
             "files"_a,
             "Weights that can stay in these files do, when the model is written with them as "
             "`in_place`; how many bytes that are.");
}

}  // namespace sardonyx::bindings
