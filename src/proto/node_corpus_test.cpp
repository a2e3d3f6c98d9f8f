// Inference and folding held against the node tests of the `onnx` package, whose models
// tests/emitter/test_node_corpus.py lays out as files:
//   NAME.onnx    a model with the types of its outputs
//   NAME.const   the same with its inputs as initializers
//   NAME.expect  the outputs of that one, as initializers
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "base/diagnostic.h"
#include "onnx/emit/emit.h"
#include "onnx/fold/fold.h"
#include "onnx/infer/infer.h"
#include "proto/read.h"

namespace sardonyx::proto {
namespace {

using onnx::DType;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

class NodeCorpus : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("SARDONYX_NODE_CORPUS");
    if (folder == nullptr) GTEST_SKIP() << "tests/emitter/test_node_corpus.py makes the models";
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      files.insert(entry.path());
  }

  std::set<std::filesystem::path> files;  // sorted
};

// Sequences and optionals inside sequences have no place in the graph IR.
std::unique_ptr<onnx::Model> read_or_nothing(const std::filesystem::path& path) {
  try {
    return read(path);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics().front().code, "SX1153") << path;
    return nullptr;
  }
}

// Whether the shape was inferred, and each of its sizes where the declared one is constant.
bool shape_is_known(const ValueInfo& inferred, const ValueInfo& declared) {
  if (!inferred.has_rank || inferred.shape.size() != declared.shape.size()) return false;
  for (std::size_t i = 0; i < declared.shape.size(); ++i)
    if (declared.shape[i].is_constant() && !inferred.shape[i].is_constant()) return false;
  return true;
}

void check_output(const ValueInfo& inferred, const ValueInfo& declared, const std::string& where) {
  EXPECT_EQ(inferred.dtype, declared.dtype) << where;
  if (!inferred.has_rank || !declared.has_rank) return;
  ASSERT_EQ(inferred.shape.size(), declared.shape.size()) << where;
  for (std::size_t i = 0; i < declared.shape.size(); ++i) {
    if (!inferred.shape[i].is_constant() || !declared.shape[i].is_constant()) continue;
    EXPECT_EQ(inferred.shape[i].value(), declared.shape[i].value()) << where << ", axis " << i;
  }
}

TEST_F(NodeCorpus, InferenceAgrees) {
  int models = 0, outputs = 0, unknown = 0;
  for (const auto& path : files) {
    if (path.extension() != ".onnx") continue;
    const auto model = read_or_nothing(path);
    const Node* node = model == nullptr ? nullptr : model->graph->first;
    if (node == nullptr || node->next != nullptr || !node->domain.empty()) continue;
    const std::int64_t opset = model->opsets[""];
    if (onnx::find_operator(node->op_type) == nullptr || node->op_type.starts_with("Optional"))
      continue;
    std::vector<ValueInfo> declared;
    for (ValueInfo* output : model->graph->outputs) {
      declared.push_back(*output);
      output->dtype = DType::kUndefined;
      output->has_rank = false;
      output->shape.clear();
    }
    onnx::infer(model->graph->first, *model->pool, opset);
    for (std::size_t i = 0; i < declared.size(); ++i) {
      if (declared[i].type_kind != onnx::TypeKind::kTensor) continue;
      const ValueInfo& inferred = *model->graph->outputs[i];
      check_output(inferred, declared[i], path.filename());
      ++outputs;
      unknown += declared[i].has_rank && !shape_is_known(inferred, declared[i]) ? 1 : 0;
    }
    ++models;
  }
  EXPECT_GT(models, 1000);
  // Many of these hang on values that the model is given; they may become fewer, not more.
  EXPECT_LE(unknown, 301) << "of " << outputs;
}

bool close(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-6 * std::abs(b);
}

void check_tensor(const Tensor& folded, const Tensor& expected, const std::string& where) {
  EXPECT_EQ(folded.dtype, expected.dtype) << where;
  ASSERT_EQ(folded.dims, expected.dims) << where;
  const auto a = folded.reals(), b = expected.reals();
  ASSERT_TRUE(a && b) << where;
  for (std::size_t i = 0; i < a->size(); ++i)
    ASSERT_TRUE(close((*a)[i], (*b)[i])) << where << ": " << (*a)[i] << " for " << (*b)[i];
}

TEST_F(NodeCorpus, FoldingAgrees) {
  int folded_models = 0;
  for (const auto& path : files) {
    if (path.extension() != ".const") continue;
    const auto model = read_or_nothing(path);
    const Node* node = model == nullptr ? nullptr : model->graph->first;
    if (node == nullptr || node->next != nullptr || !node->domain.empty()) continue;
    for (ValueInfo* value : model->initializers) value->is_weight = false;
    const std::vector<Tensor> folded = onnx::fold(*node);
    if (folded.empty()) continue;
    std::filesystem::path answers = path;
    const auto expected = read(answers.replace_extension(".expect"));
    ASSERT_LE(folded.size(), expected->initializers.size()) << path;
    for (std::size_t i = 0; i < folded.size(); ++i)
      check_tensor(folded[i], *expected->initializers[i]->constant, path.filename());
    ++folded_models;
  }
  EXPECT_GT(folded_models, 100);
}

}  // namespace
}  // namespace sardonyx::proto
