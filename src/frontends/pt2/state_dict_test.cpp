#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "frontends/pt2/program_for_test.h"
#include "frontends/pt2/pt2.h"
#include "frontends/pt2/state_for_test.h"
#include "frontends/pt2/weights.h"

namespace sardonyx::pt2 {
namespace {

using namespace std::string_literals;

TensorTable read(const std::string& items) {
  return read_state_dict(saved_state(pickled_dictionary(items), floats_for_test(6)).bytes());
}

TEST(StateDict, ReadsTensorsAndParameters) {
  const TensorTable table = read(pickled_text("a") + pickled_parameter(pickled_tensor("0", 1)) +
                                 pickled_text("b") + pickled_tensor("0") + pickled_text("c") +
                                 pickled_tensor("0", 0, "ctorch\nBFloat16Storage\n"));
  const StoredTensor& a = table.tensors.at("a");
  EXPECT_EQ(a.unsupported, "");
  EXPECT_EQ(a.dtype, base::DType::kFloat32);
  EXPECT_EQ(a.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(a.strides, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(a.offset, 1);
  EXPECT_EQ(a.storage, "archive/data/0");
  EXPECT_EQ(table.tensors.at("b").storage, a.storage);  // tied
  EXPECT_EQ(table.tensors.at("c").dtype, base::DType::kBFloat16);
}

TEST(StateDict, ReadsTypesThatHaveNoStorageClass) {
  const std::string tensor = pickled_call("torch._utils", "_rebuild_tensor_v3",
                                          pickled_storage("0", "ctorch.storage\nUntypedStorage\n") +
                                              "K\x01K\x02\x85K\x01\x85\x89"
                                              "Nctorch\nuint16\n");
  EXPECT_EQ(read(pickled_text("a") + tensor).tensors.at("a").dtype, base::DType::kUInt16);
}

TEST(StateDict, ReadsTensorsWithAttributesButNoSubclasses) {
  const TensorTable table =
      read(pickled_text("a") + pickled_with_attributes("0", "torch\nTensor") + pickled_text("s") +
           pickled_with_attributes("0", "somewhere\nSubclass"));
  EXPECT_EQ(table.tensors.at("a").unsupported, "");
  EXPECT_EQ(table.tensors.at("a").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_NE(table.tensors.at("s").unsupported, "");
}

TEST(StateDict, SaysWhatItCannotRead) {
  const std::string quantized = pickled_call("torch._utils", "_rebuild_qtensor", "N");
  const TensorTable table =
      read(pickled_text("q") + quantized + pickled_text("n") + "N" + pickled_text("u") +
           pickled_tensor("0", 0, "ctorch\nStrangeStorage\n"));
  EXPECT_EQ(table.tensors.at("q").unsupported,
            "no plain tensor: made by torch._utils _rebuild_qtensor");
  EXPECT_NE(table.tensors.at("n").unsupported, "");
  EXPECT_NE(table.tensors.at("u").unsupported, "");
}

TEST(StateDict, RefusesOtherArchives) {
  ArchiveForTest archive = saved_state(pickled_dictionary(""), "");
  archive.entries[1] = {"archive/byteorder", "big", 3, 0, 0, false};
  EXPECT_THROW(read_state_dict(archive.bytes()), base::Error);
  archive = saved_state("\x80\x02].", "");
  EXPECT_THROW(read_state_dict(archive.bytes()), base::Error);
  archive.entries[0].name = "archive/other.pkl";
  EXPECT_THROW(read_state_dict(archive.bytes()), base::Error);
}

TEST(StateDict, ServesSingleTensors) {
  std::string weights = kWeightsForTest;
  weights.replace(weights.find("false"), 5, "true");  // fc.weight: use_pickle
  weights.replace(weights.find("weight_0"), 8, "weight_7");
  ArchiveForTest archive = program_archive(kModelForTest, weights, kConstantsForTest);
  const std::string pickle = "\x80\x02" + pickled_parameter(pickled_tensor("0")) + ".";
  archive.add("m/data/weights/weight_7", saved_state(pickle, floats_for_test(6)).str());
  const auto program = read_pt2(FileForTest(archive.str()).path());
  EXPECT_EQ(program->inputs[0].value->weight->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(program->inputs[0].value->weight->storage->size, 24);

  const std::string subclass = "\x80\x02" + pickled_call("my", "Subclass", "N") + ".";
  archive.entries.back().bytes = saved_state(subclass, "").str();
  archive.entries.back().size = archive.entries.back().bytes.size();
  EXPECT_THROW(read_pt2(FileForTest(archive.str()).path()), base::Error);
}

TEST(StateDict, ServesAWholeProgram) {
  const std::string weights =
      pickled_text("fc.weight") + pickled_parameter(pickled_tensor("0")) + pickled_text("row") +
      pickled_parameter(
          pickled_call("torch._utils", "_rebuild_tensor_v2",
                       pickled_storage("0", kFloatStorage) + "K\x03K\x03\x85K\x01\x85\x89N"));
  const std::string constants =
      pickled_text("fc.bias") +
      pickled_call("torch._utils", "_rebuild_tensor_v2",
                   pickled_storage("0", kFloatStorage) + "K\0K\x02\x85K\x01\x85\x89N"s);
  const auto state = [](const std::string& items) {
    return saved_state(pickled_dictionary(items), floats_for_test(6)).str();
  };
  const ArchiveForTest newest = program_archive(kModelForTest, kWeightsForTest, kConstantsForTest);
  const std::string expected = program::to_string(*read_pt2(FileForTest(newest.str()).path()));
  // Both programs hold the same weights; only the tied storage of the constant is larger here.
  const auto without_header = [](const std::string& text) { return text.substr(text.find('\n')); };

  ArchiveForTest between;  // PyTorch 2.8
  between.add("m/models/model.json", kModelForTest);
  between.add("m/data/weights/model.pt", state(weights));
  between.add("m/data/constants/model.pt", state(constants));
  EXPECT_EQ(without_header(program::to_string(*read_pt2(FileForTest(between.str()).path()))),
            without_header(expected));

  ArchiveForTest oldest;  // PyTorch 2.6
  oldest.add("serialized_exported_program.json", kModelForTest);
  oldest.add("serialized_state_dict.pt", state(weights));
  oldest.add("serialized_constants.pt", state(constants));
  EXPECT_EQ(without_header(program::to_string(*read_pt2(FileForTest(oldest.str()).path()))),
            without_header(expected));
}

}  // namespace
}  // namespace sardonyx::pt2
