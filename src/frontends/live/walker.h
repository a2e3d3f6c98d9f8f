// The walk itself: one object for the time of one walk.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/live/sizes.h"
#include "frontends/live/sources.h"
#include "frontends/live/targets.h"
#include "frontends/live/walk.h"
#include "frontends/live/weights.h"
#include "program/ir/program.h"
#include "program/ir/unread_outputs.h"

namespace sardonyx::live {

class Walker {
 public:
  Walker(program::Program& program, const LeastSizes& least_sizes);

  void walk(nanobind::handle exported_program);

 private:
  // --- graphs (graph.cpp)
  program::Graph* graph(nanobind::handle graph_module, std::string name);
  void placeholder(nanobind::handle node, program::Graph& graph);
  void call_function(nanobind::handle node, program::Graph& graph);
  void get_item(nanobind::handle node);
  void output(nanobind::handle node, program::Graph& graph);
  // Makes the values of a call's result and tells what the node stands for: a value, or a list
  // with one entry for each element of a tuple.
  program::Argument results(nanobind::handle node, nanobind::handle meta_value,
                            program::Call& call);
  program::Argument element(nanobind::handle producer, nanobind::handle index,
                            nanobind::handle meta_value, std::string name, program::Call& call);
  program::Value* value(std::string name, nanobind::handle meta_value);
  program::Argument result(std::string name, nanobind::handle meta_value, program::Call& call);

  // --- arguments (arguments.cpp)
  program::Argument argument(nanobind::handle object);
  program::Argument node_argument(nanobind::handle node);
  program::Argument attribute(nanobind::handle get_attr);
  program::List list(nanobind::handle sequence);

  // --- the signature (signature.cpp)
  void inputs(nanobind::handle exported_program, nanobind::handle specs,
              const std::vector<nanobind::object>& placeholders);
  void outputs(nanobind::handle specs);
  void ranges(nanobind::handle constraints);
  void call_spec(nanobind::handle exported_program);
  nanobind::object weight_of(nanobind::handle exported_program, nanobind::handle target);

  program::Program& program_;
  const LeastSizes& least_sizes_;
  Sizes sizes_;
  Sources sources_;
  Targets targets_;
  Weights weights_;
  // What each node stands for. Nodes live as long as their graph does, and that outlives the walk.
  std::unordered_map<PyObject*, program::Argument> nodes_;
  std::vector<nanobind::object> placeholders_;  // of the graph walked last
  std::vector<program::Element> elements_;      // of the graph being walked
  std::vector<program::Value*> lifted_;         // constants that export left on the module
};

// A value of a symbolic number stands for its expression where one is known.
program::Argument reference(program::Value* value);

}  // namespace sardonyx::live
