#include "frontends/torchscript/values/objects.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "base/diagnostic.h"

namespace sardonyx::torchscript {
namespace {

using namespace std::string_literals;

AbstractValue read(const std::string& bytes) {
  const archive::Pickle pickle(std::as_bytes(std::span(bytes)));
  return read_object(pickle, "data/");
}

std::string code_of(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const base::Error& error) {
    return error.diagnostics().front().code;
  }
  return "none";
}

TEST(Objects, ModulesHaveAttributes) {
  // __torch__.Net with {"n": 3, "same": <a list>, "list": <the same list>}
  const AbstractValue net = read(
      "\x80\x02"
      "c__torch__\nNet\n)\x81}(X\x01\0\0\0nK\x03X\x04\0\0\0same]q\0X\x04\0\0\0listh\0ub."s);
  EXPECT_EQ(net.held->type, "__torch__.Net");
  EXPECT_TRUE(net.held->attribute("n")->expr.is(3));
  EXPECT_EQ(net.held->attribute("same")->held, net.held->attribute("list")->held);
}

TEST(Objects, NothingIsImportedOrCalled) {
  EXPECT_EQ(code_of("\x80\x02"
                    "cos\nsystem\n(X\x02\0\0\0lstR."s),
            "SX1110");
  EXPECT_EQ(code_of("\x80\x02"
                    "cos\nsystem\n."s),
            "SX1110");
}

TEST(Objects, DeepNestingIsRefused) {
  std::string deep = "\x80\x02";
  for (int i = 0; i < 100'000; ++i) deep += ")";
  for (int i = 0; i < 100'000 - 1; ++i) deep += "\x85"s;
  EXPECT_EQ(code_of(deep + "."), "SX1110");
}

TEST(Objects, AListThatHoldsItselfIsRefused) { EXPECT_EQ(code_of("\x80\x02]q\0h\0a."s), "SX1110"); }

// [[]], then a list of that one twice, and so on: 60 times.
TEST(Objects, ListsThatComeToVastNumbersAreRefused) {
  std::string pickle = "\x80\x02]q"s + '\0' + "0";
  for (char i = 0; i < 60; ++i)
    pickle += "(h"s + i + "h"s + i + "lq"s + static_cast<char>(i + 1) + "0";
  EXPECT_EQ(code_of(pickle + "h"s + static_cast<char>(60) + "."), "SX1110");
}

}  // namespace
}  // namespace sardonyx::torchscript
