#include <gtest/gtest.h>

#include <string>

#include "base/diagnostic.h"
#include "frontends/torchscript/syntax/syntax.h"

namespace sardonyx::torchscript {
namespace {

constexpr const char* kSource = R"(class Net(Module):
  __parameters__ = ["weight", ]
  weight : Tensor
  size : Final[int] = 4
  __annotations__["0"] = __torch__.Linear
  def forward(self: __torch__.Net,
    x: Tensor,
    n: int=2) -> Tensor:
    _0, y, = torch.max(x, -1), annotate(List[int], [])
    if torch.gt(n, 3):
      z = torch.add(x, 1.5e-3, alpha=2)
    else:
      pass
    for i in range(n):
      z = {"a\n\"b": (x,), }["a\n\"b"][0]
    while True:
      return getattr(self, "0").forward(x, )
def free(x: Tensor) -> NoneType:
  return None
)";

std::string complaint(const std::string& text) {
  try {
    parse_source("code/a.py", text);
  } catch (const base::Error& error) {
    return error.diagnostics().front().code + " " + error.diagnostics().front().message;
  }
  return "none";
}

TEST(Parser, ReadsWhatArchivesHold) {
  const auto file = parse_source("code/a.py", kSource);
  ASSERT_EQ(file->classes.size(), 1U);
  ASSERT_EQ(file->functions.size(), 1U);
  const Function* forward = file->classes[0].method("forward");
  ASSERT_NE(forward, nullptr);
  ASSERT_EQ(forward->parameters.size(), 3U);
  EXPECT_EQ(forward->parameters[2].standard->integer, 2);
  ASSERT_EQ(forward->body.size(), 4U);
  EXPECT_EQ(forward->body[0].kind, Statement::Kind::kAssign);
  EXPECT_EQ(forward->body[0].targets[0]->items.size(), 2U);
  const Statement& branch = forward->body[1];
  EXPECT_EQ(branch.value->items[0]->dotted(), "torch.gt");
  EXPECT_EQ(branch.body[0].value->keywords[0].first, "alpha");
  EXPECT_DOUBLE_EQ(branch.body[0].value->items[2]->real, 1.5e-3);
  EXPECT_EQ(forward->body[2].body[0].value->items[0]->items[1]->text, "a\n\"b");
  EXPECT_EQ(file->line_of(forward->body[1].offset), 10);
  EXPECT_EQ(file->line_text(forward->body[1].offset), "if torch.gt(n, 3):");
}

TEST(Parser, SaysWhereTextIsNone) {
  EXPECT_EQ(complaint("def f(x:\n"),
            "SX1121 the code of the archive is malformed: it has '' where a value stands "
            "(code/a.py:2)");
  EXPECT_NE(complaint("x = 'abc\n").find("a string has no end"), std::string::npos);
  EXPECT_NE(complaint("x = 12345678901234567890\n").find("more than 64 bits"), std::string::npos);
  EXPECT_NE(complaint("x = a @ b\n").find("that archives do not write"), std::string::npos);
  EXPECT_NE(complaint("x = )\n").find("a bracket closes"), std::string::npos);
}

TEST(Parser, RefusesWhatIsNestedTooDeep) {
  const std::string open(100'000, '(');
  EXPECT_NE(complaint("x = " + open + "\n").find("nested too deep"), std::string::npos);
  std::string links = "x = a";
  for (int i = 0; i < 100'000; ++i) links += ".b";
  EXPECT_NE(complaint(links + "\n").find("nested too deep"), std::string::npos);
  std::string blocks;
  for (std::size_t i = 0; i < 1000; ++i) blocks += std::string(i, ' ') + "if a:\n";
  EXPECT_NE(complaint(blocks).find("nested too deep"), std::string::npos);
}

// Whatever the bytes are, it ends in a tree or a diagnostic.
TEST(Parser, TakesAnyBytes) {
  const std::string source = kSource;
  for (std::size_t length = 0; length < source.size(); ++length)
    complaint(source.substr(0, length));
  std::uint32_t state = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = source;
    for (int change = 0; change < 3; ++change) {
      state = state * 1664525U + 1013904223U;
      text[(state >> 8) % text.size()] = "()[]{}:,.=-\n \"\\a0#\x80"[state % 19];
    }
    complaint(text);
  }
}

TEST(Parser, SumsAreComplexNumbers) {
  const auto file = parse_source("code/a.py", R"(def f(x: Tensor) -> Tensor:
  return torch.add(-1e10-2.5j, inf-nanj, x)
)");
  const Expression& call = *file->functions[0].body[0].value;
  ASSERT_EQ(call.items.size(), 4U);
  EXPECT_EQ(call.items[1]->kind, Expression::Kind::kComplex);
  EXPECT_EQ(call.items[1]->items[0]->kind, Expression::Kind::kNegative);
  EXPECT_DOUBLE_EQ(call.items[1]->items[0]->items[0]->real, 1e10);
  EXPECT_EQ(call.items[1]->items[1]->kind, Expression::Kind::kNegative);
  EXPECT_DOUBLE_EQ(call.items[1]->items[1]->items[0]->real, 2.5);
  EXPECT_EQ(call.items[2]->items[1]->items[0]->text, "nan");
  for (const char* sum : {"1+2", "x+1.", "1.+x", "1.+", "1.+2.k", "1.+2.j+3.j"})
    EXPECT_TRUE(complaint("def f(x):\n  return " + std::string(sum) + "\n").starts_with("SX1121"))
        << sum;
}

}  // namespace
}  // namespace sardonyx::torchscript
