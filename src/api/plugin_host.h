// The functions that a plugin calls, and what stands behind its handles.
#pragma once

#include <deque>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "aten/call.h"
#include "aten/translation/translate.h"
#include "sardonyx/plugin.h"

// Handles of the C interface. A value's handle is the value itself.
struct sardonyx_registry {
  std::map<std::string, sardonyx::aten::CustomTranslator, std::less<>>& translators;
  std::string problem;  // what a plugin did wrong; empty where it did not
};

struct sardonyx_node {
  sardonyx_call* call;
  std::string domain, op_type;
  sardonyx::onnx::Values inputs;
  std::vector<sardonyx::onnx::Attribute> attributes;
  sardonyx::onnx::Values outputs;
};

struct sardonyx_call {
  const sardonyx::aten::Call& captured;
  sardonyx::aten::Emit& onnx;
  sardonyx::onnx::Values results;
  std::deque<sardonyx_node> nodes;  // handles stay where they are
  std::deque<std::string> texts;    // what the plugin was handed
  std::deque<std::vector<std::int64_t>> integers;
  std::deque<std::vector<double>> numbers;
  std::exception_ptr failure;  // the first one; nothing happens after it
};

namespace sardonyx::plugin {

const sardonyx_host& host();

}  // namespace sardonyx::plugin
