#include "cli/precision.h"

#include <string>
#include <vector>

namespace sardonyx::cli {
namespace {

// PATTERN=TYPE; the pattern may have the sign, too.
PrecisionOptions::Mixed mixed(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
    throw CLI::ValidationError("--mixed", "'" + text + "' is not PATTERN=TYPE");
  return {text.substr(0, sign), text.substr(sign + 1)};
}

}  // namespace

void add_precision(CLI::App* command, PrecisionOptions& options) {
  constexpr const char* kGroup = "Precision";
  command
      ->add_option("--precision", options.to,
                   "fp16, bf16: half precision, except operators that need float32; int8, int4: "
                   "block-wise weight-only quantization; fp16+int4: both")
      ->check(CLI::IsMember({"fp16", "bf16", "int8", "int4", "fp16+int8", "fp16+int4"}))
      ->group(kGroup);
  command
      ->add_option("--keep", options.keep,
                   "operators, or regular expressions of node and weight names, that stay as they "
                   "are; repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      ->add_option_function<std::vector<std::string>>(
          "--mixed",
          [&options](const std::vector<std::string>& given) {
            for (const std::string& each : given) options.mixed.push_back(mixed(each));
          },
          "another type for matching weights: lm_head=int8, embed=keep; the first match counts")
      ->type_name("PATTERN=TYPE")
      ->delimiter(',')
      ->group(kGroup);
  command->add_flag("--io", options.io, "convert inputs and outputs too")->group(kGroup);
  command
      ->add_option("--block-size", options.block_size, "weights in one block, which share a scale")
      ->check(CLI::IsMember({16, 32, 64, 128, 256}))
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_flag_callback(
          "--asymmetric", [&options] { options.symmetric = false; },
          "add a zero point to each block")
      ->group(kGroup);
  command
      ->add_option("--method", options.method,
                   "search: scales of least squared error; rtn: round to nearest")
      ->check(CLI::IsMember({"search", "rtn"}))
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_option("--accuracy-level", options.accuracy_level,
                   "of MatMulNBits: 4 (the default of onnxruntime-cpu) rounds activations to 8 "
                   "bits, 0 does not")
      ->check(CLI::Range(0, 4))
      ->group(kGroup);
}

}  // namespace sardonyx::cli
