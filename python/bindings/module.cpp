#include "bindings.h"
#include "sardonyx/sardonyx.h"

NB_MODULE(_native, module) {
  module.doc() = "Sardonyx's native library; use the package `sardonyx`, which wraps it.";
  // Programs keep live tensors, and what is left at exit is the interpreter's to drop.
  nanobind::set_leak_warnings(false);
  const std::string_view version = sardonyx::version();
  module.attr("version") = nanobind::str(version.data(), version.size());
  module.attr("oldest_opset") = sardonyx::kOldestOpset;
  module.attr("default_opset") = sardonyx::kDefaultOpset;
  module.attr("newest_opset") = sardonyx::kNewestOpset;
  sardonyx::bindings::bind_errors(module);
  sardonyx::bindings::bind_program(module);
  sardonyx::bindings::bind_model(module);
  sardonyx::bindings::bind_graph_building(module);
  sardonyx::bindings::bind_weights(module);
  sardonyx::bindings::bind_checkpoints(module);
  sardonyx::bindings::bind_dequantized(module);
  sardonyx::bindings::bind_refresh(module);
  sardonyx::bindings::bind_quantization(module);
  sardonyx::bindings::bind_caches(module);
  sardonyx::bindings::bind_parts(module);
  sardonyx::bindings::bind_apart(module);
  sardonyx::bindings::bind_report(module);
  sardonyx::bindings::bind_targets(module);
  sardonyx::bindings::bind_result_types(module);
  sardonyx::bindings::bind_viewer(module);
}
