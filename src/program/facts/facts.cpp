#include "program/facts/facts.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace sardonyx::program {
namespace {

using View = ViewFamily;
using Write = WriteKind;
using Result = ResultType;

struct Row {
  std::string_view name;  // "max.other" of ATen, "prims::transpose" of another space
  Facts facts;
};

constexpr Row kRows[] = {
#include "program/facts/operators_a_l.inc"
#include "program/facts/operators_m_z.inc"
};

constexpr Facts kNothing{};

constexpr std::string_view kAten = "aten::";
constexpr std::string_view kOnLists = "_foreach_";

const Facts* find(std::string_view name) {
  static const auto kIndex = [] {
    std::unordered_map<std::string_view, const Facts*> index;
    for (const Row& row : kRows) index.emplace(row.name, &row.facts);
    return index;
  }();
  const auto found = kIndex.find(name);
  return found == kIndex.end() ? nullptr : found->second;
}

}  // namespace

const Facts& facts_of(std::string_view qualified_name) {
  std::string_view name = qualified_name;
  if (name.starts_with(kAten)) name.remove_prefix(kAten.size());
  if (const Facts* own = find(name)) return *own;
  const std::size_t overload = name.find('.');
  const Facts* all = overload == name.npos ? nullptr : find(name.substr(0, overload));
  return all ? *all : kNothing;
}

const Facts& facts_of(const Schema& schema) { return facts_of(schema.qualified()); }

bool answers_metadata(const Schema& schema) {
  if (schema.returns.empty() || schema.mutates()) return false;
  if (schema.space() != "aten" && schema.space() != "prims") return false;
  return std::ranges::all_of(schema.returns, [](const ReturnSpec& result) {
    using enum TypeKind;
    const TypeKind kind = result.type.kind;
    return kind == kInt || kind == kFloat || kind == kBool || kind == kNumber || kind == kDType;
  });
}

std::string_view operator_on_each(const Schema& schema) {
  std::string_view name = schema.base_name();
  if (schema.space() != "aten" || !name.starts_with(kOnLists)) return {};
  const Facts& facts = facts_of(schema);
  return facts.each.empty() ? name.substr(kOnLists.size()) : facts.each;
}

}  // namespace sardonyx::program
