#include "program/schema/schema.h"

#include <gtest/gtest.h>

#include <string>

#include "base/diagnostic.h"

namespace sardonyx::program {
namespace {

TEST(ParseSchema, ReadsEveryPartOfASignature) {
  const Schema schema = parse_schema(
      "aten::max_pool2d_with_indices.out(Tensor(a) self, int[2] kernel_size, SymInt[2]? stride=[1, "
      "2], "
      "bool ceil_mode=False, *, str mode=\"a\\\"b\", float eps=1.0000000000000001e-05, "
      "Tensor?[] maybe, Tensor(b!) out) -> (Tensor(a), Tensor(b!) indices)");
  EXPECT_EQ(schema.name, "aten::max_pool2d_with_indices");
  EXPECT_EQ(schema.overload, "out");
  EXPECT_EQ(schema.space(), "aten");
  EXPECT_EQ(schema.base_name(), "max_pool2d_with_indices");
  ASSERT_EQ(schema.parameters.size(), 8u);
  EXPECT_EQ(schema.parameters[0].alias.set, "a");
  EXPECT_FALSE(schema.parameters[0].alias.is_write);
  EXPECT_EQ(schema.parameters[1].type.fixed_size, 2);
  EXPECT_TRUE(schema.parameters[2].type.optional);
  EXPECT_EQ(schema.parameters[2].type.list_depth, 1);
  const List* stride = schema.parameters[2].default_value->get<List>();
  ASSERT_NE(stride, nullptr);
  EXPECT_TRUE((*stride)[1].get<symbolic::Expr>()->is(2));
  EXPECT_FALSE(schema.parameters[3].keyword_only);
  EXPECT_TRUE(schema.parameters[4].keyword_only);
  EXPECT_EQ(*schema.parameters[4].default_value->get<std::string>(), "a\"b");
  EXPECT_EQ(*schema.parameters[5].default_value->get<double>(), 1e-05);
  EXPECT_TRUE(schema.parameters[6].type.optional_items);
  EXPECT_FALSE(schema.parameters[6].type.optional);
  EXPECT_TRUE(schema.parameters[7].alias.is_write);
  EXPECT_TRUE(schema.mutates());
  ASSERT_EQ(schema.returns.size(), 2u);
  EXPECT_EQ(schema.returns[1].name, "indices");
  EXPECT_EQ(schema.find("maybe"), 6u);
  EXPECT_EQ(schema.find("missing"), std::nullopt);
}

TEST(ParseSchema, ConvertsDefaultsToTheDeclaredType) {
  const Schema schema =
      parse_schema("a::b(int[2] padding=0, float p=2, Scalar? s=inf, MemoryFormat f=0) -> ()");
  const List* padding = schema.parameters[0].default_value->get<List>();
  ASSERT_NE(padding, nullptr);
  EXPECT_EQ(padding->size(), 2u);
  EXPECT_EQ(*schema.parameters[1].default_value->get<double>(), 2.0);
  EXPECT_GT(*schema.parameters[2].default_value->get<double>(), 1e308);
  EXPECT_EQ(schema.parameters[3].default_value->get<Enumerator>()->name, "contiguous_format");
  EXPECT_TRUE(schema.returns.empty());
}

TEST(ParseSchema, RefusesMalformedText) {
  for (const char* text :
       {"", "aten::relu", "aten::relu(Tensor self", "aten::relu(Tensor self) -> Tensor, ",
        "aten::relu(Tensor self=[) -> Tensor", "aten::relu(Tensor) -> Tensor",
        "aten::relu(Tensor(a self) -> Tensor", "aten::relu(int[0] x) -> Tensor",
        "aten::relu(int[99999999999999] x) -> Tensor", "aten::relu(str x=\"a) -> Tensor",
        "aten::relu(int x=\"a\") -> Tensor", "aten::relu(int x=1.2.3) -> Tensor",
        "(Tensor self) -> Tensor", "aten::relu(Tensor self) -> "}) {
    EXPECT_THROW(parse_schema(text), base::Error) << text;
  }
}

// A schema written as the project writes it; types that only scripting has become Any.
std::string in_our_spelling(std::string text) {
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("SymInt", "int");
  return text;
}

TEST(SchemaTable, EveryEntryParsesPrintsAndIsFound) {
  std::size_t total = 0;
  std::size_t verbatim = 0;
  std::string previous;
  for (const std::string_view line : known_schemas()) {
    const std::string text(line);
    const Schema schema = parse_schema(text);
    EXPECT_EQ(schema.qualified(), text.substr(0, text.find('('))) << text;
    // What is printed reads back as the same, and is the original where we know its types.
    const std::string printed = to_string(schema);
    EXPECT_EQ(to_string(parse_schema(printed)), printed) << text;
    if (printed == in_our_spelling(text)) ++verbatim;
    const Schema* found = find_schema(schema.qualified());
    ASSERT_NE(found, nullptr) << text;
    EXPECT_EQ(to_string(*found), printed);
    ++total;
  }
  EXPECT_GT(total, 3400u);
  EXPECT_GT(verbatim, total * 8 / 10) << "of " << total;
}

TEST(SchemaTable, GivesTheSameSchemaAgainAndNullForOthers) {
  const Schema* add = find_schema("aten::add.Tensor");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add, find_schema("aten::add.Tensor"));
  EXPECT_EQ(to_string(*add),
            "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  for (const char* name : {"", "aten::add.Tenso", "aten::add.Tensor(", "zzz", "0", "aten", "\n"})
    EXPECT_EQ(find_schema(name), nullptr) << name;
  EXPECT_NE(find_schema("aten::relu_"), nullptr);
  EXPECT_NE(find_schema("aten::add.out"), nullptr);
  EXPECT_NE(find_schema("prims::convert_element_type"), nullptr);
  EXPECT_NE(find_schema("torchvision::nms"), nullptr);
  EXPECT_NE(find_schema("transformers::grouped_mm_fallback"), nullptr);
  EXPECT_NE(find_schema("quantized_decomposed::quantize_per_tensor"), nullptr);
  EXPECT_NE(find_schema("higher_order::cond"), nullptr);
  EXPECT_NE(find_schema("sym::floordiv"), nullptr);
}

}  // namespace
}  // namespace sardonyx::program
