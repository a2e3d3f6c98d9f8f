// The schemas that this build knows without PyTorch.
#include <array>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "program/schema/schema.h"

namespace sardonyx::program {
namespace {

// Text, not tables: a schema a line, sorted by name, so that nothing is built, relocated or parsed
// before it is asked for.
constexpr std::string_view kTexts[] = {
#include "program/schema/gen/aten_a_l.inc"
    ,
#include "program/schema/gen/aten_m_z.inc"
    ,
#include "program/schema/gen/other.inc"
    ,
#include "program/schema/gen/pseudo.inc"
};

std::string_view line_at(std::string_view text, std::size_t start) {
  return text.substr(start, text.find('\n', start) - start);
}

// The line whose text up to its parenthesis is `name`; empty when there is none.
std::string_view find_line(std::string_view text, std::string_view name) {
  std::size_t low = 0;
  std::size_t high = text.size();
  while (low < high) {
    // The line that the middle falls into, from its start.
    const std::size_t middle = low + (high - low) / 2;
    const std::size_t newline = middle == 0 ? std::string_view::npos : text.rfind('\n', middle - 1);
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    const std::string_view line = line_at(text, start);
    const int order = line.substr(0, line.find('(')).compare(name);
    if (order == 0) return line;
    if (order < 0) {
      low = start + line.size() + 1;
    } else {
      high = start;
    }
  }
  return {};
}

struct Parsed {
  std::mutex mutex;
  std::unordered_map<std::string_view, std::unique_ptr<const Schema>> schemas;
};

Parsed& parsed() {
  static Parsed* const table = new Parsed;  // outlives every static that may still hold a schema
  return *table;
}

}  // namespace

const Schema* find_schema(std::string_view qualified_name) {
  Parsed& table = parsed();
  const std::lock_guard<std::mutex> lock(table.mutex);
  if (const auto found = table.schemas.find(qualified_name); found != table.schemas.end())
    return found->second.get();
  for (const std::string_view text : kTexts) {
    const std::string_view line = find_line(text, qualified_name);
    if (line.empty()) continue;
    auto schema = std::make_unique<const Schema>(parse_schema(line));
    const Schema* const result = schema.get();
    table.schemas.emplace(line.substr(0, line.find('(')), std::move(schema));
    return result;
  }
  return nullptr;
}

std::vector<std::string_view> known_schemas() {
  std::vector<std::string_view> lines;
  for (const std::string_view text : kTexts) {
    for (std::size_t at = 0; at < text.size(); at += lines.back().size() + 1)
      lines.push_back(line_at(text, at));
  }
  return lines;
}

}  // namespace sardonyx::program
