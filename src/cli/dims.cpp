#include "cli/dims.h"

#include <map>
#include <string>
#include <vector>

#include "cli/usage_error.h"

namespace sardonyx::cli {
namespace {

constexpr std::size_t kMaxDigits = 15;

// "batch=1" as a name and a number.
void add_numbers(const std::vector<std::string>& texts, std::map<std::string, std::int64_t>& dims,
                 const std::string& option) {
  for (const std::string& text : texts) {
    const auto given = named_number(text, kMaxDigits);
    if (!given) throw CLI::ValidationError(option, "is NAME=N,..., not " + text);
    const auto [known, is_new] = dims.insert(*given);
    if (!is_new && known->second != given->second)
      throw CLI::ValidationError(option, "has two numbers for " + known->first);
  }
}

void add_one(CLI::App& command, const std::string& option, const std::string& help,
             std::map<std::string, std::int64_t>& dims) {
  command
      .add_option_function<std::vector<std::string>>(
          option,
          [&dims, option](const std::vector<std::string>& texts) {
            add_numbers(texts, dims, option);
          },
          help)
      ->type_name("NAME=N")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Model");
}

}  // namespace

std::optional<std::pair<std::string, std::int64_t>> named_number(const std::string& text,
                                                                 std::size_t max_digits) {
  const std::size_t at = text.rfind('=');
  const std::string digits = at == std::string::npos ? std::string() : text.substr(at + 1);
  if (at == 0 || digits.empty() || digits.size() > max_digits ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::pair(text.substr(0, at), static_cast<std::int64_t>(std::stoll(digits)));
}

void add_dim_options(CLI::App& command, DimOptions& options) {
  add_one(command, "--fixed",
          "make a dynamic dimension, and all that depends on it, constant; repeatable",
          options.fixed);
  add_one(command, "--max", "a dynamic dimension that is at most this number; repeatable",
          options.max);
}

}  // namespace sardonyx::cli
