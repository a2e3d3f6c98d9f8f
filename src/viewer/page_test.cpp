#include "viewer/page.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "viewer/alignment.h"
#include "viewer/groups.h"
#include "viewer/measures.h"
#include "viewer/statistics.h"

namespace sardonyx::viewer {
namespace {

using onnx::Graph;
using onnx::Model;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

class PageTest : public testing::Test {
 protected:
  // A node with one output, in a module by the name's slashes.
  ValueInfo* node(Model& in, const std::string& type, const std::string& name,
                  const std::vector<ValueInfo*>& inputs, Graph* graph = nullptr) {
    Node* made = in.add_node(type, "");
    in.name_node(made, name);
    for (ValueInfo* input : inputs) onnx::add_input(made, input);
    onnx::append(graph == nullptr ? in.graph : graph, made);
    onnx::add_output(made, in.add_value("y", graph));
    return made->output();
  }

  // x -> a/Relu -> a/b/MatMul -> Add(x)
  void fill(Model& in, double weight = 0.5) {
    ValueInfo* x = in.add_input(in.graph, "x");
    ValueInfo* w = in.add_weight("w", Tensor::filled(base::DType::kFloat32, {4, 4}, weight));
    ValueInfo* relu = node(in, "Relu", "/a/Relu", {x});
    ValueInfo* product = node(in, "MatMul", "/a/b/MatMul", {relu, w});
    ValueInfo* sum = node(in, "Add", "/Add", {product, x});
    onnx::set_outputs(in.graph, {sum});
  }

  // The JSON of a page.
  simdjson::dom::element data(const std::string& page) {
    const std::string_view begin = "id=\"model\">";
    const std::size_t at = page.find(begin) + begin.size();
    text_ = page.substr(at, page.find("</script>", at) - at);
    return parser_.parse(text_);
  }

  Model model{nullptr};

 private:
  std::string text_;
  simdjson::dom::parser parser_;
};

const Group& named(const Groups& groups, std::string_view path) {
  for (const Group& group : groups.groups)
    if (group.path == path) return group;
  throw std::out_of_range(std::string(path));
}

TEST_F(PageTest, LinksPassTheEdgesOfGroups) {
  fill(model);
  const Groups groups = groups_of(model);
  const std::int32_t x = groups.value_index.at(model.graph->inputs[0]);
  const Group& a = named(groups, "a");
  ASSERT_EQ(a.items.size(), 4u);
  EXPECT_EQ(a.items[0], (Item{ItemKind::kIn, x}));
  EXPECT_EQ(a.items[1].kind, ItemKind::kNode);
  EXPECT_EQ(a.items[2].kind, ItemKind::kGroup);
  EXPECT_EQ(a.items[3].kind, ItemKind::kOut);
  // In, Relu, the inner module, out: one after the other.
  ASSERT_EQ(a.links.size(), 3u);
  for (std::int32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(a.links[static_cast<std::size_t>(i)].from, i);
    EXPECT_EQ(a.links[static_cast<std::size_t>(i)].to, i + 1);
  }
  EXPECT_EQ(named(groups, "a.b").weights.size(), 1u);
}

TEST_F(PageTest, BodiesAreGroupsOfTheirNode) {
  ValueInfo* x = model.add_input(model.graph, "x");
  Node* branch = model.add_node("If", "");
  model.name_node(branch, "choice");
  onnx::add_input(branch, x);
  for (const char* name : {"then_branch", "else_branch"}) {
    Graph* body = model.add_graph(name, model.graph);
    onnx::set_outputs(body, {node(model, "Relu", std::string(name) + "_relu", {x}, body)});
    onnx::set_attribute(branch, name, body);
  }
  onnx::append(model.graph, branch);
  onnx::add_output(branch, model.add_value("result"));
  onnx::set_outputs(model.graph, {branch->output()});
  const Groups groups = groups_of(model);
  ASSERT_EQ(groups.groups.size(), 4u);
  EXPECT_EQ(groups.groups[1].kind, GroupKind::kNode);
  EXPECT_EQ(groups.groups[2].name, "then_branch");
  EXPECT_EQ(groups.nodes.size(), 3u);
  // The condition and what the bodies read go in, the result comes out of both.
  EXPECT_EQ(groups.groups[1].links.size(), 4u);
  EXPECT_EQ(groups.groups[3].links.size(), 2u);
}

TEST_F(PageTest, TextOfTheModelCannotEndItsScript) {
  fill(model);
  const std::string hostile = "</script><script>alert(1)</script>\"\n\\";
  model.graph->first->name = hostile;
  const std::string page = model_page({model, "<b>&" + hostile});
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(page.find("&lt;b>&amp;"), std::string::npos);
  const auto texts = data(page)["texts"].get_array();
  bool found = false;
  for (const simdjson::dom::element text : texts)
    found = found || std::string_view(text) == hostile;
  EXPECT_TRUE(found);
}

TEST_F(PageTest, MeasuresGoToNodesByTheirNameOrThatOfAValue) {
  fill(model);
  const std::vector<Measure> measures{{"time", "ms", {{"/a/Relu", 2.5}, {"y_2", 1}, {"no", 3}}}};
  const auto nodes =
      data(model_page({model, "m"}, measures))["measures"].at(0)["nodes"].get_array();
  EXPECT_EQ(double(nodes.at(0)), 2.5);
  EXPECT_TRUE(nodes.at(1).is_null());
  EXPECT_EQ(double(nodes.at(2)), 1);
}

TEST_F(PageTest, ModelsAreAligned) {
  fill(model);
  Model other{nullptr};
  fill(other, 0.25);
  node(other, "Relu", "/more", {other.graph->last->output()});
  onnx::set_attribute(other.graph->first, "alpha", 1.5F);
  const Groups a = groups_of(model), b = groups_of(other);
  const Alignment found = aligned(a, b);
  EXPECT_EQ(found.b_of_a, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(found.state_b[3], NodeState::kOnlyHere);
  EXPECT_EQ(found.state_a[2], NodeState::kSame);
  EXPECT_EQ(found.changes.at(0), std::vector<std::string>{"alpha: none → 1.5"});
  EXPECT_EQ(found.changes.at(1), std::vector<std::string>{"input 1: other data"});
  EXPECT_EQ(data(comparison_page({model, "a"}, {other, "b"}))["models"].get_array().size(), 2u);
}

TEST(Statistics, OfNumbersThatAreNone) {
  const std::vector<float> values{
      0, 1, 2, 3, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  const Tensor tensor =
      Tensor::of_bytes(base::DType::kFloat32, {6}, std::as_bytes(std::span(values)));
  const auto found = statistics_of(tensor);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->min, 0);
  EXPECT_EQ(found->max, 3);
  EXPECT_EQ(found->mean, 1.5);
  EXPECT_EQ(found->zeros, 1);
  EXPECT_EQ(found->nans, 1);
  EXPECT_EQ(found->infinities, 1);
  EXPECT_EQ(found->histogram.front(), 1);
  EXPECT_EQ(found->histogram.back(), 1);
  EXPECT_EQ(found->values[1], "1");
}

TEST(Statistics, OfALargeTensorAreThoseOfASample) {
  const auto found = statistics_of(Tensor::filled(base::DType::kFloat16, {3'000'001}, 2));
  ASSERT_TRUE(found);
  EXPECT_LT(found->looked_at, found->elements);
  EXPECT_EQ(found->mean, 2);
  EXPECT_EQ(found->deviation, 0);
}

TEST(Statistics, NothingOfNoData) {
  EXPECT_FALSE(statistics_of(Tensor::filled(base::DType::kFloat32, {0}, 0)));
  Tensor missing = Tensor::filled(base::DType::kFloat32, {2}, 0);
  missing.missing = true;
  EXPECT_FALSE(statistics_of(missing));
}

TEST(Measures, OfFilesOfAllKinds) {
  const Measure profile = measure_of(
      R"([{"cat": "Node", "name": "a_kernel_time", "dur": 2000, "args": {"op_name": "Add"}},
          {"cat": "Node", "name": "a_kernel_time", "dur": 4000}, {"cat": "Session"}])",
      "p.json");
  EXPECT_EQ(profile.nodes.at("a"), 3);
  EXPECT_EQ(profile.unit, "ms");
  EXPECT_EQ(measure_of(R"({"title": "t", "nodes": {"a": 2, "b": "x"}})", "").nodes.size(), 1u);
  const Measure errors = measure_of(R"({"g": {"results": {"v": {"value": 0.5}}}})", "x/error.json");
  EXPECT_EQ(errors.nodes.at("v"), 0.5);
  EXPECT_EQ(errors.title, "error");
  for (const char* text : {"", "{", "3", "{\"x\": 1}"})
    EXPECT_THROW(measure_of(text, "bad.json"), base::Error) << text;
}

}  // namespace
}  // namespace sardonyx::viewer
