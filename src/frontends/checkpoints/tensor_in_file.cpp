#include "frontends/checkpoints/tensor_in_file.h"

#include <simdjson.h>

#include <algorithm>
#include <unordered_set>

#include "base/diagnostic.h"

namespace sardonyx::checkpoints {
namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 62;

}  // namespace

std::string in_quotes(std::string_view name) { return "'" + std::string(name) + "'"; }

std::optional<std::int64_t> element_count(std::span<const std::int64_t> dims) {
  if (std::ranges::any_of(dims, [](std::int64_t dim) { return dim < 0; })) return std::nullopt;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim > kMaxCount / count) return std::nullopt;
    count *= dim;
  }
  return count;
}

bool is_name(std::string_view name) {
  return simdjson::validate_utf8(name.data(), name.size()) &&
         name.find('\0') == std::string_view::npos;
}

void check_inside(const std::string& path, std::uint64_t size, std::span<const Extent> extents) {
  std::uint64_t needed = 0;
  for (const Extent& each : extents)
    needed = std::max(
        needed, each.length > UINT64_MAX - each.offset ? UINT64_MAX : each.offset + each.length);
  if (needed > size)
    base::fail(kDamaged,
               path + " is cut short: it has " + std::to_string(size) + " bytes of " +
                   std::to_string(needed),
               kCopyAgain);
}

std::string conflict(std::vector<NamedExtent> tensors) {
  std::unordered_set<std::string_view> names;
  for (const NamedExtent& each : tensors)
    if (!names.insert(each.name).second) return "it has two tensors " + in_quotes(each.name);
  std::erase_if(tensors, [](const NamedExtent& each) { return each.extent.length == 0; });
  std::ranges::sort(tensors, {}, [](const NamedExtent& each) { return each.extent.offset; });
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const NamedExtent &before = tensors[i - 1], &after = tensors[i];
    if (after.extent.offset - before.extent.offset < before.extent.length)
      return in_quotes(before.name) + " and " + in_quotes(after.name) + " share bytes";
  }
  return {};
}

}  // namespace sardonyx::checkpoints
