// Where the elements of a view lie in what it views, read off the call that made it.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

#include "base/diagnostic.h"
#include "functionalize/views/views.h"
#include "symbolic/positions.h"

namespace sardonyx::functionalize {
namespace {

using program::Argument;
using program::Call;
using program::List;
using program::None;
using program::Value;
using symbolic::Expr;

std::optional<Expr> known_size(const Argument& argument) {
  const Expr* expr = argument.get<Expr>();
  if (!expr || !expr->known()) return std::nullopt;
  return *expr;
}

Section range(std::int64_t dim, Argument start, Argument end) {
  return {dim, std::move(start), std::move(end), Expr(1)};
}

std::optional<Section> narrowed(const Call& call, const Value& self) {
  const std::int64_t dim = dimension(call.argument("dim"), self.rank());
  auto start = known_size(call.argument("start"));
  const auto length = known_size(call.argument("length"));
  if (!start || !length) return std::nullopt;
  // slice reads an end of 0 as "before the first", so the start counts from the front.
  start = symbolic::from_front(*start, self.shape[static_cast<std::size_t>(dim)]);
  return range(dim, *start, *start + *length);
}

// Chunk `index` of those of `size` elements.
Section even_chunk(std::int64_t dim, Expr size, std::size_t index) {
  const Expr position = static_cast<std::int64_t>(index);
  return range(dim, position * size, (position + 1) * size);
}

std::optional<Section> split_by_sizes(std::int64_t dim, const Argument& sizes, std::size_t index) {
  const List* list = sizes.get<List>();
  if (!list || index >= list->size()) return std::nullopt;
  Expr start = 0;
  for (std::size_t i = 0; i < index; ++i) {
    const auto size = known_size((*list)[i]);
    if (!size) return std::nullopt;
    start = start + *size;
  }
  const auto size = known_size((*list)[index]);
  if (!size) return std::nullopt;
  return range(dim, start, start + *size);
}

// The first (size mod sections) of them are one longer.
std::optional<Section> split_in_sections(std::int64_t dim, Expr size, const Argument& sections,
                                         std::size_t index) {
  const auto count = known_size(sections);
  if (!count || !size.known()) return std::nullopt;
  const Expr shorter = symbolic::floor_div(size, *count);
  const Expr longer = symbolic::mod(size, *count);
  const auto start_of = [&](std::int64_t i) {
    return Expr(i) * shorter + symbolic::min(Expr(i), longer);
  };
  const auto position = static_cast<std::int64_t>(index);
  return range(dim, start_of(position), start_of(position + 1));
}

Section split_at(std::int64_t dim, const List& indices, std::size_t index) {
  const Argument start = index == 0 ? Argument(Expr(0)) : indices[index - 1];
  const Argument end = index < indices.size() ? indices[index] : Argument(None());
  return range(dim, start, end);
}

std::optional<Section> tensor_split(std::int64_t dim, const Value& self, const Argument& how,
                                    std::size_t index) {
  if (const List* indices = how.get<List>()) return split_at(dim, *indices, index);
  return split_in_sections(dim, self.shape[static_cast<std::size_t>(dim)], how, index);
}

std::optional<Section> split(const Call& call, const Value& self, std::size_t index) {
  const std::int64_t dim = dimension(call.argument("dim"), self.rank());
  const std::string_view name = call.schema->base_name();
  const Argument& how = call.arguments[1];
  if (how.get<List>()) return split_by_sizes(dim, how, index);
  const auto number = known_size(how);
  if (!number) return std::nullopt;
  if (!name.ends_with("chunk")) return even_chunk(dim, *number, index);
  const Expr size = self.shape[static_cast<std::size_t>(dim)];
  return even_chunk(dim, symbolic::ceil_div(size, *number), index);
}

std::vector<std::int64_t> identity_order(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<std::int64_t> dimensions(const Argument& argument, std::size_t rank) {
  std::vector<std::int64_t> result;
  if (const List* list = argument.get<List>()) {
    for (const Argument& item : *list) result.push_back(dimension(item, rank));
  } else {
    result.push_back(dimension(argument, rank));
  }
  return result;
}

std::vector<std::int64_t> moved(const Call& call, std::size_t rank) {
  if (rank == 0) return {};
  const auto sources = dimensions(call.arguments[1], rank);
  const auto targets = dimensions(call.arguments[2], rank);
  std::vector<std::int64_t> order(rank, -1);
  std::vector<bool> used(rank, false);
  for (std::size_t i = 0; i < std::min(sources.size(), targets.size()); ++i) {
    order[static_cast<std::size_t>(targets[i])] = sources[i];
    used[static_cast<std::size_t>(sources[i])] = true;
  }
  std::size_t next = 0;
  for (std::int64_t& dim : order) {
    if (dim >= 0) continue;
    while (next < rank && used[next]) ++next;
    if (next == rank) base::fail("SX1302", "the dimensions to move are not different ones");
    dim = static_cast<std::int64_t>(next++);
  }
  return order;
}

}  // namespace

std::optional<Section> section_of(const Call& call, std::size_t index) {
  const ViewFamily family = ViewFamily::kSection;
  const Value* self = viewed(call, family, 0);
  if (!self || self->rank() == 0) return std::nullopt;
  const std::string_view name = call.schema->base_name();
  if (name == "slice") {
    const std::int64_t dim = dimension(call.argument("dim"), self->rank());
    return Section{dim, call.argument("start"), call.argument("end"), call.argument("step")};
  }
  if (name == "narrow") return narrowed(call, *self);
  if (name == "hsplit")
    return tensor_split(self->rank() == 1 ? 0 : 1, *self, call.arguments[1], index);
  if (name == "vsplit") return tensor_split(0, *self, call.arguments[1], index);
  if (name == "dsplit") return tensor_split(2, *self, call.arguments[1], index);
  if (name == "tensor_split") {
    const std::int64_t dim = dimension(call.argument("dim"), self->rank());
    return tensor_split(dim, *self, call.arguments[1], index);
  }
  return split(call, *self, index);
}

std::vector<std::int64_t> permutation_of(const Call& call, std::size_t rank) {
  const std::string_view name = call.schema->base_name();
  std::vector<std::int64_t> order = identity_order(rank);
  if (name == "permute" || (name == "transpose" && call.schema->space() == "prims")) {
    order = dimensions(call.arguments[1], rank);
    if (!std::ranges::is_permutation(order, identity_order(rank)))
      base::fail("SX1302", "the dimensions to permute are not each of the tensor's once");
    return order;
  }
  if (name.starts_with("move")) return moved(call, rank);
  if (name == "numpy_T") {
    std::reverse(order.begin(), order.end());
    return order;
  }
  if (rank < 2) return order;
  std::size_t first = rank - 2;
  std::size_t second = rank - 1;
  if (name == "transpose" || name.starts_with("swap")) {
    first = static_cast<std::size_t>(dimension(call.arguments[1], rank));
    second = static_cast<std::size_t>(dimension(call.arguments[2], rank));
  }
  std::swap(order[first], order[second]);
  return order;
}

}  // namespace sardonyx::functionalize
