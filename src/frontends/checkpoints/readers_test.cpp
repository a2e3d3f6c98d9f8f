#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/diagnostic.h"
#include "base/temporary_folder.h"
#include "frontends/checkpoints/distributed.h"
#include "frontends/checkpoints/files_for_test.h"
#include "frontends/checkpoints/gguf.h"
#include "frontends/checkpoints/safetensors.h"
#include "frontends/checkpoints/scratch_file.h"

namespace sardonyx::checkpoints {
namespace {

using base::DType;
using Dims = std::vector<std::int64_t>;

// The message of the only diagnostic, which has that code; empty where nothing is thrown.
template <typename Run>
std::string refusal(const Run& run, const char* code = kDamaged) {
  try {
    run();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 1U) << error.what();
    EXPECT_EQ(error.diagnostics().front().code, code) << error.what();
    return error.diagnostics().front().message;
  }
  return {};
}

class Folder {
 public:
  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
  std::string path() const { return folder_.path().string(); }

 private:
  base::TemporaryFolder folder_;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Safetensors parse(const std::string& header, std::size_t data = 64) {
  const std::string file = safetensors_for_test(header, data);
  return parse_safetensors(bytes_of(file), "m.safetensors");
}

TEST(Safetensors, DescribesTensors) {
  const Safetensors file = parse(kTwoTensors, 32);
  ASSERT_EQ(file.tensors.size(), 2U);
  const std::uint64_t start = 8 + kTwoTensors.size();
  EXPECT_EQ(file.tensors[0].dims, (Dims{2, 3}));
  EXPECT_EQ(file.tensors[1].dtype, DType::kBFloat16);
  EXPECT_EQ(file.tensors[1].extent.offset, start + 24);
  EXPECT_EQ(file.metadata.at(0).second, "pt");
}

std::string entry(const std::string& name, const std::string& fields) {
  return "\"" + name + "\": {" + fields + "}";
}

TEST(Safetensors, RejectsWhatDoesNotFit) {
  const std::string good = R"("dtype": "F32", "shape": [1], "data_offsets": [0, 4])";
  const auto of = [](const std::string& fields) { return "{" + entry("a", fields) + "}"; };
  const std::array<std::pair<std::string, std::string>, 11> cases = {{
      {of(R"("dtype": "F32", "shape": [2], "data_offsets": [0, 4])"), "do not come to"},
      {of(R"("dtype": "F32", "shape": [-1], "data_offsets": [4, 0])"), "are no numbers"},
      {of(R"("dtype": "F32", "shape": [1.0], "data_offsets": [0, 4])"), "are no numbers"},
      {of(R"("dtype": "F32", "shape": [1], "data_offsets": [0])"), "are no numbers"},
      {of(R"("dtype": "F32", "shape": [4611686018427387904], "data_offsets": [0, 0])"),
       "do not come to"},
      {of(R"("dtype": ["F32"], "shape": [1], "data_offsets": [0, 4])"), "lacks a dtype"},
      {of(R"("dtype": "I4", "shape": [1], "data_offsets": [0, 4])"), "unknown type I4"},
      {"{" + entry("a", good) + "," + entry("a", good) + "}", "two tensors 'a'"},
      {"{" + entry("a", good) + "," +
           entry("b", R"("dtype": "F32", "shape": [1], "data_offsets": [2, 6])") + "}",
       "'a' and 'b' share bytes"},
      {of(R"("dtype": "F32", "shape": [100], "data_offsets": [0, 400])"), "is cut short"},
      {R"({"\ud800": {}})", "is no safetensors file"},
  }};
  for (const auto& [header, message] : cases)
    EXPECT_NE(refusal([&] { parse(header); }).find(message), std::string::npos) << header;
}

TEST(Safetensors, RejectsHeadersThatAreNone) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  for (const std::string& file :
       {std::string(), std::string("\1\0\0", 3), packed(~0ULL, 8) + "{}", packed(99, 8) + "{}",
        safetensors_for_test("[]", 0), safetensors_for_test(deep, 0)})
    EXPECT_NE(refusal([&] { parse_safetensors(bytes_of(file), "m"); }).find("no safetensors file"),
              std::string::npos);
}

TEST(Safetensors, TakesTensorsFromTheShardsThatTheIndexLists) {
  const Folder folder;
  folder.put("1", safetensors_for_test(kTwoTensors, 32));
  folder.put("2", safetensors_for_test(kTwoTensors, 32));
  const std::string index = folder.put("i.json", R"({"weight_map": {"a": "1", "b": "2"}})");
  const std::vector<SafetensorsFile> files = read_sharded_safetensors(index);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].contents.tensors.at(0).name, "a");
  EXPECT_EQ(files[0].contents.tensors.size(), 1U);
  EXPECT_EQ(files[1].contents.tensors.at(0).name, "b");
  folder.put("i.json", R"({"weight_map": {"a": "1", "other": "2"}})");
  EXPECT_NE(refusal([&] { read_sharded_safetensors(index); }).find("several shards"),
            std::string::npos);
  folder.put("i.json", R"({"weight_map": {"a": "1", "b": "2", "gone": "2"}})");
  EXPECT_NE(refusal([&] { read_sharded_safetensors(index); }).find("'gone' in 2, which lacks it"),
            std::string::npos);
  folder.put("i.json", R"({"weight_map": {"a": "../1"}})");
  EXPECT_NE(refusal([&] { read_sharded_safetensors(index); }).find("outside of its folder"),
            std::string::npos);
  folder.put("i.json", R"({"weight_map": {"a": "1", "c": "3", "d": "4"}})");
  try {
    read_sharded_safetensors(index);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 2U);  // each shard that is missing
  }
}

TEST(Gguf, DescribesTensors) {
  const std::string bytes = small_gguf();
  const Gguf file = parse_gguf(bytes_of(bytes), "m.gguf");
  EXPECT_EQ(file.architecture, "llama");
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].block, "Q4_0");
  EXPECT_EQ(file.tensors[0].dims, (Dims{2, 32}));
  EXPECT_EQ(file.tensors[0].extent.length, 36U);
  EXPECT_EQ(file.tensors[1].dtype, DType::kFloat32);
  EXPECT_EQ(file.tensors[1].extent.offset + 16, bytes.size());
}

TEST(Gguf, RejectsWhatDoesNotFit) {
  const auto message = [](const std::vector<std::string>& entries, const char* code = kDamaged) {
    const std::string file = gguf_for_test(entries, 80);
    return refusal([&] { parse_gguf(bytes_of(file), "m"); }, code);
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(message({gguf_entry("w", {33}, 2, 0)}), "no whole blocks"));
  EXPECT_TRUE(has(message({gguf_entry("w", {}, 2, 0)}), "no whole blocks"));
  EXPECT_TRUE(has(message({gguf_entry("w", {1ULL << 62, 8}, 0, 0)}), "has no size"));
  EXPECT_TRUE(has(message({gguf_entry("w", {~0ULL}, 0, 0)}), "has no size"));
  EXPECT_TRUE(has(message({gguf_entry("w", {4}, 0, ~0ULL)}), "lies nowhere"));
  EXPECT_TRUE(has(message({gguf_entry("w", {400}, 0, 0)}), "cut short"));
  EXPECT_TRUE(
      has(message({gguf_entry("w", {4}, 0, 0), gguf_entry("w", {4}, 0, 16)}), "two tensors"));
  EXPECT_TRUE(
      has(message({gguf_entry("w", {4}, 0, 0), gguf_entry("v", {4}, 0, 8)}), "share bytes"));
  EXPECT_TRUE(has(message({gguf_entry("w", {4}, 17, 0), gguf_entry("v", {4}, 16, 0)}, "SX2001"),
                  "types 16, 17"));
  std::string file = small_gguf();
  for (std::size_t size = 0; size < file.size(); size += 7)
    EXPECT_NE(refusal([&] { parse_gguf(bytes_of(file).first(size), "m"); }), "") << size;
}

DistributedTensor only_tensor(const std::string& metadata) {
  std::vector<DistributedTensor> tensors = parse_distributed(bytes_of(metadata), ".metadata");
  EXPECT_EQ(tensors.size(), 1U);
  return tensors.at(0);
}

TEST(Distributed, DescribesPieces) {
  const DistributedTensor tensor = only_tensor(
      metadata_for_test("w", {4, 3}, {{{0, 0}, {1, 3}}, {{1, 0}, {3, 3}, "__1_0.distcp", 7, 9}}));
  EXPECT_EQ(tensor.dtype, DType::kFloat32);
  EXPECT_EQ(tensor.dims, (Dims{4, 3}));
  ASSERT_EQ(tensor.pieces.size(), 2U);
  EXPECT_EQ(tensor.pieces[1].file, "__1_0.distcp");
  EXPECT_EQ(tensor.pieces[1].extent.offset, 7U);
}

TEST(Distributed, RejectsPiecesThatAreNotTheWhole) {
  const auto message = [](const Dims& dims, const std::vector<PieceForTest>& pieces) {
    const std::string metadata = metadata_for_test("w", dims, pieces);
    return refusal([&] { parse_distributed(bytes_of(metadata), ".metadata"); });
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(message({4}, {{{0}, {3}}}), "3 elements of 4"));
  EXPECT_TRUE(has(message({4}, {{{2}, {3}}}), "no part of it"));
  EXPECT_TRUE(has(message({4, 2}, {{{0, 0}, {4, 1}}, {{2, 0}, {2, 2}}}), "overlap"));
  EXPECT_TRUE(has(message({std::int64_t{1} << 62}, {}), "has no size"));
  EXPECT_TRUE(has(message({-1}, {}), "has no size"));
  EXPECT_TRUE(has(message({4}, {{{0}, {4}, "../x"}}), "outside of the folder"));
  EXPECT_TRUE(has(message({4}, {{{0}, {4}, "x", -1}}), "at no place"));
  EXPECT_TRUE(has(refusal([] {
                    parse_distributed(bytes_of("\x80\x02"
                                               "cos\nmkdir\n)R."),
                                      "m");
                  }),
                  "os.mkdir, which is no part"));
  EXPECT_TRUE(has(refusal([] { parse_distributed(bytes_of("no"), "m"); }), "malformed pickle"));
}

std::string floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) bytes.append(reinterpret_cast<const char*>(&value), 4);
  return bytes;
}

TEST(Distributed, JoinsPiecesWhateverTheirStrides) {
  // Columns 0 to 1, transposed, and column 2.
  const Folder folder;
  const std::string first = saved_tensor_for_test({2, 2}, {1, 2}, floats({0, 3, 1, 4}));
  const std::string second = saved_tensor_for_test({2, 1}, {1, 1}, floats({2, 5}));
  folder.put("a", first);
  folder.put("b", "..." + second);
  const auto size = [](const std::string& text) { return static_cast<std::int64_t>(text.size()); };
  folder.put(".metadata", metadata_for_test("w", {2, 3},
                                            {{{0, 0}, {2, 2}, "a", 0, size(first)},
                                             {{0, 2}, {2, 1}, "b", 3, size(second)}}));
  const std::vector<DistributedTensor> tensors = read_distributed(folder.path());
  const std::string out = folder.path() + "/out";
  EXPECT_EQ(write_joined(folder.path(), tensors.at(0), out), 24);
  EXPECT_EQ(content_of(out), floats({0, 1, 2, 3, 4, 5}));
}

TEST(Distributed, RejectsTensorsThatGoBeyondTheirStorage) {
  const auto located = [](const Dims& sizes, const Dims& strides, const Dims& wanted) {
    const std::string file = saved_tensor_for_test(sizes, strides, floats({0, 1, 2, 3}));
    return refusal(
        [&] { locate_piece(bytes_of(file), "a", "w", {{}, wanted, "a", {0, file.size()}}); });
  };
  EXPECT_EQ(located({2, 2}, {2, 1}, {2, 2}), "");
  EXPECT_EQ(located({0, 9}, {9, 1}, {0, 9}), "");
  EXPECT_NE(located({2, 2}, {2, 1}, {4}), "");
  EXPECT_NE(located({2, 3}, {2, 1}, {2, 3}), "");
  EXPECT_NE(located({2, 2}, {-1, 1}, {2, 2}), "");
  EXPECT_NE(located({9}, {0}, {9}), "");
  EXPECT_NE(located({2}, {std::int64_t{1} << 62}, {2}), "");
}

TEST(ScratchFile, SaysWhyItCannotBeWritten) {
  const Folder folder;
  const std::string data = saved_tensor_for_test({2}, {1}, floats({0, 1}));
  folder.put("a", data);
  folder.put(
      ".metadata",
      metadata_for_test("w", {2}, {{{0}, {2}, "a", 0, static_cast<std::int64_t>(data.size())}}));
  const std::vector<DistributedTensor> tensors = read_distributed(folder.path());
  const auto write = [&](const std::string& path) {
    return refusal([&] { write_joined(folder.path(), tensors.at(0), path); }, "SX1601");
  };
  EXPECT_NE(write("/nowhere/out").find("/nowhere/out"), std::string::npos);
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_NE(write("/dev/full").find("No space left"), std::string::npos);
  }
}

}  // namespace
}  // namespace sardonyx::checkpoints
