#include <gtest/gtest.h>

#include "sardonyx/report.h"

namespace sardonyx {
namespace {

TEST(JsonString, EscapesWhatJsonMustEscape) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
}

TEST(JsonString, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(json_string("h\xC3\xA9"), "\"h\xC3\xA9\"");
  EXPECT_EQ(json_string("\xFFx\xE2\x82"), "\"\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(json_string("\xED\xA0\x80").find('\xED'), std::string::npos);
}

TEST(Json, ADiagnosticHasAllItsFields) {
  Diagnostic diagnostic;
  diagnostic.code = "SX1300";
  diagnostic.message = "no translation";
  diagnostic.op = "aten::foo";
  diagnostic.location.file = "model.py";
  diagnostic.location.line = 12;
  diagnostic.contexts = {"in a.pt2"};
  EXPECT_EQ(to_json(std::vector{diagnostic}),
            "[{\"code\": \"SX1300\", \"severity\": \"error\", \"message\": \"no translation\", "
            "\"help\": \"\", \"op\": \"aten::foo\", \"node\": \"\", \"module_path\": \"\", "
            "\"file\": \"model.py\", \"line\": 12, \"function\": \"\", \"contexts\": "
            "[\"in a.pt2\"]}]");
}

}  // namespace
}  // namespace sardonyx
