#include <gtest/gtest.h>

#include <algorithm>

#include "report/rules.h"
#include "sardonyx/report.h"

namespace sardonyx {
namespace {

TEST(Rules, StandInTheOrderOfTheirCodes) {
  EXPECT_TRUE(std::ranges::is_sorted(rules(), {}, &Rule::code));
  EXPECT_GT(rules().size(), 40U);
}

TEST(Sarif, ARunWithoutDiagnosticsSucceeded) {
  const std::string log = to_sarif({}, SarifRun());
  EXPECT_NE(log.find("\"version\": \"2.1.0\""), std::string::npos);
  EXPECT_NE(log.find("\"executionSuccessful\": true"), std::string::npos);
  EXPECT_NE(log.find("\"results\": []"), std::string::npos);
}

TEST(Sarif, AResultHasItsRuleAndItsPlace) {
  Diagnostic diagnostic;
  diagnostic.code = "SX1300";
  diagnostic.message = "no translation";
  diagnostic.location = {"/home/a b/model.py", 12, "forward"};
  const std::string log = to_sarif(std::vector{diagnostic}, {});
  EXPECT_NE(log.find("\"uri\": \"file:///home/a%20b/model.py\""), std::string::npos);
  EXPECT_NE(log.find("\"startLine\": 12"), std::string::npos);
  EXPECT_NE(log.find("\"id\": \"SX1300\", \"shortDescription\""), std::string::npos);
  EXPECT_NE(log.find("\"executionSuccessful\": false"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx
