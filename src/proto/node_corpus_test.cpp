// Inference and folding compared with the node tests of the `onnx` package, whose models
// tests/emitter/test_node_corpus.py lays out as files:
//   NAME.onnx    a model with the types of its outputs
//   NAME.const   the same with its inputs as initializers
//   NAME.expect  the outputs of that one, as initializers
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>

#include "base/diagnostic.h"
#include "onnx/emit/emit.h"
#include "onnx/fold/fold.h"
#include "onnx/infer/infer.h"
#include "onnx/infer/infer_model.h"
#include "proto/reader/read.h"

namespace sardonyx::proto {
namespace {

using onnx::DType;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

// Of outputs of single nodes, and of values of whole models: as onnx 1.23 has them.
constexpr int kRanks = 1473, kSizes = 3182, kTyped = 12194;

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

// How much of what the models declare was found: of outputs' element types, ranks and sizes.
struct Found {
  int outputs = 0, dtypes = 0, ranks = 0, sizes = 0, constant_sizes = 0;

  void count(const ValueInfo& inferred, const ValueInfo& declared) {
    ++outputs;
    dtypes += inferred.dtype != DType::kUndefined ? 1 : 0;
    ranks += inferred.has_rank ? 1 : 0;
    if (!declared.has_rank) return;
    for (std::size_t i = 0; i < declared.shape.size(); ++i) {
      if (!declared.shape[i].is_constant()) continue;
      ++constant_sizes;
      sizes += inferred.has_rank && inferred.shape[i].is_constant() ? 1 : 0;
    }
  }
};

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
  int models = 0;
  Found found;
  for (const auto& path : files) {
    if (path.extension() != ".onnx") continue;
    const auto model = read(path);
    const Node* node = model->graph->first;
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
      check_output(*model->graph->outputs[i], declared[i], path.filename());
      found.count(*model->graph->outputs[i], declared[i]);
    }
    ++models;
  }
  EXPECT_GT(models, 1000);
  // What no rule finds any more is missed here; a new release of `onnx` may add to both sides.
  EXPECT_EQ(found.dtypes, found.outputs);
  EXPECT_GE(found.ranks, kRanks);
  EXPECT_GE(found.sizes, kSizes);
  std::cout << models << " models: " << found.ranks << " ranks of " << found.outputs << ", "
            << found.sizes << " sizes of " << found.constant_sizes << "\n";
}

// Whole models, the way that `sardonyx optimize` takes them: with nothing declared of what stands
// between inputs and outputs, with bodies and functions.
TEST_F(NodeCorpus, WholeModelsAreInferredWithoutDispute) {
  int values = 0, typed = 0, models = 0;
  for (const auto& path : files) {
    if (path.extension() != ".onnx") continue;
    const auto model = read(path);
    for (const onnx::TypeConflict& dispute : onnx::infer_types(*model))
      ADD_FAILURE() << path.filename() << ": " << dispute.node << ": " << dispute.message;
    for (const Node* node = model->graph->first; node != nullptr; node = node->next) {
      for (const ValueInfo* output : node->outputs) {
        if (output == nullptr) continue;
        ++values;
        typed += output->dtype != DType::kUndefined || output->type_kind == onnx::TypeKind::kOther;
      }
    }
    ++models;
  }
  EXPECT_GT(models, 1000);
  EXPECT_GE(typed, kTyped);
  std::cout << models << " models: " << typed << " types of " << values << "\n";
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
    const auto model = read(path);
    const Node* node = model->graph->first;
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
