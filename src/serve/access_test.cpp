#include "serve/access.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "serve/shelf.h"
#include "serve/text.h"

namespace sardonyx::serve {
namespace {

TEST(Access, TokensAreLongAndDiffer) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(new_token());
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_EQ(tokens.begin()->size(), 32U);
}

TEST(Access, ComparesWholeTokens) {
  EXPECT_TRUE(is_same_token("abc", "abc"));
  EXPECT_FALSE(is_same_token("abc", "abd"));
  EXPECT_FALSE(is_same_token("ab", "abc"));
  EXPECT_FALSE(is_same_token("", "abc"));
}

TEST(Access, TakesHostsThatNoSiteCanName) {
  for (const char* host :
       {"127.0.0.1:80", "127.0.0.1", "localhost:8000", "[::1]:80", "10.0.0.7:1", "box.example:80"})
    EXPECT_TRUE(is_own_host(host, "box.example")) << host;
  for (const char* host : {"", "attacker.example:80", "127.0.0.1.attacker.example", "[::1", "[]:80",
                           "localhost.attacker.example", "1.2.3:80", ":80"})
    EXPECT_FALSE(is_own_host(host, "127.0.0.1")) << host;
}

TEST(Access, TakesItsOwnPage) {
  EXPECT_TRUE(is_own_origin("", "127.0.0.1:80"));
  EXPECT_TRUE(is_own_origin("http://127.0.0.1:80", "127.0.0.1:80"));
  EXPECT_FALSE(is_own_origin("http://127.0.0.1:81", "127.0.0.1:80"));
  EXPECT_FALSE(is_own_origin("null", "127.0.0.1:80"));
}

TEST(Access, KnowsTheLoopback) {
  for (const char* host : {"127.0.0.1", "127.8.8.8", "::1", "localhost"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "127.attacker.example", "192.168.0.1", ""})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(Shelf, TakesNamesOfFilesAlone) {
  for (const char* name : {"model.onnx", "a b.pt2", "modèle.onnx", "x"})
    EXPECT_TRUE(is_file_name(name)) << name;
  for (const char* name : {"", ".", "..", "../x", "a/b", "a\\b", "a\nb", ".x"})
    EXPECT_FALSE(is_file_name(name)) << name;
  EXPECT_FALSE(is_file_name(std::string(201, 'x')));
  EXPECT_FALSE(is_file_name(std::string_view("a\0b", 3)));
}

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(parts(" a=1 ,, b=2,", ','), (std::vector<std::string_view>{"a=1", "b=2"}));
  EXPECT_TRUE(parts("", ',').empty());
  EXPECT_EQ(escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;>&amp;");
}

}  // namespace
}  // namespace sardonyx::serve
