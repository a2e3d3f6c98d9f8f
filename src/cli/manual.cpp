// Manual pages and shell completions, made from the tables of options that the parser has.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_name().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); });
}

// "-o", "--output"; none of what is given by its place.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& each : option.get_snames()) names.push_back("-" + each);
  for (const std::string& each : option.get_lnames()) names.push_back("--" + each);
  return names;
}

// The words that an option takes, where it takes certain ones: help has them as {a,b}.
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  return CLI::detail::join(words, between);
}

// --- completions

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char each : text) result += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return result + "'";
}

// Zsh loads bash's: both ask one function for the words that may stand at the cursor.
std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string options, words;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    std::vector<std::string> all;
    for (const CLI::Option* option : options_of(*command)) {
      const std::vector<std::string> own = names_of(*option);
      all.insert(all.end(), own.begin(), own.end());
      const std::vector<std::string> taken = words_of(*option);
      if (taken.empty() || own.empty()) continue;
      for (const std::string& name : own)
        words += "    " + command->get_name() + ":" + name +
                 ") words=" + quoted(joined(taken, " ")) + " ;;\n";
    }
    options += "    " + command->get_name() + ") words=" + quoted(joined(all, " ")) + " ;;\n";
  }
  return "_sardonyx() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} words=''\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W " +
         quoted(joined(names, " ") + " --help --version") +
         " -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]} in\n" +
         words +
         "  esac\n"
         "  if [[ -z $words && $current == -* ]]; then\n"
         "    case ${COMP_WORDS[1]} in\n" +
         options +
         "    esac\n"
         "  fi\n"
         "  if [[ -n $words ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$current\")); fi\n"
         "}\n"
         "complete -o default -o bashdefault -F _sardonyx sardonyx\n";
}

std::string fish_completion(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : commands_of(app)) {
    text += "complete -c sardonyx -n __fish_use_subcommand -a " + command->get_name() + " -d " +
            quoted(command->get_description()) + "\n";
    for (const CLI::Option* option : options_of(*command)) {
      if (names_of(*option).empty()) continue;
      text += "complete -c sardonyx -n '__fish_seen_subcommand_from " + command->get_name() + "'";
      for (const std::string& each : option->get_snames()) text += " -s " + each;
      for (const std::string& each : option->get_lnames()) text += " -l " + each;
      if (option->get_expected_min() > 0) text += " -r";
      if (const auto taken = words_of(*option); !taken.empty())
        text += " -f -a " + quoted(joined(taken, " "));
      text += " -d " + quoted(option->get_description()) + "\n";
    }
  }
  return text;
}

std::string completion(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") return fish_completion(app);
  const std::string bash = bash_completion(app);
  return shell == "bash" ? bash : "autoload -U +X bashcompinit && bashcompinit\n" + bash;
}

// --- manual pages

// What troff would take for its own.
std::string roff(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\')
      result += "\\e";
    else if (text[i] == '-')
      result += "\\-";
    else
      result += text[i];
  }
  return result;
}

std::string option_entries(const CLI::App& app) {
  std::string text, group;
  for (const CLI::Option* option : options_of(app)) {
    if (option->get_group() != group && !names_of(*option).empty()) {
      group = option->get_group();
      text += ".SS " + roff(group) + "\n";
    }
    const std::vector<std::string> names = names_of(*option);
    const std::string shown = names.empty() ? option->get_name(true) : joined(names, ", ");
    text += ".TP\n\\fB" + roff(shown) + "\\fR";
    if (const auto taken = words_of(*option); !taken.empty())
      text += " " + roff(joined(taken, "|"));
    text += "\n" + roff(option->get_description()) + "\n";
  }
  return text;
}

std::string manual_page(const CLI::App& app, const CLI::App* command) {
  const CLI::App& page = command ? *command : app;
  const std::string name = command ? "sardonyx-" + command->get_name() : "sardonyx";
  std::string text = ".TH " + roff(name) + " 1 \"\" \"sardonyx " + std::string(version()) +
                     "\" \"User Commands\"\n.SH NAME\n" + roff(name) + " \\- " +
                     roff(page.get_description()) + "\n.SH SYNOPSIS\n.B sardonyx" +
                     (command ? " " + command->get_name() : " COMMAND") + "\n[OPTIONS]\n";
  if (!command) {
    text += ".SH COMMANDS\n";
    for (const CLI::App* each : commands_of(app))
      text +=
          ".TP\n\\fB" + roff(each->get_name()) + "\\fR\n" + roff(each->get_description()) + "\n";
  }
  text += ".SH OPTIONS\n" + option_entries(page);
  if (!page.get_footer().empty()) text += ".SH NOTES\n.nf\n" + roff(page.get_footer()) + "\n.fi\n";
  return text;
}

}  // namespace

void add_manual(CLI::App& app, int& exit_code) {
  auto word = std::make_shared<std::string>();
  CLI::App* completions =
      app.add_subcommand("completions", "Print completions for a shell, to be sourced");
  completions->footer(
      "Examples:\n"
      "  source <(sardonyx completions bash)\n"
      "  source <(sardonyx completions zsh)\n"
      "  sardonyx completions fish > ~/.config/fish/completions/sardonyx.fish");
  completions->add_option("shell", *word, "the shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completions->callback([&app, word, &exit_code] {
    exit_code = guarded(false, [&] { std::fputs(completion(app, *word).c_str(), stdout); });
  });

  auto of = std::make_shared<std::string>();
  CLI::App* manual = app.add_subcommand("man", "Print the manual page of a command, for man");
  manual->footer("Examples:\n  sardonyx man convert | man -l -");
  std::vector<std::string> names;
  for (const CLI::App* each : commands_of(app)) names.push_back(each->get_name());
  manual->add_option("command", *of, "the command; none: the page of sardonyx itself")
      ->check(CLI::IsMember(names));
  manual->callback([&app, of, &exit_code] {
    exit_code = guarded(false, [&] {
      const CLI::App* command = of->empty() ? nullptr : app.get_subcommand(*of);
      std::fputs(manual_page(app, command).c_str(), stdout);
    });
  });
}

}  // namespace sardonyx::cli
