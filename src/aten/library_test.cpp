#include "aten/library.h"

#include <gtest/gtest.h>

#include <set>

#include "program/schema/schema.h"

namespace sardonyx::aten {
namespace {

class LibraryTest : public testing::TestWithParam<bool> {};

TEST_P(LibraryTest, RowsHavePyTorchsSchemas) {
  const std::vector<std::string_view> known = program::known_schemas();
  const std::set<std::string_view> texts(known.begin(), known.end());
  for (const Row& row : all_rows(GetParam())) {
    if (row.schema.find('(') != std::string_view::npos) {
      EXPECT_TRUE(texts.contains(row.schema)) << row.schema;
    } else {
      EXPECT_TRUE(GetParam() && find_translator(row.schema, false)) << row.schema;
    }
  }
}

// Of two such rows, which one is found would be chance.
TEST_P(LibraryTest, NoTwoRowsAreOfOneSchema) {
  std::set<std::string_view> seen;
  for (const Row& row : all_rows(GetParam()))
    EXPECT_TRUE(seen.emplace(row.schema).second) << row.schema;
}

INSTANTIATE_TEST_SUITE_P(Families, LibraryTest, testing::Bool(),
                         [](const auto& which) { return which.param ? "Complex" : "Real"; });

}  // namespace
}  // namespace sardonyx::aten
