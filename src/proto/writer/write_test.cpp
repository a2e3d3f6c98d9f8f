#include "proto/writer/write.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "base/parallel_for.h"
#include "base/temporary_folder.h"
#include "onnx/graph/ir.h"
#include "onnx/graph/joined.h"
#include "onnx/graph/recipe.h"
#include "proto/reader/example_models.h"
#include "proto/reader/read.h"

namespace sardonyx::proto {
namespace {

using base::DType;
using onnx::Model;
using onnx::Tensor;
using ExternalData = WriteOptions::ExternalData;

std::unique_ptr<Model> read_again(const std::string& bytes) {
  const auto kept = std::make_shared<std::string>(bytes);
  return parse(as_bytes(*kept), kept);
}

const onnx::ValueInfo* initializer(const Model& model, const std::string& name) {
  for (const onnx::ValueInfo* value : model.initializers) {
    if (value->name == name) return value;
  }
  return nullptr;
}

std::string data_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data),
          static_cast<std::size_t>(tensor.byte_count())};
}

template <typename Action>
std::string code_of(const Action& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error.diagnostics().at(0).code;
  }
  return "no error";
}

TEST(WriteTest, TheSmallestModelByteByByte) {
  Model model(std::make_shared<symbolic::Pool>());
  model.opsets[""] = 18;
  model.producer_name = "p";
  model.graph->name = "g";
  const std::string expected =
      std::string("\x08\x0a") +                    // ir_version 10
      "\x12\x01p" +                                // producer_name
      "\x3a\x03\x12\x01g" +                        // graph { name }
      std::string("\x42\x04\x0a\x00\x10\x12", 6);  // opset_import { domain "", version 18 }
  EXPECT_EQ(serialize(model), expected);
}

TEST(WriteTest, EverythingComesBack) {
  const auto model = model_of_everything();
  const std::string bytes = serialize(*model);
  const auto again = read_again(bytes);
  EXPECT_EQ(serialize(*again), bytes);

  EXPECT_EQ(again->opsets, model->opsets);
  EXPECT_EQ(again->metadata, model->metadata);
  EXPECT_EQ(again->doc, "One of everything.");
  ASSERT_EQ(again->graph->inputs.size(), 5U);
  EXPECT_EQ(again->graph->inputs[0]->shape[0].str(), "batch");
  EXPECT_FALSE(again->graph->inputs[1]->shape[0].known());
  EXPECT_FALSE(again->graph->inputs[2]->has_rank);
  EXPECT_EQ(again->graph->inputs[3]->type_kind, onnx::TypeKind::kSequence);
  EXPECT_EQ(again->graph->inputs[4]->type_kind, onnx::TypeKind::kOptional);
  EXPECT_EQ(again->graph->outputs[1], again->graph->inputs[0]);
  ASSERT_EQ(again->functions.size(), 1U);
  EXPECT_EQ(again->functions[0].overload, "f32");
  ASSERT_EQ(again->functions[0].attribute_defaults.size(), 1U);
  EXPECT_EQ(again->functions[0].attribute_defaults[0].name, "beta");
  EXPECT_EQ(std::get<float>(again->functions[0].attribute_defaults[0].data), 2.0F);
}

TEST(WriteTest, KeepsEveryKindOfAttribute) {
  const auto model = read_again(serialize(*model_of_everything()));
  const onnx::Node* node = model->graph->first;
  while (node->op_type != "Anything") node = node->next;
  EXPECT_EQ(node->int_or("int", 0), -3);
  EXPECT_EQ(node->int_or("zero", 1), 0);
  EXPECT_EQ(node->float_or("float", 0), 0.1F);
  EXPECT_EQ(node->string_or("string", ""), std::string("a\0b", 3));
  EXPECT_EQ(node->string_or("empty", "none"), "");
  EXPECT_EQ(*node->ints("ints"), (std::vector<std::int64_t>{1, -1, std::int64_t{1} << 40}));
  EXPECT_TRUE(node->ints("no_ints")->empty());
  EXPECT_EQ(std::get<std::vector<std::string>>(node->find("strings")->data),
            (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(node->int_or("dtype", 0), 16);
  EXPECT_EQ(node->inputs[1], nullptr);
  EXPECT_EQ(node->outputs[1], nullptr);
  const auto& graphs = std::get<std::vector<onnx::Graph*>>(node->find("graphs")->data);
  ASSERT_EQ(graphs.size(), 1U);
  EXPECT_EQ(graphs[0]->inputs[0]->dtype, DType::kInt64);
}

TEST(WriteTest, LeavesOutWhatNobodyReads) {
  const auto model = read_again(serialize(*model_of_everything()));
  EXPECT_NE(initializer(*model, "weight"), nullptr);
  EXPECT_EQ(initializer(*model, "unused"), nullptr);
  // Read by a function alone: there it is a node, which is read as a constant.
  const onnx::ValueInfo* held = initializer(*model, "of_function");
  ASSERT_NE(held, nullptr);
  for (const onnx::Use& use : held->uses) EXPECT_EQ(use.node->graph, model->functions[0].body);
}

TEST(WriteTest, GivesTheSameBytesEveryTimeAndEveryWay) {
  const auto model = model_of_everything();
  const std::string bytes = serialize(*model);
  EXPECT_EQ(serialize(*model_of_everything()), bytes);
  std::string streamed;
  write_to(*model, [&](std::span<const std::byte> part) {
    streamed.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  EXPECT_EQ(streamed, bytes);
  const base::TemporaryFolder folder;
  write(*model, folder / "m.onnx");
  EXPECT_EQ(contents(folder / "m.onnx"), bytes);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.onnx"});
}

TEST(WriteTest, SaysWhereNodesCameFrom) {
  const auto model = adding_model(2);
  model->graph->first->origin = model->add_origin({"add_6",
                                                   "%add_6 : call",
                                                   "aten::add.Tensor",
                                                   {"", "b"},
                                                   {"M", "it's"},
                                                   {},
                                                   "File \"m.py\""});
  const auto metadata = [&](const WriteOptions& options) {
    return read_again(serialize(*model, options))->graph->first->metadata;
  };
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"namespace", ": M/b: it's/add_6: aten.add.Tensor"},
      {"pkg.torch.onnx.class_hierarchy", "['M', \"it's\", 'aten.add.Tensor']"},
      {"pkg.torch.onnx.fx_node", "%add_6 : call"},
      {"pkg.torch.onnx.name_scopes", "['', 'b', 'add_6']"},
      {"pkg.torch.onnx.stack_trace", "File \"m.py\""}};
  EXPECT_EQ(metadata({}), expected);
  WriteOptions without;
  without.include_metadata = false;
  EXPECT_TRUE(metadata(without).empty());
}

TEST(WriteTest, ValueInfoCanBeLeftOut) {
  WriteOptions options;
  options.include_value_info = false;
  const auto model = read_again(serialize(*model_of_everything(), options));
  const onnx::Node* call = model->graph->first;
  ASSERT_EQ(call->op_type, "Add");
  EXPECT_EQ(call->output()->dtype, DType::kFloat32);  // an output of the graph
  EXPECT_EQ(model->functions[0].body->last->previous->output()->dtype, DType::kUndefined);
}

TEST(WriteTest, WeightsMayStayOutOrBecomeInputs) {
  const auto model = adding_model(4);
  model->add_constant(Tensor::of_int(1));
  WriteOptions options;
  options.keep_initializers_as_inputs = true;
  const std::string both = serialize(*model, options);
  options.include_initializers = false;
  const std::string inputs_only = serialize(*model, options);
  EXPECT_GT(both.size(), inputs_only.size());
  const auto read_back = read_again(inputs_only);
  ASSERT_EQ(read_back->graph->inputs.size(), 2U);
  EXPECT_EQ(read_back->graph->inputs[1]->name, "w");
  // Callers may override what is there in that case.
  ASSERT_EQ(read_again(both)->graph->inputs.size(), 2U);
  EXPECT_NE(read_again(both)->graph->inputs[1]->initial, nullptr);
  options.keep_initializers_as_inputs = false;
  EXPECT_EQ(code_of([&] { read_again(serialize(*model, options)); }),
            "SX1152");  // 'w' is undefined
}

TEST(WriteTest, MissingWeightsAreNamed) {
  Tensor fake;
  fake.dtype = DType::kFloat32;
  fake.dims = {4};
  fake.missing = true;
  const auto model = adding_model(fake);
  try {
    serialize(*model);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, "SX1604");
    EXPECT_NE(std::string(error.what()).find("'w'"), std::string::npos);
  }
  WriteOptions options;
  options.include_initializers = false;
  EXPECT_EQ(code_of([&] { serialize(*model, options); }), "no error");
}

TEST(WriteTest, GathersStridedWeights) {
  // A transposed [300, 500] of each element size.
  for (const DType dtype :
       {DType::kUInt8, DType::kFloat16, DType::kFloat32, DType::kInt64, DType::kComplex128}) {
    const auto size = static_cast<std::size_t>(base::byte_size(dtype, 1));
    constexpr std::int64_t kRows = 300;
    constexpr std::int64_t kColumns = 500;
    std::vector<std::byte> bytes(static_cast<std::size_t>(kRows * kColumns) * size);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(i * 2654435761U >> 7);
    Tensor tensor = Tensor::of_bytes(dtype, {kColumns, kRows}, bytes);
    std::string expected;
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t column = 0; column < kColumns; ++column) {
        const auto at = static_cast<std::size_t>(column * kRows + row) * size;
        expected.append(reinterpret_cast<const char*>(&bytes[at]), size);
      }
    }
    tensor.dims = {kRows, kColumns};
    tensor.strides = {1, kRows};
    const auto model = read_again(serialize(*adding_model(tensor)));
    EXPECT_EQ(data_of(*initializer(*model, "w")->constant), expected) << base::dtype_name(dtype);
  }
}

TEST(WriteTest, GathersExpandedPermutedAndNarrowedWeights) {
  Tensor tensor = counting(24);
  const auto written = [&](std::vector<std::int64_t> dims, std::vector<std::int64_t> strides) {
    tensor.dims = std::move(dims);
    tensor.strides = std::move(strides);
    const auto model = read_again(serialize(*adding_model(tensor)));
    const std::vector<double> reals = initializer(*model, "w")->constant->reals().value();
    return std::vector<int>(reals.begin(), reals.end());
  };
  EXPECT_EQ(written({2, 3}, {0, 1}), (std::vector<int>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(written({2, 2, 2}, {1, 12, 4}), (std::vector<int>{0, 4, 12, 16, 1, 5, 13, 17}));
  EXPECT_EQ(written({3}, {10}), (std::vector<int>{0, 10, 20}));
  EXPECT_EQ(written({2, 1, 2, 1, 2}, {12, 99, 6, 99, 1}),
            (std::vector<int>{0, 1, 6, 7, 12, 13, 18, 19}));
  EXPECT_EQ(written({}, {}), std::vector<int>{0});
  EXPECT_EQ(written({0, 2}, {1, 7}), std::vector<int>{});
}

TEST(WriteTest, PacksStridedFourBitWeights) {
  const std::vector<std::byte> bytes = {std::byte{0x10}, std::byte{0x32}, std::byte{0x54}};
  Tensor tensor = Tensor::of_bytes(DType::kUInt4, {2, 3}, bytes);  // 0 1 2 / 3 4 5
  tensor.dims = {3, 2};
  tensor.strides = {1, 3};
  const auto model = read_again(serialize(*adding_model(tensor)));
  EXPECT_EQ(data_of(*initializer(*model, "w")->constant), "\x30\x41\x52");
}

TEST(WriteTest, ScaledWeightsAreMultipliedOnTheirWay) {
  // Longer than the writer's pieces, in every layout of channels.
  std::vector<double> factors;
  for (int i = 0; i < 2200; ++i) factors.push_back(0.1 * i - 3);
  for (const auto& [inner, period, rows] :
       {std::array<std::int64_t, 3>{5000, 3, 1}, {1, 3, 5000}, {7, 3, 2}}) {
    Tensor tensor = counting(15000 / 42 * 42);
    tensor =
        onnx::scaled(tensor, {.factors = factors, .inner = inner, .period = period, .rows = rows});
    const std::vector<double> expected = tensor.reals().value();
    const auto model = read_again(serialize(*adding_model(tensor)));
    const std::vector<double> values = initializer(*model, "w")->constant->reals().value();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], static_cast<double>(static_cast<float>(expected[i])));
  }
}

// Whatever passes did, one after the other, in bounded memory.
TEST(WriteTest, RecipesAreFollowedOnTheirWay) {
  Tensor tensor = counting(6000);
  tensor.dims = {20, 300};
  tensor = onnx::permuted(tensor, {1, 0});
  std::vector<double> factors;
  for (int i = 0; i < 300; ++i) factors.push_back(i % 7);
  tensor = onnx::scaled(tensor, {.factors = factors, .inner = 20, .period = 300, .rows = 1});
  tensor = onnx::permuted(onnx::with_dims(tensor, {300, 1, 20}).value(), {2, 1, 0});
  const auto model =
      read_again(serialize(*adding_model(onnx::cast_with_offset(tensor, DType::kFloat16, 1))));
  const auto values = initializer(*model, "w")->constant->reals().value();
  ASSERT_EQ(values.size(), 6000U);
  std::byte rounded[2];  // NOLINT(modernize-avoid-c-arrays)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto factor = static_cast<double>(i % 300 % 7);
    onnx::store_real(DType::kFloat16, static_cast<double>(i) * factor + 1, rounded);
    ASSERT_EQ(values[i], onnx::load_real(DType::kFloat16, rounded)) << i;
  }
}

TEST(WriteTest, BiasedWeightsAreMovedOnTheirWay) {
  std::vector<std::byte> bytes;  // longer than the writer's pieces
  for (int i = 0; i < 10000; ++i) bytes.push_back(static_cast<std::byte>(i));
  const Tensor tensor =
      onnx::cast_with_offset(Tensor::of_bytes(DType::kInt8, {100, 100}, bytes), DType::kUInt8, 128);
  const std::vector<std::int64_t> expected = tensor.ints().value();
  EXPECT_EQ(expected[0], 128);    // of 0
  EXPECT_EQ(expected[127], 255);  // of 127
  EXPECT_EQ(expected[128], 0);    // of -128
  const auto model = read_again(serialize(*adding_model(tensor)));
  EXPECT_EQ(initializer(*model, "w")->constant->ints().value(), expected);
}

// Pieces are larger than a thread's start is worth; the last one is not a whole one.
TEST(WriteTest, TheBytesDoNotDependOnTheNumberOfThreads) {
  std::vector<float> values(1500 * 1111);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 977) - 400.5F;
  const Tensor matrix =
      Tensor::of_bytes(DType::kFloat32, {1500, 1111}, std::as_bytes(std::span(values)));
  const Tensor across = onnx::permuted(matrix, {1, 0});
  std::vector<double> factors;
  for (int i = 0; i < 1111; ++i) factors.push_back(0.3 * i - 7);
  const onnx::ChannelScale scale{.factors = factors, .inner = 1500, .period = 1111, .rows = 1};
  for (const Tensor& tensor :
       {onnx::cast_with_offset(matrix, DType::kFloat16, 0),
        onnx::cast_with_offset(across, DType::kBFloat16, 0), across,
        onnx::cast_with_offset(onnx::scaled(across, scale), DType::kFloat64, 0),
        onnx::permuted(onnx::scaled(across, scale), {1, 0}),
        *onnx::joined({matrix, matrix, matrix}, 1)}) {
    base::set_threads(1);
    const std::string alone = bytes_of(tensor);
    EXPECT_EQ(std::ssize(alone), tensor.byte_count());
    const std::vector<double> reals = tensor.reals().value();
    for (std::size_t i = 0; i < reals.size(); i += 7919) {
      std::array<std::byte, 8> expected{};
      const auto width = static_cast<std::size_t>(base::byte_size(tensor.dtype, 1));
      onnx::store_real(tensor.dtype, reals[i], expected.data());
      ASSERT_EQ(std::memcmp(alone.data() + i * width, expected.data(), width), 0) << i;
    }
    for (const std::size_t threads : {2U, 3U, 7U}) {
      base::set_threads(threads);
      EXPECT_TRUE(bytes_of(tensor) == alone) << threads << " threads";
    }
    base::set_threads(0);
  }
}

TEST(WriteTest, LongStridedRowsGoOutAsTheyLie) {
  Tensor tensor = counting(12000);
  tensor.dims = {2, 3000};
  tensor.strides = {6000, 1};
  const auto model = read_again(serialize(*adding_model(tensor)));
  const std::vector<double> values = initializer(*model, "w")->constant->reals().value();
  EXPECT_EQ(values[2999], 2999);
  EXPECT_EQ(values[3000], 6000);
  EXPECT_EQ(values[5999], 8999);
}

TEST(WriteTest, WhatLiesInFilesOfTheFolderStaysThere) {
  const base::TemporaryFolder folder;
  const std::string path = folder / "weights";
  std::ofstream(path, std::ios::binary) << std::string(12, 'x') << std::string(8000, '\1');
  const auto file = std::make_shared<const base::MappedFile>(path);
  const auto model = model_of_everything();
  const auto add = [&](std::string name, std::int64_t offset, std::vector<std::int64_t> dims) {
    Tensor tensor;
    tensor.dtype = DType::kInt8;
    tensor.dims = std::move(dims);
    tensor.data = file->bytes().data() + offset;
    tensor.owner = file;
    onnx::add_input(model->graph->last, model->add_weight(std::move(name), std::move(tensor)));
  };
  add("all", 12, {80, 100});
  add("part", 1012, {2000});
  add("small", 12, {10});
  add("turned", 12, {80, 100});
  onnx::ValueInfo* turned = model->initializers.back();
  turned->constant = std::make_shared<const Tensor>(onnx::permuted(*turned->constant, {1, 0}));

  WriteOptions options;
  options.in_place = {{path, "weights"}};
  write(*model, folder / "m.onnx", options);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m.onnx", "weights"}));
  EXPECT_LT(contents(folder / "m.onnx").size(), 13000U);  // `turned` is inside
  const auto again = read(folder / "m.onnx");
  EXPECT_EQ(initializer(*again, "part")->constant->data,
            initializer(*again, "all")->constant->data + 1000);
  EXPECT_EQ(serialize(*again), serialize(*model));
  options.external_data = ExternalData::kAlways;
  write(*model, folder / "m.onnx", options);
  EXPECT_EQ(contents(folder / "m.onnx.data").size(), 8000U);
  EXPECT_EQ(serialize(*read(folder / "m.onnx")), serialize(*model));
}

TEST(WriteTest, ExternalDataIsAlignedAndComesBack) {
  const base::TemporaryFolder folder;
  const auto model = model_of_everything();
  onnx::Node* consumer = model->graph->last;
  onnx::add_input(consumer, model->add_weight("large", counting(1 << 18)));
  onnx::add_input(consumer, model->add_weight("after", counting(1000)));
  const onnx::ValueInfo* large = initializer(*model, "large");
  Tensor same = *large->constant;
  same.dims = {1 << 9, 1 << 9};
  onnx::add_input(consumer, model->add_weight("reshaped", same));
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  write(*model, folder / "m.onnx", options);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m.onnx", "m.onnx.data"}));
  // Small ones stay inside; `large` starts at 0, `after` at the next page, `reshaped` is `large`.
  EXPECT_EQ(contents(folder / "m.onnx.data").size(), (1U << 20) + 4000);

  const auto again = read(folder / "m.onnx");
  EXPECT_EQ(serialize(*again), serialize(*model));
  EXPECT_EQ(initializer(*again, "large")->constant->data,
            initializer(*again, "reshaped")->constant->data);
  const auto aligned = [&](const char* name, std::uintptr_t alignment) {
    return reinterpret_cast<std::uintptr_t>(initializer(*again, name)->constant->data) %
               alignment ==
           0;
  };
  EXPECT_TRUE(aligned("large", 4096));  // of the file's 64 KiB, what mapping keeps
  EXPECT_TRUE(aligned("after", 4096));
}

TEST(WriteTest, TheDataFileMayHaveAnotherNameInTheFolder) {
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  options.size_threshold = 0;
  options.data_file = "weights.bin";
  write(*adding_model(4), folder / "m.onnx", options);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m.onnx", "weights.bin"}));
  for (const char* outside : {"/tmp/weights.bin", "../weights.bin", "m.onnx", "./m.onnx", "a/"}) {
    options.data_file = outside;
    EXPECT_EQ(code_of([&] { write(*adding_model(4), folder / "m.onnx", options); }), "SX1602")
        << outside;
  }
}

TEST(WriteTest, SizesAreMeasuredIn64Bits) {
  const auto model = adding_model(sparse_zeros(std::int64_t{5} << 30));
  EXPECT_EQ(code_of([&] { serialize(*model); }), "SX1603");
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kNever;
  EXPECT_EQ(code_of([&] { write(*model, folder / "m.onnx", options); }), "SX1603");
  EXPECT_TRUE(folder.names().empty());
  // With data outside but all weights below the threshold it is no shorter.
  options.external_data = ExternalData::kAuto;
  options.size_threshold = std::int64_t{1} << 40;
  EXPECT_EQ(code_of([&] { write(*model, folder / "m.onnx", options); }), "SX1603");
}

TEST(WriteTest, TheLastByteThatProtobufAllows) {
  // kAuto turns to a data file exactly where a single file would pass 2^31 - 1 bytes.
  const auto size_with = [](std::int64_t weight) {
    std::int64_t total = 0;
    WriteOptions options;
    options.progress = [&](std::int64_t, std::int64_t all) {
      total = all;
      throw std::runtime_error("measured");
    };
    const base::TemporaryFolder folder;
    try {
      write(*adding_model(sparse_zeros(weight)), folder / "m.onnx", options);
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(folder.names().empty());
    }
    return total;
  };
  constexpr std::int64_t kLimit = 0x7fffffff;
  const std::int64_t around = size_with(kLimit - 1000) - (kLimit - 1000);
  EXPECT_EQ(size_with(kLimit - around), kLimit);
  // Outside, the graph says "location", "offset" and "length": the total grows by more than one.
  EXPECT_GT(size_with(kLimit - around + 1), kLimit + 1);
}

TEST(WriteTest, TellsItsProgress) {
  const base::TemporaryFolder folder;
  std::vector<std::int64_t> done;
  std::int64_t total = 0;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  options.progress = [&](std::int64_t now, std::int64_t all) {
    done.push_back(now);
    total = all;
  };
  write(*adding_model(1 << 20), folder / "m.onnx", options);
  ASSERT_GE(done.size(), 4U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), total);
  EXPECT_EQ(static_cast<std::uintmax_t>(total),
            contents(folder / "m.onnx").size() + contents(folder / "m.onnx.data").size());
}

// Three gigabytes through the disk: a minute on a slow one, so only on request.
TEST(WriteTest, ThreeGigabytesGoToADataFile) {
  if (std::getenv("SARDONYX_LARGE_TESTS") == nullptr)
    GTEST_SKIP() << "writes 3 GB; set SARDONYX_LARGE_TESTS to run it";
  const base::TemporaryFolder folder;
  const std::int64_t size = std::int64_t{3} << 30;
  write(*adding_model(sparse_zeros(size)), folder / "m.onnx");
  EXPECT_EQ(std::filesystem::file_size(folder / "m.onnx.data"), static_cast<std::uintmax_t>(size));
  EXPECT_EQ(read(folder / "m.onnx")->initializers.at(0)->constant->byte_count(), size);
}

}  // namespace
}  // namespace sardonyx::proto
