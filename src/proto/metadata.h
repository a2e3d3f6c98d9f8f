// Where a node came from, in the words of torch.onnx: what tools that read its models look for.
#pragma once

#include <string>

#include "onnx/graph/ir.h"

namespace sardonyx::proto {

// The texts are kept from one node to the next: neighbors mostly share their origin.
class OriginTexts {
 public:
  void set(const onnx::Origin& origin, bool strip_paths);

  std::string name_space;       // "namespace": "path: class" of each module, then of the operator
  std::string class_hierarchy;  // "pkg.torch.onnx.class_hierarchy": a Python list
  std::string name_scopes;      // "pkg.torch.onnx.name_scopes": a Python list
  std::string stack_trace;      // "pkg.torch.onnx.stack_trace"

 private:
  const onnx::Origin* origin_ = nullptr;
};

}  // namespace sardonyx::proto
