#include "proto/reader/read.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/temporary_folder.h"
#include "onnx/graph/ir.h"
#include "proto/reader/example_models.h"
#include "proto/wire/fields.h"
#include "proto/writer/write.h"

namespace sardonyx::proto {
namespace {

namespace fs = std::filesystem;
using base::DType;
using onnx::Model;

// --- messages by hand: what no writer of ours would write

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number(std::uint32_t field, std::int64_t value) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}
std::string text(std::uint32_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

std::string node(const std::string& op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::string& more = {}) {
  std::string message;
  for (const std::string& name : inputs) message += text(field::node::kInput, name);
  for (const std::string& name : outputs) message += text(field::node::kOutput, name);
  return text(field::graph::kNode, message + text(field::node::kOpType, op) + more);
}
std::string input(const std::string& name, const std::string& type = {}) {
  return text(field::graph::kInput, text(1, name) + (type.empty() ? "" : text(2, type)));
}
std::string output(const std::string& name) { return text(field::graph::kOutput, text(1, name)); }
std::string model_of(const std::string& graph, std::int64_t ir_version = 8) {
  return number(field::model::kIrVersion, ir_version) + text(field::model::kGraph, graph) +
         text(field::model::kOpsetImport, number(2, 17));
}
std::string initializer(const std::string& tensor) {
  return text(field::graph::kInitializer, text(field::tensor::kName, "w") + tensor);
}
std::string tensor(DType dtype, const std::vector<std::int64_t>& dims, const std::string& data) {
  std::string message = number(field::tensor::kDataType, static_cast<std::int64_t>(dtype)) + data;
  for (const std::int64_t dim : dims) message += number(field::tensor::kDims, dim);
  return message;
}
std::string packed(std::uint32_t field, const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t value : values) bytes += varint(static_cast<std::uint64_t>(value));
  return text(field, bytes);
}

std::unique_ptr<Model> parsed(const std::string& bytes) {
  const auto kept = std::make_shared<std::string>(bytes);
  return parse(as_bytes(*kept), kept);
}

// The diagnostic that parsing ends in.
base::Diagnostic refusal(const std::string& bytes) {
  try {
    parsed(bytes);
  } catch (const base::Error& error) {
    return error.diagnostics().at(0);
  }
  return {};
}
std::string code(const std::string& bytes) { return refusal(bytes).code; }

// The tensor of a model whose only initializer is this.
onnx::Tensor tensor_of(const std::string& message) {
  return *parsed(model_of(initializer(message) + output("w")))->initializers.at(0)->constant;
}
std::string code_of_tensor(const std::string& message) {
  return code(model_of(initializer(message) + output("w")));
}

TEST(ReadTest, NodesInAnotherOrderArePutInOrder) {
  const auto model =
      parsed(model_of(input("x") + node("Neg", {"a"}, {"b"}) + node("Abs", {"x"}, {"other"}) +
                      node("Exp", {"x"}, {"a"}) + output("b") + output("other")));
  std::string ops;
  for (const onnx::Node* each = model->graph->first; each != nullptr; each = each->next)
    ops += each->op_type + " ";
  EXPECT_EQ(ops, "Abs Exp Neg ");
}

TEST(ReadTest, GraphsThatContradictThemselvesAreRefused) {
  const std::string x = input("x");
  EXPECT_EQ(code(model_of(x + node("Neg", {"x"}, {"y"}) + output("y"))), "");
  EXPECT_EQ(code(model_of(x + node("Neg", {"nowhere"}, {"y"}))), "SX1152");
  EXPECT_EQ(code(model_of(x + output("y"))), "SX1152");
  EXPECT_EQ(code(model_of(x + x)), "SX1152");
  EXPECT_EQ(code(model_of(x + node("Neg", {"x"}, {"x"}))), "SX1152");
  EXPECT_EQ(code(model_of(x + node("", {"x"}, {"y"}))), "SX1152");
  EXPECT_EQ(code(model_of(input(""))), "SX1152");
  EXPECT_EQ(code(model_of(node("Neg", {"b"}, {"b"}))), "SX1152");
  EXPECT_EQ(code(model_of(node("Neg", {"a"}, {"b"}) + node("Neg", {"b"}, {"a"}))), "SX1152");
  EXPECT_EQ(code(number(1, 8) + text(7, "") + text(7, "")), "SX1152");
  EXPECT_EQ(code(number(1, 8)), "SX1151");
  EXPECT_EQ(code(""), "SX1151");
  EXPECT_EQ(code(text(7, "")), "SX1153");  // no operator set
}

TEST(ReadTest, TheRefusalNamesTheNode) {
  const base::Diagnostic found =
      refusal(model_of(node("Neg", {"gone"}, {"y"}, text(field::node::kName, "n1"))));
  EXPECT_NE(found.message.find("'gone'"), std::string::npos);
  ASSERT_EQ(found.contexts.size(), 1U);
  EXPECT_EQ(found.contexts[0], "in the node 'n1' (Neg)");
}

TEST(ReadTest, BodiesSeeWhatTheirGraphMakes) {
  const auto with_body = [](const std::string& body) {
    return node(
        "If", {"x"}, {"y"},
        text(field::node::kAttribute, text(1, "then_branch") + number(20, 5) + text(6, body)));
  };
  const std::string body = node("Neg", {"x"}, {"inner"}) + output("inner");
  EXPECT_EQ(code(model_of(input("x") + with_body(body))), "");
  const std::string later = node("Neg", {"z"}, {"inner"}) + output("inner");
  EXPECT_EQ(code(model_of(input("x") + with_body(later) + node("Neg", {"x"}, {"z"}))), "");
  EXPECT_EQ(code(model_of(input("x") + with_body(later) + node("Neg", {"y"}, {"z"}))), "SX1152");
  // What a body defines is not seen outside; a name of its own may be one of another body.
  EXPECT_EQ(code(model_of(input("x") + with_body(body) + node("Neg", {"inner"}, {"z"}))), "SX1152");
  const auto model = parsed(
      model_of(input("x") + with_body(body) + node("Neg", {"x"}, {"inner"}) + output("inner")));
  EXPECT_EQ(model->graph->outputs[0]->name, "inner");  // the main graph keeps its names
  EXPECT_EQ(onnx::bodies(model->graph->first)[0]->outputs[0]->name, "inner_1");
}

TEST(ReadTest, DeepNestingIsRefused) {
  std::string graph = node("Neg", {"x"}, {"deep"}) + output("deep");
  const auto wrap = [&](int times) {
    std::string nested = graph;
    for (int i = 0; i < times; ++i)
      nested = node("If", {"x"}, {"y" + std::to_string(i)},
                    text(field::node::kAttribute, text(1, "b") + number(20, 5) + text(6, nested)));
    return model_of(input("x") + nested);
  };
  EXPECT_EQ(code(wrap(30)), "");
  EXPECT_EQ(code(wrap(500)), "SX1151");
}

TEST(ReadTest, WhatIsNotSupportedIsSaid) {
  EXPECT_EQ(code(model_of(input("x", text(field::type::kTensor, number(1, 99))))), "SX1153");
  EXPECT_EQ(code_of_tensor(tensor(static_cast<DType>(29), {1}, "")), "SX1153");
  EXPECT_EQ(code_of_tensor(tensor(DType::kUndefined, {1}, "")), "SX1153");
  EXPECT_EQ(code_of_tensor(tensor(DType::kInt8, {}, text(field::tensor::kSegment, ""))), "SX1153");
}

TEST(ReadTest, TypedFieldsAreDecoded) {
  namespace f = field::tensor;
  const auto ints = [](DType dtype, std::uint32_t field, const std::vector<std::int64_t>& values) {
    const auto size = static_cast<std::int64_t>(values.size());
    return *tensor_of(tensor(dtype, {size}, packed(field, values))).ints();
  };
  using Ints = std::vector<std::int64_t>;
  EXPECT_EQ(ints(DType::kInt64, f::kInt64Data, {-1, std::int64_t{1} << 40}),
            (Ints{-1, std::int64_t{1} << 40}));
  EXPECT_EQ(ints(DType::kInt32, f::kInt32Data, {-5, 7}), (Ints{-5, 7}));
  EXPECT_EQ(ints(DType::kInt8, f::kInt32Data, {-5, 7}), (Ints{-5, 7}));
  EXPECT_EQ(ints(DType::kBool, f::kInt32Data, {1, 0}), (Ints{1, 0}));
  EXPECT_EQ(ints(DType::kUInt32, f::kUint64Data, {0xffffffff}), (Ints{0xffffffff}));
  // float16 as its bits; 4-bit elements two by two.
  EXPECT_EQ(tensor_of(tensor(DType::kFloat16, {1}, packed(f::kInt32Data, {0x3c00}))).reals(),
            std::vector<double>{1});
  EXPECT_EQ(tensor_of(tensor(DType::kInt4, {3}, packed(f::kInt32Data, {0x7f, 0x08}))).ints(),
            (Ints{-1, 7, -8}));
  // One by one instead of packed, and dims packed instead of one by one.
  EXPECT_EQ(tensor_of(number(f::kInt64Data, 3) + number(f::kInt64Data, 4) +
                      packed(f::kDims, {1, 2}) + number(f::kDataType, 7))
                .ints(),
            (Ints{3, 4}));
  EXPECT_EQ(tensor_of(tensor(DType::kFloat64, {1},
                             text(f::kDoubleData, std::string("\0\0\0\0\0\0\xf0\x3f", 8))))
                .reals(),
            std::vector<double>{1});
  EXPECT_EQ(
      tensor_of(tensor(DType::kString, {2}, text(f::kStringData, "a") + text(f::kStringData, "")))
          .strings,
      (std::vector<std::string>{"a", ""}));
}

TEST(ReadTest, DataMustFitItsTensor) {
  namespace f = field::tensor;
  const std::string four(4, '\0');
  EXPECT_EQ(code_of_tensor(tensor(DType::kFloat32, {1}, text(f::kRawData, four))), "");
  EXPECT_EQ(code_of_tensor(tensor(DType::kFloat32, {2}, text(f::kRawData, four))), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kFloat32, {}, "")), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kFloat32, {1}, packed(f::kInt64Data, {1}))), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kInt4, {3}, text(f::kRawData, "a"))), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kInt4, {3}, text(f::kRawData, "ab"))), "");
  EXPECT_EQ(code_of_tensor(tensor(DType::kString, {2}, text(f::kStringData, "a"))), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kString, {1}, text(f::kRawData, "a"))), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kFloat32, {1}, text(f::kFloatData, "abc"))), "SX1151");
  // Sizes that no memory could hold, or whose product overflows.
  const std::int64_t big = std::int64_t{1} << 32;
  EXPECT_EQ(code_of_tensor(tensor(DType::kInt8, {-1}, "")), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kInt8, {big, big}, "")), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kInt8, {big, big, 0}, "")), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kFloat32, {big, 1 << 30}, "")), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kFloat32, {big, 1 << 20}, "")), "SX1154");
  EXPECT_EQ(code_of_tensor(tensor(DType::kFloat32, {0, 5}, "")), "");
}

// What an IR has no place for comes out as it went in.
TEST(ReadTest, WhatHasNoPlaceIsCarriedThrough) {
  namespace f = field::type;
  const std::string tensor_type = text(f::kTensor, number(1, 1));
  const std::string nested = text(f::kSequence, text(1, text(f::kSequence, text(1, tensor_type))));
  const std::string map = text(f::kMap, number(1, 7) + text(2, tensor_type));
  const std::string dims = text(2, text(1, text(3, "DATA_BATCH") + text(2, "N")) +
                                       text(1, text(2, "?")) + text(1, number(1, -1)));
  const std::string named = text(f::kTensor, number(1, 1) + dims) + text(f::kDenotation, "IMAGE");
  const std::string sparse =
      text(1, tensor(DType::kFloat32, {1}, text(field::tensor::kRawData, "abcd")) +
                  text(field::tensor::kName, "s")) +
      text(2, tensor(DType::kInt64, {1}, packed(field::tensor::kInt64Data, {2}))) + number(3, 5);
  const std::string annotation = text(1, "y") + text(2, text(1, "SCALE_TENSOR") + text(2, "scale"));
  const std::string attribute =
      text(1, "types") + number(20, 14) + text(15, tensor_type) + text(13, "documentation");
  const std::string graph =
      node("N", {"a", "s"}, {"y"},
           text(6, "of a node") + text(field::node::kDomain, "own") +
               text(field::node::kAttribute, attribute)) +
      initializer(tensor(DType::kFloat32, {}, text(field::tensor::kRawData, "abcd")) +
                  text(12, "of a tensor")) +
      text(field::graph::kInitializer,
           tensor(DType::kFloat32, {}, text(9, "abcd")) + text(field::tensor::kName, "scale")) +
      text(10, "of a graph") + input("a", nested) + input("b", map) + input("c", named) +
      text(field::graph::kOutput, text(1, "y") + text(3, "of an output")) + output("w") +
      text(field::graph::kAnnotation, annotation) + text(field::graph::kSparseInitializer, sparse) +
      text(16, text(1, "key") + text(2, "of a graph"));
  const std::string training = text(field::model::kTrainingInfo, text(1, ""));
  const auto model = parsed(model_of(graph) + training + text(99, "newer"));
  EXPECT_TRUE(model->has_training);
  EXPECT_EQ(model->graph->inputs[0]->type_kind, onnx::TypeKind::kOther);
  EXPECT_FALSE(model->graph->inputs[2]->shape[1].known());  // two dims "?" are not the same
  onnx::verify(*model);
  const std::string written = serialize(*model);
  for (const std::string& part :
       {nested, map, named, sparse, annotation, training, text(99, "newer"), text(15, tensor_type),
        text(13, "documentation"), text(6, "of a node"), text(12, "of a tensor"),
        text(10, "of a graph"), text(3, "of an output"), text(field::tensor::kName, "scale"),
        text(16, text(1, "key") + text(2, "of a graph"))})
    EXPECT_NE(written.find(part), std::string::npos) << part;
  EXPECT_EQ(serialize(*parsed(written)), written);
}

TEST(ReadTest, AnInitializerThatIsAnInputIsNoConstant) {
  const std::string w = initializer(tensor(DType::kInt8, {}, text(field::tensor::kRawData, "a")));
  for (const std::int64_t ir_version : {3, 8}) {
    const auto model = parsed(model_of(
        w + input("w") + input("x") + node("Add", {"x", "w"}, {"y"}) + output("y"), ir_version));
    // The old format had to list every initializer, which could not be another then.
    ASSERT_EQ(model->graph->inputs.size(), ir_version == 3 ? 1U : 2U);
    const onnx::ValueInfo* value = model->graph->first->input(1);
    EXPECT_EQ(value->name, "w");
    EXPECT_EQ(value->constant != nullptr, ir_version == 3);
    const std::string listed =
        text(field::graph::kInput, text(1, "w") + text(2, text(1, number(1, 3) + text(2, ""))));
    const std::string written = serialize(*model);
    EXPECT_NE(written.find(listed), std::string::npos);
    EXPECT_NE(written.find(text(field::tensor::kRawData, "a")), std::string::npos);
    EXPECT_EQ(serialize(*parsed(written)), written);
  }
}

TEST(ReadTest, NodesConstantAreConstantsUnlessTheGraphHandsThemOut) {
  const auto constant = [](const std::string& name, const std::string& attribute) {
    return node("Constant", {}, {name}, text(field::node::kAttribute, attribute));
  };
  const std::string ints = text(1, "value_ints") + number(8, 3) + number(8, 4) + number(20, 7);
  const auto model =
      parsed(model_of(input("x") + constant("k", ints) + constant("out", ints) +
                      node("Reshape", {"x", "k"}, {"y"}) + output("y") + output("out")));
  const onnx::ValueInfo* k = model->graph->first->next->input(1);
  EXPECT_EQ(model->graph->first->op_type, "Constant");
  EXPECT_EQ(k->name, "k");
  ASSERT_NE(k->constant, nullptr);
  EXPECT_EQ(k->constant->ints(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_FALSE(k->is_weight);
  EXPECT_EQ(k->producer, nullptr);
  onnx::verify(*model);
}

TEST(ReadTest, BodiesSideBySideKeepTheirNames) {
  const auto branch = [](const std::string& op) {
    const std::string ints = text(1, "value_ints") + number(8, 3) + number(20, 7);
    return text(6, node("Constant", {}, {"k"}, text(field::node::kAttribute, ints)) +
                       node(op, {"x"}, {"same"}) + node("Add", {"same", "k"}, {"sum"}) +
                       output("sum"));
  };
  const std::string branches =
      text(field::node::kAttribute, text(1, "then_branch") + branch("Neg") + number(20, 5)) +
      text(field::node::kAttribute, text(1, "else_branch") + branch("Exp") + number(20, 5));
  const auto model =
      parsed(model_of(input("x") + input("c") + node("If", {"c"}, {"y"}, branches) + output("y")));
  onnx::verify(*model);
  const std::vector<onnx::Graph*> bodies = onnx::bodies(model->graph->first);
  for (const onnx::Graph* body : bodies) {
    EXPECT_EQ(body->first->output()->name, "same");
    EXPECT_EQ(body->outputs[0]->name, "sum");
  }
  // The main graph has both constants.
  EXPECT_EQ(bodies[0]->last->input(1)->name, "k");
  EXPECT_EQ(bodies[1]->last->input(1)->name, "k_1");
}

TEST(ReadTest, WireTypesAreChecked) {
  EXPECT_EQ(code(text(field::model::kIrVersion, "a")), "SX1151");
  EXPECT_EQ(code(number(field::model::kGraph, 1)), "SX1151");
  EXPECT_EQ(code(model_of(number(field::graph::kNode, 1))), "SX1151");
  EXPECT_EQ(code("\x3b"), "SX1151");                                      // a group
  EXPECT_EQ(code("\x02"), "SX1151");                                      // field 0
  EXPECT_EQ(code(std::string(11, '\xff')), "SX1151");                     // a varint without end
  EXPECT_EQ(code("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), "SX1151");  // a length of 2^63 - 1
  // Unknown fields of every wire type are stepped over.
  const std::string unknown = number(1000, 5) + text(1001, "abc") + varint(1002 << 3 | 5) + "4444" +
                              varint(1003 << 3 | 1) + "88888888";
  EXPECT_EQ(code(model_of(input("x") + unknown) + unknown), "");
}

class ExternalDataTest : public testing::Test {
 protected:
  ExternalDataTest() {
    fs::create_directory(folder_ / "models");
    put("models/data", "12345678");
    put("secret", "12345678");
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::string code_with(const std::string& location, const std::string& offset,
                        const std::string& length, std::int64_t count = 1) const {
    namespace f = field::tensor;
    std::string external = number(f::kDataLocation, 1);
    const auto entry = [&](const std::string& key, const std::string& value) {
      if (!value.empty()) external += text(f::kExternalData, text(1, key) + text(2, value));
    };
    entry("location", location);
    entry("offset", offset);
    entry("length", length);
    put("models/m.onnx",
        model_of(initializer(tensor(DType::kFloat32, {count}, external)) + output("w")));
    try {
      const auto model = read(folder_ / "models/m.onnx");
      return {reinterpret_cast<const char*>(model->initializers.at(0)->constant->data), 4};
    } catch (const base::Error& error) {
      return error.diagnostics().at(0).code;
    }
  }

  base::TemporaryFolder folder_;
};

TEST_F(ExternalDataTest, IsBorrowedFromItsPlace) {
  EXPECT_EQ(code_with("data", "", ""), "1234");
  EXPECT_EQ(code_with("data", "4", "4"), "5678");
  EXPECT_EQ(code_with("./data", "2", "4"), "3456");
}

TEST_F(ExternalDataTest, MustLieInTheFile) {
  EXPECT_EQ(code_with("data", "5", "4"), "SX1155");
  EXPECT_EQ(code_with("data", "9", "4"), "SX1155");
  EXPECT_EQ(code_with("data", "-4", "4"), "SX1155");
  EXPECT_EQ(code_with("data", "9223372036854775807", "4"), "SX1155");
  EXPECT_EQ(code_with("data", "99999999999999999999", "4"), "SX1155");
  EXPECT_EQ(code_with("data", "0", "8"), "SX1155");
  EXPECT_EQ(code_with("data", "0", "", std::int64_t{1} << 40), "SX1155");
  EXPECT_EQ(code_with("data", "0x1", ""), "SX1155");
}

TEST_F(ExternalDataTest, MustLieInTheFolder) {
  EXPECT_EQ(code_with("../secret", "", ""), "SX1155");
  EXPECT_EQ(code_with("a/../../secret", "", ""), "SX1155");
  EXPECT_EQ(code_with((folder_ / "secret").string(), "", ""), "SX1155");
  EXPECT_EQ(code_with("/etc/passwd", "", ""), "SX1155");
  EXPECT_EQ(code_with("", "", ""), "SX1155");
  EXPECT_EQ(code_with("gone", "", ""), "SX1155");
  EXPECT_EQ(code_with(std::string("data\0x", 6), "", ""), "SX1155");
  EXPECT_EQ(code_with(".", "", ""), "SX1101");
  fs::create_symlink("../secret", folder_ / "models/link");
  EXPECT_EQ(code_with("link", "", ""), "SX1155");
  fs::create_symlink("data", folder_ / "models/inside");
  EXPECT_EQ(code_with("inside", "", ""), "1234");
}

TEST_F(ExternalDataTest, IsFoundThroughLinksToModelAndData) {
  ASSERT_EQ(code_with("data", "", ""), "1234");
  fs::create_directory(folder_ / "cache");
  fs::create_symlink("../models/m.onnx", folder_ / "cache/m.onnx");
  fs::create_symlink("../models/data", folder_ / "cache/data");
  EXPECT_EQ(read(folder_ / "cache/m.onnx")->initializers.size(), 1U);
}

TEST(ReadTest, ExternalDataNeedsAFolder) {
  const std::string external =
      number(field::tensor::kDataLocation, 1) +
      text(field::tensor::kExternalData, text(1, "location") + text(2, "d"));
  EXPECT_EQ(code_of_tensor(tensor(DType::kInt8, {1}, external)), "SX1155");
}

TEST(ReadTest, FilesThatCannotBeReadAreNamed) {
  try {
    read("/no/such/model.onnx");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, "SX1101");
    EXPECT_NE(std::string(error.what()).find("/no/such/model.onnx"), std::string::npos);
  }
}

// --- no input may crash, hang or come back wrong: either an error, or a model that can be written

void survive(const std::string& bytes) {
  std::unique_ptr<Model> model;
  try {
    model = parsed(bytes);
  } catch (const base::Error&) {
    return;
  }
  const std::string once = serialize(*model);
  EXPECT_EQ(serialize(*parsed(once)), once);
}

TEST(ReadFuzzTest, EveryTruncation) {
  const std::string whole = serialize(*model_of_everything());
  for (std::size_t size = 0; size < whole.size(); ++size) survive(whole.substr(0, size));
}

TEST(ReadFuzzTest, Mutations) {
  const std::string whole = serialize(*model_of_everything());
  std::mt19937 random(20240607);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const auto mutate = [&](std::string& bytes) {
    const std::size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        bytes.erase(at, 1 + below(8));
        break;
      case 3:
        bytes.insert(at, whole.substr(below(whole.size()), 1 + below(64)));
        break;
      default:
        bytes.replace(at, 1, "\xff\xff\xff\xff\x7f");
        break;
    }
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (int round = 0; round < 20000 && std::chrono::steady_clock::now() < end; ++round) {
    std::string bytes = whole;
    for (std::size_t i = 1 + below(4); i > 0 && !bytes.empty(); --i) mutate(bytes);
    survive(bytes);
  }
}

}  // namespace
}  // namespace sardonyx::proto
