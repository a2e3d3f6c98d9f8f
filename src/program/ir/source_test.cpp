#include <gtest/gtest.h>

#include "program/ir/program.h"

namespace sardonyx::program {
namespace {

TEST(Source, FindsTheInnermostFrameOfTheUser) {
  Source source;
  source.stack_trace =
      "  File \"/home/me/run.py\", line 3, in <module>\n    model(x)\n"
      "  File \"/home/me/model.py\", line 27, in forward\n    return self.attn(x)\n"
      "  File \"/venv/lib/python3.11/site-packages/transformers/bert.py\", line 9, in forward\n"
      "  File \"/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py\", line 134, in f\n";
  const base::UserLocation location = source.location();
  EXPECT_EQ(location.file, "/home/me/model.py");
  EXPECT_EQ(location.line, 27);
  EXPECT_EQ(location.function, "forward");
}

TEST(Source, FallsBackToALibraryButNotToTorch) {
  Source source;
  source.stack_trace =
      "File \"/v/site-packages/transformers/bert.py\", line 9, in forward\n"
      "File \"/v/site-packages/torch/nn/modules/linear.py\", line 134, in f";
  EXPECT_EQ(source.location().file, "/v/site-packages/transformers/bert.py");
  source.stack_trace = "File \"/v/site-packages/torch/nn/modules/linear.py\", line 134, in f";
  EXPECT_EQ(source.location().file, "");
  for (const char* text :
       {"", "File \"", "File \"a\", line ", "File \"a\", line x, in y", "\n\n"}) {
    source.stack_trace = text;
    EXPECT_EQ(source.location().file, "") << text;
  }
}

TEST(Source, SaysTheModulePath) {
  Source source;
  EXPECT_EQ(source.module_path(), "");
  source.modules = {{"", "my.Model"}};
  EXPECT_EQ(source.module_path(), "Model");
  source.modules.push_back({"encoder.0", "torch.nn.modules.linear.Linear"});
  EXPECT_EQ(source.module_path(), "encoder.0 (Linear)");
}

}  // namespace
}  // namespace sardonyx::program
