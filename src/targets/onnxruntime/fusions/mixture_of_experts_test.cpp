#include <numeric>

#include "onnx/graph/recipe.h"
#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;
using onnx::Values;

constexpr std::int64_t kExperts = 3, kEach = 2, kWidth = 64;

// Two of three experts for each of `s` tokens, as transformers routes and multiplies them.
class MixtureOfExperts : public rewriting::RulesTest {
 protected:
  enum class Gates : std::uint8_t { kInHalves, kByTurns, kInOtherHalves };

  Value x = input("x", {s, kWidth}), logits = input("logits", {s, kExperts});
  Value scores = onnx.softmax(logits, {.axis = -1});
  Value chosen = onnx.topk(scores, onnx.ints({kEach}), {.axis = -1})[1];
  Value flat = onnx.reshape(chosen, {s * symbolic::Expr(kEach)});
  std::array<Value, 2> sort = onnx.topk(flat, onnx.shape_of(flat), {.axis = 0, .largest = 0});
  Value experts = sort[0], order = sort[1];

  static Value number(onnx::Emit& onnx, double value) { return onnx.scalar(value, kFloat32); }

  // The bin of each expert as torch.histc() finds it.
  Value bins() {
    const double last = kExperts - 1;
    const Value real = onnx.cast(experts, kFloat32);
    const Value scaled = onnx.mul(real, number(onnx, kExperts / last));
    const Value inside = onnx.and_(onnx.greater_or_equal(real, number(onnx, 0)),
                                   onnx.less_or_equal(real, number(onnx, last)));
    const Value least = onnx.min({onnx.where(inside, scaled, number(onnx, 0)), number(onnx, last)});
    return onnx.where(inside, onnx.cast(least, kInt64), onnx.int_scalar(kExperts));
  }

  // How many rows each expert has, and 0.
  Value counts() {
    const Value zeros = onnx.full(std::vector<symbolic::Expr>{kExperts + 1}, number(onnx, 0));
    const Value ones = onnx.expand(number(onnx, 1), onnx.shape_of(experts));
    const Value counted =
        onnx.slice(onnx.scatter_elements(zeros, bins(), ones, {.axis = 0, .reduction = "add"}), 0,
                   0, kExperts);
    const Value ends =
        onnx.cast(onnx.cumsum(onnx.cast(counted, kInt32), onnx.int_scalar(0)), kInt64);
    const Values parts = onnx.split(2, ends, onnx.ints({kExperts - 1, 1}), {.axis = 0});
    return onnx.concat({onnx.sub(ends, onnx.concat({onnx.ints({0}), parts[0]}, 0)),
                        onnx.sub(onnx.shape_of(flat), parts[1])},
                       0);
  }

  // Rows times the matrix of their expert, which is called `name`; its elements count up.
  Value products(Value rows, const std::string& name, std::int64_t to) {
    std::vector<float> numbers(static_cast<std::size_t>(kExperts * kWidth * to));
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    const Value stack = weight(name, {kExperts, kWidth, to}, numbers);
    const Values groups = onnx.split(kExperts + 1, rows, counts(), {.axis = 0});
    Values parts;
    for (std::int64_t i = 0; i < kExperts; ++i)
      parts.push_back(onnx.matmul(groups[static_cast<std::size_t>(i)],
                                  onnx.gather(stack, onnx.int_scalar(i), {.axis = 0})));
    parts.push_back(onnx.expand(
        number(onnx, 0), onnx.concat({onnx.shape_of(groups.back(), 0, 1), onnx.ints({to})}, 0)));
    return onnx.concat(parts, 0);
  }

  Value gated(Value hidden, Gates gates) {
    if (gates == Gates::kByTurns) {
      const auto columns = [&](std::int64_t first) {
        return onnx.slice(hidden, 1, first, 2 * kWidth, 2);
      };
      return onnx.swiglu(columns(0), columns(1));
    }
    const Values parts = onnx.split(2, hidden, onnx.ints({kWidth, kWidth}), {.axis = 1});
    const std::size_t gate = gates == Gates::kInHalves ? 0 : 1;
    return onnx.swiglu(parts[gate], parts[1 - gate]);
  }

  void route(Gates gates, bool normalizes) {
    Value picked = onnx.gather_elements(scores, chosen, {.axis = 1});
    if (normalizes)
      picked =
          onnx.div(picked, onnx.reduce("ReduceSum", picked, std::vector<std::int64_t>{1}, true));
    const Value rows = onnx.gather(x, onnx.div(order, onnx.int_scalar(kEach)), {.axis = 0});
    const Value made =
        products(gated(products(rows, "first", 2 * kWidth), gates), "second", kWidth);
    const Value factors = onnx.gather(onnx.reshape(picked, {s * symbolic::Expr(kEach)}), order);
    const Value weighted = onnx.mul(made, onnx.unsqueeze(factors, {1}));
    const Value back = onnx.scatter_nd(onnx.full(order.shape(), onnx.int_scalar(0)),
                                       onnx.unsqueeze(order, {1}), onnx.range(order.dim(0)));
    const Value parts = onnx.reshape(onnx.gather(weighted, back), {s, kEach, kWidth});
    outputs({onnx.reduce("ReduceSum", parts, std::vector<std::int64_t>{1}, false)});
  }

  const onnx::Node* made() const { return model.graph->last; }
};

TEST_F(MixtureOfExperts, GatesInHalvesArePutIntoTurns) {
  route(Gates::kInHalves, true);
  ASSERT_TRUE(run(kMixtureOfExperts)) << reason();
  EXPECT_EQ(ops(), "MoE");
  EXPECT_EQ(made()->string_or("activation_type", ""), "swiglu");
  EXPECT_EQ(made()->int_or("swiglu_fusion", 0), 1);
  EXPECT_EQ(made()->int_or("k", 0), kEach);
  EXPECT_EQ(made()->int_or("normalize_routing_weights", 0), 1);
  EXPECT_EQ(made()->float_or("activation_alpha", 0), 1);
  EXPECT_EQ(made()->float_or("activation_beta", 1), 0);
  EXPECT_EQ(made()->find("swiglu_limit"), nullptr);
  EXPECT_EQ(type(made()->output()), "float32[s, 64]");
  // Rows of the first matrix are its columns 0, 64, 1, 65, …
  EXPECT_EQ(type(made()->input(2)), "float32[3, 128, 64]");
  const std::vector<double> first = reals(made()->input(2));
  EXPECT_EQ(first[0], 0);
  EXPECT_EQ(first[kWidth], kWidth);
  EXPECT_EQ(first[2 * kWidth], 1);
  EXPECT_EQ(first[1], 2 * kWidth);
  EXPECT_EQ(reals(made()->input(4))[1], kWidth);
}

TEST_F(MixtureOfExperts, GatesThatAlternateStay) {
  route(Gates::kByTurns, false);
  ASSERT_TRUE(run(kMixtureOfExperts)) << reason();
  EXPECT_EQ(ops(), "MoE");
  EXPECT_EQ(made()->int_or("normalize_routing_weights", 1), 0);
  const std::vector<double> first = reals(made()->input(2));
  EXPECT_EQ(first[kWidth], 1);
  EXPECT_EQ(first[1], 2 * kWidth);
}

TEST_F(MixtureOfExperts, GatesBehindWhatTheyMultiplyAreLeft) {
  route(Gates::kInOtherHalves, true);
  EXPECT_FALSE(run(kMixtureOfExperts));
  EXPECT_EQ(reason(), "the experts are not gated by halves of the columns, or every other one");
}

TEST_F(MixtureOfExperts, WeightsOfTheProgramStay) {
  route(Gates::kInHalves, true);
  rewriting::Options options;
  options.keep_weights = true;
  EXPECT_FALSE(run(kMixtureOfExperts, options));
  EXPECT_EQ(reason(), "its weights stay as the program has them");
}

}  // namespace
}  // namespace sardonyx::targets
