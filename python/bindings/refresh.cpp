// Other weights for a model, by the recipes that are recorded in it.
#include "refresh/refresh.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "bindings.h"
#include "borrowed.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

refresh::Tensors by_name(NamedTensors tensors) {
  refresh::Tensors result;
  for (auto& [name, tensor] : tensors) result.insert_or_assign(name, std::move(tensor));
  return result;
}

refresh::Tensors checkpoint_of(const nb::list& entries, const nb::dict& tensors) {
  refresh::Tensors result = by_name(borrow_from_files(entries));
  result.merge(by_name(borrow_tensors(tensors)));
  return result;
}

// (initializers, bytes, unused)
nb::tuple told(const refresh::Refreshed& done) {
  return nb::make_tuple(done.initializers, done.bytes, done.unused);
}

nb::tuple refresh_file(const std::string& model, const std::string& out, const nb::list& entries,
                       const nb::dict& tensors, const nb::object& progress) {
  const refresh::Tensors checkpoint = checkpoint_of(entries, tensors);
  // An interrupt ends the writing, too, and leaves what was there before.
  const auto tell = [&progress](std::int64_t done, std::int64_t total) {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (!progress.is_none()) progress(done, total);
  };
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return refresh::refresh(model, checkpoint, out, tell);
  };
  return told(run());
}

nb::tuple refresh_model(Model& model, const nb::list& entries, const nb::dict& tensors) {
  if (model.origins() == nullptr)
    base::fail("SX1820", "the model was not made of a program", "export it from PyTorch");
  return told(
      refresh::refresh(model.internal(), *model.origins(), checkpoint_of(entries, tensors)));
}

std::map<std::string, std::string> metadata_of(const std::string& path) {
  const Model model = read_model(path);
  std::map<std::string, std::string> entries;
  for (const auto& [key, value] : model.internal().metadata) entries.emplace(key, value);
  return entries;
}

void set_program(Model& model, const std::map<std::string, std::string>& settings) {
  if (model.origins() != nullptr) model.origins()->program = settings;
}

void copy_origins(Model& model, const Model& source) {
  if (source.origins() != nullptr)
    model.set_origins(std::make_shared<refresh::Origins>(*source.origins()));
}

}  // namespace

void bind_refresh(nb::module_& module) {
  module.def("refresh_file", &refresh_file, "model"_a, "out"_a, "entries"_a, "tensors"_a,
             "progress"_a = nb::none(),
             "Replaces the weights of a model's file, which is written to `out`, or in its place "
             "where that is empty; (initializers, bytes, unused names).");
  module.def("refresh_model", &refresh_model, "model"_a, "entries"_a, "tensors"_a,
             "The same of a model in memory.");
  module.def("metadata_of", &metadata_of, "path"_a, "The metadata_props of a model's file.");
  module.def("copy_origins", &copy_origins, "model"_a, "source"_a,
             "What is known of the program's weights, for a model over the same weights.");
  module.def("set_program", &set_program, "model"_a, "settings"_a,
             "Settings that tell the program from another with the same weights, which are "
             "written into the model.");
}

}  // namespace sardonyx::bindings
