#include "base/stack_trace.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sardonyx::base {
namespace {

struct Frame {
  std::string_view file;
  std::string_view function;
  int line = 0;
};

// One line of the form `File "model.py", line 12, in forward`; nothing when it is another line.
std::optional<Frame> parse_frame(std::string_view text) {
  const std::size_t start = text.find_first_not_of(' ');
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start);
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  if (!text.starts_with(kFile)) return std::nullopt;
  const std::size_t end = text.find(kLine, kFile.size());
  if (end == std::string_view::npos) return std::nullopt;

  Frame frame;
  frame.file = text.substr(kFile.size(), end - kFile.size());
  const std::string_view rest = text.substr(end + kLine.size());
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), frame.line);
  if (error != std::errc()) return std::nullopt;
  const std::string_view tail = rest.substr(static_cast<std::size_t>(stop - rest.data()));
  if (tail.starts_with(kIn)) frame.function = tail.substr(kIn.size());
  return frame;
}

constexpr std::string_view kPackages = "-packages/";  // of site- and dist-packages

bool is_installed(std::string_view file) { return file.find(kPackages) != std::string_view::npos; }

bool is_torch(std::string_view file) {
  return file.find("-packages/torch/") != std::string_view::npos || file.starts_with("<");
}

}  // namespace

UserLocation user_location(std::string_view stack_trace) {
  // Innermost last: what the user wrote beats what they installed, and that beats PyTorch itself.
  std::optional<Frame> own;
  std::optional<Frame> library;
  std::string_view rest = stack_trace;
  while (!rest.empty()) {
    const std::size_t newline = std::min(rest.find('\n'), rest.size());
    if (const auto frame = parse_frame(rest.substr(0, newline))) {
      if (!is_installed(frame->file) && !is_torch(frame->file)) {
        own = frame;
      } else if (!is_torch(frame->file)) {
        library = frame;
      }
    }
    rest.remove_prefix(std::min(newline + 1, rest.size()));
  }
  const std::optional<Frame>& best = own ? own : library;
  if (!best) return {};
  return {std::string(best->file), best->line, std::string(best->function)};
}

std::string without_paths(std::string_view stack_trace, bool all) {
  std::string text;
  while (!stack_trace.empty()) {
    const std::size_t end = std::min(stack_trace.find('\n'), stack_trace.size() - 1) + 1;
    const std::string_view line = stack_trace.substr(0, end);
    stack_trace.remove_prefix(end);
    const auto frame = parse_frame(line);
    std::size_t name = 0;
    if (frame && is_installed(frame->file)) {
      name = frame->file.rfind(kPackages) + kPackages.size();
    } else if (frame && all) {
      name = frame->file.find_last_of("/\\") + 1;  // 0 where there is no folder
    }
    const std::size_t begin =
        frame ? static_cast<std::size_t>(frame->file.data() - line.data()) : 0;
    text.append(line.substr(0, begin)).append(line.substr(begin + name));
  }
  return text;
}

std::string module_path(std::string_view path, std::string_view type) {
  if (path.empty()) return std::string(type);
  std::string text(path);
  if (!type.empty()) text.append(" (").append(type).append(")");
  return text;
}

}  // namespace sardonyx::base
