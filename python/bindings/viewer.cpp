// Pages that show models.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "sardonyx/sardonyx.h"
#include "viewer/page.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Title, unit, numbers by the names of nodes.
using GivenMeasure = std::tuple<std::string, std::string, std::map<std::string, double>>;

std::vector<viewer::Measure> measures_of(std::vector<GivenMeasure> given) {
  std::vector<viewer::Measure> measures;
  for (auto& [title, unit, nodes] : given)
    measures.push_back({std::move(title), std::move(unit), std::move(nodes)});
  return measures;
}

std::string viewer_page(const Model& model, const std::string& title,
                        std::vector<GivenMeasure> measures) {
  return viewer::model_page({model.internal(), title}, measures_of(std::move(measures)));
}

std::string comparison_page(const Model& a, const std::string& title_a, const Model& b,
                            const std::string& title_b, std::vector<GivenMeasure> measures) {
  return viewer::comparison_page({a.internal(), title_a}, {b.internal(), title_b},
                                 measures_of(std::move(measures)));
}

}  // namespace

void bind_viewer(nb::module_& module) {
  module.def("viewer_page", &viewer_page, "model"_a, "title"_a, "measures"_a);
  module.def("comparison_page", &comparison_page, "a"_a, "title_a"_a, "b"_a, "title_b"_a,
             "measures"_a);
}

}  // namespace sardonyx::bindings
