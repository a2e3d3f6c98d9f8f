#include "frontends/torchscript/archive/input_types.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace sardonyx::torchscript {
namespace {

using Kind = InputType::Kind;

TEST(InputTypes, TensorsHaveSizesAndNames) {
  const NamedInputType x = parse_input_type("x:float32[batch,3, \"a b\"]");
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type.kind, Kind::kTensor);
  EXPECT_EQ(x.type.element, "float32");
  EXPECT_EQ(x.type.dims, (std::vector<std::string>{"batch", "3", "a b"}));
  EXPECT_TRUE(parse_input_type("n:int64[]").type.dims.empty());
}

TEST(InputTypes, AnExampleSaysHowItLiesInMemory) {
  const InputType x = parse_input_type("x:float32[n,4]@[5:1,4:5]").type;
  EXPECT_EQ(x.example_sizes, (std::vector<std::string>{"5", "4"}));
  EXPECT_EQ(x.example_strides, (std::vector<std::string>{"1", "5"}));
  for (const char* text : {"x:float32[n,4]@", "x:float32[n,4]@[5:1]", "x:float32[n]@[5]"})
    EXPECT_THROW(parse_input_type(text), base::Error) << text;
}

TEST(InputTypes, QuantizedTensorsMayHaveWideParts) {
  EXPECT_FALSE(parse_input_type("x:quint8[n]").type.has_wide_parts);
  EXPECT_TRUE(parse_input_type("x:quint8[n]@double").type.has_wide_parts);
  const InputType x = parse_input_type("x:quint8[n,4]@double@[5:1,4:5]").type;
  EXPECT_TRUE(x.has_wide_parts);
  EXPECT_EQ(x.example_strides, (std::vector<std::string>{"1", "5"}));
  EXPECT_THROW(parse_input_type("x:quint8[n]@float"), base::Error);
}

TEST(InputTypes, ADefaultIsAWeight) {
  const InputType x = parse_input_type("x:$x_default").type;
  EXPECT_EQ(x.kind, Kind::kWeight);
  EXPECT_EQ(x.element, "x_default");
  EXPECT_THROW(parse_input_type("x:$"), base::Error);
}

TEST(InputTypes, NumbersVaryOrAreConstant) {
  EXPECT_EQ(parse_input_type("n:int").type.kind, Kind::kInt);
  EXPECT_EQ(parse_input_type("n:float").type.kind, Kind::kFloat);
  EXPECT_EQ(parse_input_type("n:bool").type.kind, Kind::kBool);
  EXPECT_EQ(parse_input_type("n:bool[2]").type.kind, Kind::kTensor);
  EXPECT_EQ(parse_input_type("mode=a (b)").type.element, "a (b)");
  EXPECT_EQ(parse_input_type("mode:None").type.kind, Kind::kConstant);
}

TEST(InputTypes, ContainersNest) {
  const InputType pair = parse_input_type("p:(float32[n], [int, =3], {\"k\": bool[]})").type;
  ASSERT_EQ(pair.items.size(), 3u);
  EXPECT_EQ(pair.kind, Kind::kTuple);
  EXPECT_EQ(pair.items[1].kind, Kind::kList);
  EXPECT_EQ(pair.items[1].items[1].element, "3");
  EXPECT_EQ(pair.items[2].keys[0].element, "k");
  const InputType named = parse_input_type("p:(left: float32[n], right: int)").type;
  EXPECT_EQ(named.names, (std::vector<std::string>{"left", "right"}));
}

TEST(InputTypes, WhatIsNoTypeIsRefused) {
  for (const char* text : {"x", "x:", "x:float32[", "x:float32[2]3", "x:(int", "x:{1 2}", "x:\"a"})
    EXPECT_THROW(parse_input_type(text), base::Error) << text;
  EXPECT_THROW(parse_input_type("x:" + std::string(100, '(')), base::Error);
}

}  // namespace
}  // namespace sardonyx::torchscript
