#include "frontends/pt2/pt2.h"

#include <gtest/gtest.h>

#include <cstring>

#include "frontends/pt2/program_for_test.h"

namespace sardonyx::pt2 {
namespace {

using program::InputKind;
using symbolic::Expr;

std::unique_ptr<program::Program> read(const ArchiveForTest& archive) {
  return read_pt2(FileForTest(archive.str()).path());
}

TEST(ReadPt2, MakesTheWholeProgram) {
  const auto program = read(program_archive(kModelForTest, kWeightsForTest, kConstantsForTest));
  EXPECT_EQ(program->torch_version, "2.13.0+cpu");
  EXPECT_EQ(program->parameter_names, (std::vector<std::string>{"x", "k"}));
  EXPECT_EQ(program->input_spec, "[1, {}]");

  ASSERT_EQ(program->inputs.size(), 5u);
  EXPECT_EQ(program->inputs[0].target, "fc.weight");
  EXPECT_EQ(program->inputs[2].kind, InputKind::kBuffer);
  EXPECT_FALSE(program->inputs[2].persistent);
  EXPECT_EQ(program->inputs[4].value, nullptr);  // the constant k
  ASSERT_EQ(program->graph->inputs.size(), 4u);
  const program::Value* x = program->inputs[3].value;
  EXPECT_EQ(x->shape[0].str(), "s0");
  EXPECT_EQ(symbolic::range(x->shape[0]).high, 64);
  EXPECT_TRUE(x->strides.empty());

  ASSERT_EQ(program->graph->calls.size(), 6u);
  const program::Call& linear = *program->graph->calls[0];
  EXPECT_EQ(linear.schema->qualified(), "aten::linear");
  EXPECT_EQ(*linear.argument("input").get<program::Value*>(), x);
  EXPECT_EQ(linear.source->module_path(), "layers.slice(None, 2).fc (Linear)");
  EXPECT_EQ(linear.source->location().line, 7);
  EXPECT_EQ(linear.outputs[0]->shape[0], x->shape[0]);

  const program::Call& max = *program->graph->calls[2];
  EXPECT_EQ(*max.argument("keepdim").get<bool>(), false);  // a default
  ASSERT_EQ(max.outputs.size(), 2u);
  EXPECT_EQ(max.outputs[1], nullptr);  // nothing reads it

  const program::Call& mul = *program->graph->calls[4];
  EXPECT_EQ(mul.schema->qualified(), "sym::mul");
  EXPECT_EQ(*mul.argument("a").get<Expr>(), x->shape[0]);
  EXPECT_EQ(*program->outputs[2].value.get<Expr>(), x->shape[0] * 2);
  EXPECT_TRUE(program->outputs[3].value.is_none());

  const program::Call& cond = *program->graph->calls[5];
  const program::Graph& body = **cond.argument("true_graph").get<program::Graph*>();
  EXPECT_EQ(body.name, "true_graph_0");
  ASSERT_EQ(body.inputs.size(), 2u);
  EXPECT_EQ(body.inputs[1], nullptr);  // a constant keeps its position
  EXPECT_NE(body.inputs[0], x);        // a name of its own
  EXPECT_TRUE((*cond.argument("operands").get<program::List>())[1].is_none());
  EXPECT_EQ(cond.outputs[0], nullptr);
}

TEST(ReadPt2, BorrowsWeightsAndKeepsTheFileMapped) {
  const program::Weight* row = nullptr;
  auto program = read(program_archive(kModelForTest, kWeightsForTest, kConstantsForTest));
  const program::Weight* weight = program->inputs[0].value->weight;
  row = program->inputs[1].value->weight;
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->storage, row->storage);  // tied
  EXPECT_EQ(row->offset, 3);
  EXPECT_EQ(weight->storage->size, 24);
  // The file itself is deleted by now.
  float value = 0;
  std::memcpy(&value, row->storage->data + 4 * row->offset, sizeof value);
  EXPECT_EQ(value, 3.5F);
}

TEST(ReadPt2, ReadsCompressedEntries) {
  ArchiveForTest archive = program_archive(kModelForTest, kWeightsForTest, kConstantsForTest);
  ArchiveForTest repacked;
  for (const ArchiveForTest::Entry& entry : archive.entries)
    repacked.add_deflated(entry.name, entry.bytes);
  EXPECT_EQ(program::to_string(*read(repacked)), program::to_string(*read(archive)));
}

TEST(ReadPt2, WeightsOfFakeProgramsHaveNoData) {
  ArchiveForTest archive = program_archive(kModelForTest, kWeightsForTest, kConstantsForTest);
  archive.entries[0].bytes.clear();
  archive.entries[0].size = 0;
  EXPECT_EQ(read(archive)->inputs[0].value->weight->storage->data, nullptr);
}

// One edit of a file, and the code it must end in.
struct Damage {
  const char* from;
  const char* to;
  const char* code;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string code_of(const ArchiveForTest& archive) {
  try {
    read(archive);
    return "none";
  } catch (const base::Error& error) {
    return error.diagnostics()[0].code;
  }
}

TEST(ReadPt2, SaysWhatIsWrongWithTheModel) {
  const Damage kDamages[] = {
      {"\"opset_version\"", "\"opset_version", "SX1104"},
      {"{\n\"graph_module\"", "[]", "SX1104"},
      {"\"graph_module\"", "\"graph\"", "SX1105"},
      {"\"tensor_values\": {\n   \"p_w\"", "\"tensor_vals\": {\n   \"p_w\"", "SX1105"},
      {"\"nodes\": [", "\"nodes\": 3, \"x\": [", "SX1105"},
      {"\"major\": 8", "\"major\": 9", "SX1109"},
      {"\"major\": 8", "\"major\": \"8\"", "SX1105"},
      {"\"as_int\": -1", "\"as_int\": 1e3", "SX1105"},
      {"\"as_int\": -1", "\"as_int\": 99999999999999999999", "SX1104"},
      {"\"as_int\": -1", "\"as_surprise\": 1", "SX1105"},
      {"\"as_int\": -1", "\"as_string\": \"d\"", "SX1204"},
      {"{\"as_int\": -1}", "{}", "SX1105"},
      {"\"dtype\": 5", "\"dtype\": 9", "SX1221"},
      {"\"dtype\": 5", "\"dtype\": 77", "SX1105"},
      {"Mul(Integer(2)", "Mul((Integer(2)", "SX1401"},
      {"{\"as_tensor\": {\"name\": \"linear\"}}, \"kind\"",
       "{\"as_tensor\": {\"name\": \"nobody\"}}, \"kind\"", "SX1206"},
      {"\"outputs\": [{\"as_tensor\": {\"name\": \"linear\"}}]",
       "\"outputs\": [{\"as_tensor\": {\"name\": \"x\"}}]", "SX1205"},
      {"\"parameter\": {\"arg\"", "\"gradient\": {\"arg\"", "SX1224"},
      {"\"parameter_name\": \"fc.weight\"", "\"parameter_name\": \"fc.other\"", "SX1107"},
      {"{\"parameter\": {\"arg\": {\"name\": \"p_w\"}, \"parameter_name\": \"fc.weight\"}},", "",
       "SX1205"},
  };
  for (const Damage& damage : kDamages) {
    const std::string model = replaced(kModelForTest, damage.from, damage.to);
    EXPECT_EQ(code_of(program_archive(model, kWeightsForTest, kConstantsForTest)), damage.code)
        << damage.from << " -> " << damage.to;
  }
}

TEST(ReadPt2, SaysWhatIsWrongWithTheWeights) {
  const Damage kDamages[] = {
      {"\"weight_0\"", "\"weight_1\"", "SX1107"},
      {"\"weight_0\"", "7", "SX1105"},
      {"\"use_pickle\": false", "\"use_pickle\": true", "SX1102"},
      {"{\"as_int\": 2}", "{\"as_int\": 3}", "SX1108"},
      {"{\"as_int\": 2}", "{\"as_int\": -2}", "SX1108"},
      {"{\"as_int\": 2}", "{\"as_int\": 9223372036854775807}", "SX1108"},
      {"{\"as_int\": 3}, {\"as_int\": 1}", "{\"as_int\": 4611686018427387904}, {\"as_int\": 1}",
       "SX1108"},
      {"\"storage_offset\": {\"as_int\": 0}", "\"storage_offset\": {\"as_int\": 1}", "SX1108"},
      {"\"storage_offset\": {\"as_int\": 0}",
       "\"storage_offset\": {\"as_int\": 9223372036854775807}", "SX1108"},
      {"\"strides\": [{\"as_int\": 3}, {\"as_int\": 1}]", "\"strides\": [{\"as_int\": 3}]",
       "SX1108"},
      {"\"dtype\": 7", "\"dtype\": 8", "SX1108"},
      {"{\"config\"", "{\"configuration\"", "SX1105"},
  };
  for (const Damage& damage : kDamages) {
    const std::string weights = replaced(kWeightsForTest, damage.from, damage.to);
    EXPECT_EQ(code_of(program_archive(kModelForTest, weights, kConstantsForTest)), damage.code)
        << damage.from << " -> " << damage.to;
  }
}

TEST(ReadPt2, SaysWhatIsWrongWithTheArchive) {
  const ArchiveForTest good = program_archive(kModelForTest, kWeightsForTest, kConstantsForTest);
  EXPECT_EQ(code_of(good), "none");
  ArchiveForTest archive = good;
  archive.entries[5].bytes = "big";
  archive.entries[5].size = 3;
  EXPECT_EQ(code_of(archive), "SX1103");
  archive = good;
  archive.entries[4].name = "m/data.pkl";  // a checkpoint
  EXPECT_EQ(code_of(archive), "SX1106");
  archive.entries[4].name = "m/models/other.json";  // the only one, but with no weights
  EXPECT_EQ(code_of(archive), "SX1107");
  archive.add("m/models/another.json", kModelForTest);
  EXPECT_EQ(code_of(archive), "SX1106");
  EXPECT_THROW(read_pt2("/no/such/file.pt2"), base::Error);
  EXPECT_THROW(read_pt2("/"), base::Error);
  EXPECT_THROW(read_pt2(FileForTest("").path()), base::Error);
  EXPECT_THROW(read_pt2(FileForTest(std::string(100000, 'P')).path()), base::Error);
}

TEST(ReadPt2, ErrorsNameTheNodeAndTheFile) {
  const std::string model = replaced(kModelForTest, "\"as_int\": -1", "\"as_string\": \"d\"");
  try {
    read(program_archive(model, kWeightsForTest, kConstantsForTest));
    FAIL();
  } catch (const base::Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("node 2 'max_1' (torch.ops.aten.max.dim) of graph 'main'"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("m/models/model.json"), std::string::npos) << text;
    EXPECT_NE(text.find(".pt2"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace sardonyx::pt2
