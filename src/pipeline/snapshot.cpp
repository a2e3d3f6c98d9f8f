#include "pipeline/snapshot.h"

#include <algorithm>
#include <span>
#include <utility>

#include "proto/reader/read.h"
#include "proto/writer/write.h"

namespace sardonyx {

Snapshot::Snapshot(const Model& model) : file_(model.file()), target_(model.internal().target) {
  if (!file_.empty()) return;
  const onnx::Model& inner = model.internal();
  // A weight that is written as an input has its type there.
  proto::WriteOptions options;
  options.include_initializers = false;
  options.keep_initializers_as_inputs = true;
  graph_ = std::make_shared<const std::string>(proto::serialize(inner, options));
  for (const onnx::ValueInfo* value : inner.initializers)
    if (value->is_weight && value->constant != nullptr)
      weights_.emplace(value->name, value->constant);
  for (const onnx::ValueInfo* input : inner.graph->inputs)
    if (input->initial != nullptr) initials_.emplace(input->name, input->initial);
}

Model Snapshot::restored() const {
  if (!file_.empty()) {
    Model model = read_model(file_);
    model.internal().target = target_;
    return model;
  }
  std::unique_ptr<onnx::Model> model = proto::parse(std::as_bytes(std::span(*graph_)), graph_);
  std::vector<onnx::ValueInfo*>& inputs = model->graph->inputs;
  for (onnx::ValueInfo* input : inputs) {
    if (const auto found = initials_.find(input->name); found != initials_.end())
      input->initial = found->second;
    const auto found = weights_.find(input->name);
    if (found == weights_.end()) continue;
    input->constant = found->second;
    input->is_weight = true;
    model->initializers.push_back(input);
  }
  std::erase_if(inputs, [](const onnx::ValueInfo* input) { return input->constant != nullptr; });
  model->target = target_;
  return Model(std::move(model));
}

}  // namespace sardonyx
