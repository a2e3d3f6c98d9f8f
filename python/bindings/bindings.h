// The extension module sardonyx._native: what the Python package calls, and no more.
#pragma once

#include <nanobind/nanobind.h>

namespace sardonyx::bindings {

void bind_errors(nanobind::module_& module);
void bind_program(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_graph_building(nanobind::module_& module);
void bind_weights(nanobind::module_& module);
void bind_checkpoints(nanobind::module_& module);
void bind_dequantized(nanobind::module_& module);
void bind_refresh(nanobind::module_& module);
void bind_quantization(nanobind::module_& module);
void bind_caches(nanobind::module_& module);
void bind_parts(nanobind::module_& module);
void bind_apart(nanobind::module_& module);
void bind_report(nanobind::module_& module);
void bind_targets(nanobind::module_& module);
void bind_result_types(nanobind::module_& module);
void bind_viewer(nanobind::module_& module);

}  // namespace sardonyx::bindings
