#include "targets/placement.h"

#include <gtest/gtest.h>

#include "rewriting/test_graph.h"
#include "targets/lower.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;

class Placement : public rewriting::RulesTest {
 protected:
  const Target& cuda = *find_target("onnxruntime-cuda");
  Value x = input("x", {b, 4, s});

  std::int64_t opset() { return best_opset(model, cuda); }
  void attend() {
    outputs({onnx.attention(x, x, x, {}, {}, {}, {}, {.kv_num_heads = 1, .q_num_heads = 1})});
  }
};

TEST_F(Placement, PoolingIsOfTheOpsetThatHasItsKernel) {
  outputs({onnx.relu(onnx.max_pool(input("image", {b, 3, 8, 8}), {.kernel_shape = {2, 2}}))});
  EXPECT_EQ(opset(), 21);
  lower(model, cuda, {.opset = 21});
  EXPECT_EQ(ops(), "MaxPool Relu");
}

TEST_F(Placement, PoolingOfAnotherOpsetIsTheMaximumOfSlices) {
  outputs({onnx.max_pool(input("image", {b, 3, 8, 8}), {.kernel_shape = {2, 2}})});
  lower(model, cuda, {.opset = 23});
  EXPECT_EQ(ops(), "Slice Slice Max Slice Slice Max");
  EXPECT_TRUE(nodes_on_cpu(model, cuda, 23).empty());
}

TEST_F(Placement, OpsetsWithoutAKernelAreNamed) {
  outputs({onnx.relu(onnx.max_pool(input("image", {b, 3, 9, 9}),
                                   {.ceil_mode = 1, .kernel_shape = {2, 2}, .strides = {2, 2}}))});
  lower(model, cuda, {.opset = 23});
  const std::vector<OnCpu> found = nodes_on_cpu(model, cuda, 23);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(is_for_cpu_alone(model, cuda, 23));
  EXPECT_EQ(
      found[0].reason,
      "runs on the CPU, between copies: ONNX Runtime's CUDA provider has no kernel of MaxPool "
      "in its form of opset 22");
}

TEST_F(Placement, TypesWithoutAKernelAreNamed) {
  const Value k = input("k", {4}, kInt64);
  outputs({onnx.bitwise_and(k, k)});
  EXPECT_EQ(opset(), 23);
  lower(model, cuda, {.opset = 23});
  EXPECT_EQ(nodes_on_cpu(model, cuda, 23).size(), 1U);
  EXPECT_TRUE(is_for_cpu_alone(model, cuda, 23));
  EXPECT_TRUE(nodes_on_cpu(model, *find_target("onnxruntime-cpu"), 23).empty());
}

TEST_F(Placement, HalvesAreComputedWithoutCasts) {
  const Value half = input("half", {b, 3, 8, 8}, kFloat16);
  outputs({onnx.max_pool(half, {.kernel_shape = {2, 2}})});
  lower(model, cuda, {.opset = 21});
  EXPECT_EQ(ops(), "MaxPool");
}

TEST_F(Placement, WhatTheAcceleratorLacksIsComputedInTypesThatItHas) {
  const Value c = input("c", {4}, kBool), n = input("n", {4}, kInt8);
  outputs({onnx.where(c, n, n)});
  lower(model, cuda, {.opset = 23});
  EXPECT_TRUE(nodes_on_cpu(model, cuda, 23).empty());
}

}  // namespace
}  // namespace sardonyx::targets
