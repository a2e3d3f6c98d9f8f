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
                   "fp16 or bf16: the graph computes in it, but for what would lose more than "
                   "rounding; int8 or int4: weights in blocks; fp16+int4: both")
      ->check(CLI::IsMember({"fp16", "bf16", "int8", "int4", "fp16+int8", "fp16+int4"}))
      ->group(kGroup);
  command
      ->add_option("--keep", options.keep,
                   "operators, or regular expressions found in names of nodes and weights, that "
                   "stay as they are; may be given again")
      ->type_name("PATTERN")
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      ->add_option_function<std::vector<std::string>>(
          "--mixed",
          [&options](const std::vector<std::string>& given) {
            for (const std::string& each : given) options.mixed.push_back(mixed(each));
          },
          "weights of another type: lm_head=int8, embed=keep; the first that matches counts")
      ->type_name("PATTERN=TYPE")
      ->delimiter(',')
      ->group(kGroup);
  command->add_flag("--io", options.io, "inputs and outputs are fp16 or bf16, too")->group(kGroup);
  command->add_option("--block-size", options.block_size, "weights that share a scale")
      ->check(CLI::IsMember({16, 32, 64, 128, 256}))
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_flag("!--asymmetric", options.symmetric,
                 "blocks have a zero point of their own, beside the scale")
      ->group(kGroup);
  command
      ->add_option("--method", options.method,
                   "search: the scales of least squared error; rtn: those of the extremes")
      ->check(CLI::IsMember({"search", "rtn"}))
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_option("--accuracy-level", options.accuracy_level,
                   "of MatMulNBits: 4 (for onnxruntime-cpu) rounds the other factor to 8 bits, 0 "
                   "does not")
      ->check(CLI::Range(0, 4))
      ->group(kGroup);
}

}  // namespace sardonyx::cli
