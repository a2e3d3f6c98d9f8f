#include "cli/usage_error.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/did_you_mean.h"

namespace sardonyx::cli {
namespace {

// The command that was named, or the program where none was.
const CLI::App& command_of(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : *named.front();
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string unknown(std::string_view kind, std::string_view word,
                    const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string near = base::did_you_mean(word, names);
  return fmt::format("there is no {} `{}`{}", kind, word, near.empty() ? "" : "; " + near);
}

std::string reason(const CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = command_of(app);
  const std::vector<std::string> rest = command.remaining();
  const bool is_option = !rest.empty() && rest.front().starts_with("-");
  if (is_option) {
    const std::string option = rest.front().substr(0, rest.front().find('='));
    return unknown("option", option, names_of_options(command));
  }
  if (&command != &app) return error.what();
  if (rest.empty()) return "no command is given";
  return unknown("command", rest.front(), names_of_commands(app));
}

}  // namespace

std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  const CLI::App& command = command_of(*app);
  const std::string whole =
      &command == app ? app->get_name() : app->get_name() + " " + command.get_name();
  return fmt::format("error: {}\n  help: `{} --help`\n", reason(*app, error), whole);
}

}  // namespace sardonyx::cli
