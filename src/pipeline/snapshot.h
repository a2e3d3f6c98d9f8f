// A model as it is now, to begin again from where something was tried on it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "onnx/graph/ir.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {

// Takes what the graph takes in a file: weights are shared. Of a model that was read from a file
// and was not changed since, it is the file's name.
class Snapshot {
 public:
  explicit Snapshot(const Model& model);

  Model restored() const;

 private:
  std::filesystem::path file_;
  std::shared_ptr<const std::string> graph_;  // null where there is a file
  std::map<std::string, std::shared_ptr<const onnx::Tensor>> weights_;   // by name
  std::map<std::string, std::shared_ptr<const onnx::Tensor>> initials_;  // of inputs
  std::string target_;
};

}  // namespace sardonyx
