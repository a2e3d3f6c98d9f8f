// Weights of a model, replaced by live tensors.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "bindings.h"
#include "frontends/live/tensors.h"
#include "onnx/graph/ir.h"
#include "onnx/graph/names.h"
#include "onnx/graph/recipe.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

// The tensor's bytes, borrowed. Complex numbers are pairs of reals, as everywhere in a model.
onnx::Tensor borrow(const live::LiveTensor& live) {
  onnx::Tensor tensor;
  tensor.dtype = base::real_of(live.dtype);
  tensor.dims = live.shape;
  tensor.strides = live.strides;
  if (base::is_complex(live.dtype)) {
    for (std::int64_t& stride : tensor.strides) stride *= 2;
    tensor.dims.push_back(2);
    tensor.strides.push_back(1);
  }
  if (const std::byte* data = live.storage_data()) {
    tensor.data = data + base::byte_size(live.dtype, live.offset);
  }
  tensor.missing = !tensor.data && tensor.element_count() != 0;
  tensor.owner = live.owner();
  return tensor;
}

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

// Weights under other names. SX1001 where something else has one of them.
void rename_weights(Model& model, const nb::dict& names) {
  const auto weights = weights_of(model.internal());
  std::vector<std::pair<onnx::ValueInfo*, std::string>> renamed;
  for (const auto& [before, after] : names) {
    const auto found = weights.find(nb::str(before).c_str());
    if (found != weights.end()) renamed.emplace_back(found->second, nb::str(after).c_str());
  }
  for (const auto& [value, name] : renamed) {
    if (model.internal().graph->names->has(name)) {
      base::fail("SX1001", "the model has something else called '" + name + "'",
                 "give each input and weight a name of its own");
    }
    model.internal().rename(value, name);
  }
}

// New data for weights: all of it takes effect, or none.
class Replacements {
 public:
  // `cast`: whether weights of another floating type are rounded to the model's as they are
  // written.
  explicit Replacements(Model& model, bool cast = false)
      : cast_(cast),
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
  void problem(const std::string& text) { problems_.append(nb::str(text.c_str())); }

  bool cast_;
  std::unordered_map<std::string_view, onnx::ValueInfo*> weights_;
  std::unordered_set<const onnx::ValueInfo*> worked_in_;
  std::vector<std::pair<onnx::ValueInfo*, onnx::Tensor>> replacements_;
  nb::list problems_;
};

nb::list apply_weights(Model& model, const nb::dict& tensors) {
  Replacements replacements(model);
  for (const auto& [key, value] : tensors) {
    const std::string name = nb::str(key).c_str();
    replacements.add(name, borrow(live::look_at(name, value)));
  }
  return replacements.apply();
}

// A tensor that lies in a file as it is, row by row.
struct InFile {
  std::string name, path, dtype;
  std::vector<std::int64_t> dims;
  std::int64_t offset = 0, length = 0;
};

onnx::Tensor borrow(const InFile& place, const std::shared_ptr<const base::MappedFile>& file) {
  onnx::Tensor tensor;
  tensor.dtype = base::dtype_from_name(place.dtype).value_or(base::DType::kUndefined);
  tensor.dims = place.dims;
  const auto size = static_cast<std::int64_t>(file->bytes().size());
  if (place.offset < 0 || place.length < 0 || place.offset > size ||
      place.length > size - place.offset || place.length != tensor.byte_count()) {
    base::fail("SX1108", "'" + place.name + "' does not fit its place in " + place.path);
  }
  tensor.data = place.length == 0 ? nullptr : file->bytes().data() + place.offset;
  tensor.owner = file;
  return tensor;
}

// Entries are (name, path, dtype, dims, offset, length).
nb::list apply_file_weights(Model& model, const nb::list& entries, bool cast) {
  Replacements replacements(model, cast);
  std::map<std::string, std::shared_ptr<const base::MappedFile>> files;
  for (const nb::handle entry : entries) {
    const nb::tuple fields = nb::cast<nb::tuple>(entry);
    InFile place;
    place.name = nb::cast<std::string>(fields[0]);
    place.path = nb::cast<std::string>(fields[1]);
    place.dtype = nb::cast<std::string>(fields[2]);
    place.dims = nb::cast<std::vector<std::int64_t>>(fields[3]);
    place.offset = nb::cast<std::int64_t>(fields[4]);
    place.length = nb::cast<std::int64_t>(fields[5]);
    std::shared_ptr<const base::MappedFile>& file = files[place.path];
    if (!file) file = std::make_shared<const base::MappedFile>(place.path);
    replacements.add(place.name, borrow(place, file));
  }
  return replacements.apply();
}

}  // namespace

void bind_weights(nb::module_& module) {
  module.def("weight_names", &weight_names, "model"_a, "The weights by name.");
  module.def("rename_weights", &rename_weights, "model"_a, "names"_a,
             "Gives weights other names; those that the model has not are passed over.");
  module.def("apply_weights", &apply_weights, "model"_a, "tensors"_a,
             "Replaces weights by tensors; returns what does not fit, and replaces nothing then.");
  module.def("apply_file_weights", &apply_file_weights, "model"_a, "entries"_a, "cast"_a = false,
             "The same with bytes of files: (name, path, dtype, dims, offset, length) each. `cast` "
             "takes weights of another floating type, too.");
  module.def("reference_external_weights", &sardonyx::reference_external_weights, "model"_a,
             "files"_a,
             "Weights that can stay in these files do, when the model is written with them as "
             "`in_place`; how many bytes that are.");
}

}  // namespace sardonyx::bindings
