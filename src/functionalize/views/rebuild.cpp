// Putting a view back into what it shows.
#include "functionalize/views/rebuild.h"

#include <algorithm>
#include <utility>

#include "functionalize/views/refusal.h"

namespace sardonyx::functionalize {
namespace {

using program::List;

List sizes(const std::vector<Expr>& shape) { return List(shape.begin(), shape.end()); }

// One update of a base: the pieces that every inverse needs.
struct Update {
  Builder& builder;
  const Alias& view;
  Value* parent;  // before; null where the view determines everything
  const Value& like = *view.parent->like;
  const Call& call = *view.view;
  Cause cause{view.write->source, view.write->name};

  Value* content() const { return view.value; }
  // Made values of the view's parent are contiguous, whatever the captured one was; the captured
  // strides stay, because they decide what views of it are.
  Type type() const { return type_of(like); }

  Value* base(std::string_view op, std::vector<NamedArgument> arguments) const {
    return builder.add(op, std::move(arguments), type(), cause, like.name);
  }
  Value* piece(std::string_view op, std::vector<NamedArgument> arguments, const Type& type) const {
    return builder.add(op, std::move(arguments), type, cause, view.like->name);
  }
};

// squeeze and unsqueeze undo each other without a word about sizes.
Value* put_back_reshape(const Update& update) {
  const std::string_view name = update.call.schema->base_name();
  Value* content = update.content();
  const std::size_t parent_rank = update.like.rank();
  const std::size_t rank = update.view.like->rank();
  if (name == "unsqueeze" && rank == parent_rank + 1) {
    return update.base("aten::squeeze.dim",
                       {{"self", content}, {"dim", update.call.argument("dim")}});
  }
  if (name == "squeeze" && update.call.schema->overload == "dim" && rank + 1 == parent_rank) {
    return update.base("aten::unsqueeze",
                       {{"self", content}, {"dim", update.call.argument("dim")}});
  }
  for (const Expr size : update.like.shape) {
    if (!size.known()) refuse_view(update.view, "the size of what it shows is not known");
  }
  return update.base("aten::reshape", {{"self", content}, {"shape", sizes(update.like.shape)}});
}

Value* put_back_permute(const Update& update) {
  const std::vector<std::int64_t> order = permutation_of(update.call, update.like.rank());
  std::vector<std::int64_t> inverse(order.size());
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    if (order[i] != static_cast<std::int64_t>(i)) moved.push_back(i);
  }
  if (moved.size() == 2) {
    return update.base("aten::transpose.int",
                       {{"self", update.content()},
                        {"dim0", Expr(static_cast<std::int64_t>(moved[0]))},
                        {"dim1", Expr(static_cast<std::int64_t>(moved[1]))}});
  }
  List dims;
  for (const std::int64_t dim : inverse) dims.emplace_back(Expr(dim));
  return update.base("aten::permute", {{"self", update.content()}, {"dims", dims}});
}

Value* put_back_section(const Update& update) {
  const auto section = section_of(update.call, update.view.output);
  return update.base("aten::slice_scatter", {{"self", update.parent},
                                             {"src", update.content()},
                                             {"dim", Expr(section->dim)},
                                             {"start", section->start},
                                             {"end", section->end},
                                             {"step", section->step}});
}

Value* put_back_element(const Update& update) {
  const bool unbound = update.call.schema->base_name() == "unbind";
  const Argument index = unbound ? Argument(Expr(static_cast<std::int64_t>(update.view.output)))
                                 : update.call.argument("index");
  return update.base("aten::select_scatter", {{"self", update.parent},
                                              {"src", update.content()},
                                              {"dim", update.call.argument("dim")},
                                              {"index", index}});
}

Value* put_back_diagonal(const Update& update) {
  return update.base("aten::diagonal_scatter", {{"self", update.parent},
                                                {"src", update.content()},
                                                {"offset", update.call.argument("offset")},
                                                {"dim1", update.call.argument("dim1")},
                                                {"dim2", update.call.argument("dim2")}});
}

// Dimensions of the view that repeat elements.
std::vector<std::size_t> repeated(const Alias& view) {
  const std::size_t added = view.like->rank() - view.parent->like->rank();
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < view.like->rank(); ++i) {
    const Expr before = i < added ? Expr(1) : view.parent->like->shape[i - added];
    if (!(view.like->shape[i] == before)) result.push_back(i);
  }
  return result;
}

// One of each group of elements that share memory; they are equal, because one number was written
// everywhere or because there is but one of them.
Value* put_back_expand(const Update& update) {
  if (!repeated(update.view).empty() && !update.view.uniform) {
    refuse_overlap(update.view);
  }
  const std::size_t rank = update.view.like->rank();
  const std::size_t added = rank - update.like.rank();
  Value* content = update.content();
  Type type = contiguous(update.like.dtype, update.view.like->shape);
  for (const std::size_t dim : repeated(update.view)) {
    if (dim < added) continue;
    type.shape[dim] = 1;
    content = update.piece("aten::slice.Tensor",
                           {{"self", content},
                            {"dim", Expr(static_cast<std::int64_t>(dim))},
                            {"start", Expr(0)},
                            {"end", Expr(1)}},
                           type);
  }
  for (std::size_t i = 0; i < added; ++i) {
    type.shape.erase(type.shape.begin());
    content = update.piece("aten::select.int",
                           {{"self", content}, {"dim", Expr(0)}, {"index", Expr(0)}}, type);
  }
  return content;
}

// No two elements of the strided view can share memory: with the dimensions sorted by stride, each
// stride steps over all that the smaller ones reach.
bool is_injective(const List& size, const List& stride) {
  std::vector<std::pair<std::int64_t, Expr>> dims;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const Expr* count = size[i].get<Expr>();
    const Expr* step = stride[i].get<Expr>();
    if (!count || !step || !step->is_constant()) return false;
    if (!count->is(1)) dims.emplace_back(step->value(), *count);
  }
  std::sort(dims.begin(), dims.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  Expr reach = 0;
  for (const auto& [step, count] : dims) {
    if (!symbolic::certainly_less(reach, step)) return false;
    reach = reach + Expr(step) * (count - 1);
  }
  return true;
}

Value* put_back_strided(const Update& update) {
  const List* size = update.call.argument("size").get<List>();
  const List* stride = update.call.argument("stride").get<List>();
  if (!is_contiguous(update.like)) {
    refuse_view(update.view, "what it shows does not lie in memory row by row");
  }
  if (!update.view.uniform && (!size || !stride || !is_injective(*size, *stride)))
    refuse_overlap(update.view);
  Argument offset = update.call.argument("storage_offset");
  if (offset.is_none()) offset = Expr(0);
  return update.base("aten::as_strided_scatter", {{"self", update.parent},
                                                  {"src", update.content()},
                                                  {"size", update.call.argument("size")},
                                                  {"stride", update.call.argument("stride")},
                                                  {"storage_offset", offset}});
}

bool overlaps(const Call& unfold) {
  const Expr* size = unfold.argument("size").get<Expr>();
  const Expr* step = unfold.argument("step").get<Expr>();
  return !size || !step || !symbolic::certainly_less_equal(*size, *step);
}

Value* put_back_windows(const Update& update) {
  if (!update.view.uniform && overlaps(update.call)) refuse_overlap(update.view);
  return updated_by_number(update.builder, update.view, *update.view.parent, update.parent);
}

Value* put_back_part_of_complex(const Update& update) {
  const bool real = update.view.kind == ViewKind::kReal;
  const Type type = contiguous(update.view.like->dtype, update.like.shape);
  Value* other = update.piece(real ? "aten::imag" : "aten::real", {{"self", update.parent}}, type);
  return update.base("aten::complex", {{"real", real ? update.content() : other},
                                       {"imag", real ? other : update.content()}});
}

}  // namespace

bool replaces_all(const Alias& view) {
  switch (view.kind) {
    case ViewKind::kReshape:
    case ViewKind::kPermute:
    case ViewKind::kExpand:
    case ViewKind::kPairs:
    case ViewKind::kComplex:
    case ViewKind::kConjugate:
    case ViewKind::kNegative:
    case ViewKind::kBits:
      return true;
    default:
      return false;
  }
}

bool has_overlaps(const Alias& view) {
  if (view.kind == ViewKind::kExpand) return !repeated(view).empty();
  return view.kind == ViewKind::kWindows && overlaps(*view.view);
}

bool is_injective(const Value& view) {
  if (is_contiguous(view)) return true;
  return is_injective(sizes(view.shape), sizes(view.strides));
}

namespace {

// The numbers, seen the way `view` sees `base`.
Value* numbers_in(Builder& builder, const Alias& view, const Alias& base, Value* numbers) {
  if (&view == &base) return numbers;
  return renewed_view(builder, view, numbers_in(builder, *view.parent, base, numbers));
}

}  // namespace

// Numbers every element of the base, views the numbers the same way, and puts each element of the
// view where its number says.
Value* updated_by_number(Builder& builder, const Alias& view, const Alias& base, Value* before) {
  const std::vector<Expr>& shape = base.like->shape;
  const Expr count = symbolic::product(shape);
  if (!count.known()) refuse_view(view, "the size of what it shows is not known");
  const Cause cause{view.write->source, view.write->name};
  const auto made = [&](std::string_view op, std::vector<NamedArgument> arguments,
                        const Type& type) {
    return builder.add(op, std::move(arguments), type, cause, base.like->name);
  };
  const auto int64 = base::DType::kInt64;
  Value* numbers =
      made("aten::arange", {{"end", count}, {"dtype", int64}}, contiguous(int64, {count}));
  numbers =
      made("aten::view", {{"self", numbers}, {"size", sizes(shape)}}, contiguous(int64, shape));
  Value* places = numbers_in(builder, view, base, numbers);
  const Type flat = contiguous(base.like->dtype, {count});
  Value* content = made("aten::reshape", {{"self", before}, {"shape", List{Expr(-1)}}}, flat);
  content = made("aten::index_put",
                 {{"self", content}, {"indices", List{places}}, {"values", view.value}}, flat);
  return made("aten::reshape", {{"self", content}, {"shape", sizes(shape)}}, type_of(*base.like));
}

Value* updated_base(Builder& builder, const Alias& view, Value* parent) {
  const Update update{builder, view, parent};
  Value* content = view.value;
  switch (view.kind) {
    case ViewKind::kReshape:
      return put_back_reshape(update);
    case ViewKind::kPermute:
      return put_back_permute(update);
    case ViewKind::kSection:
      return put_back_section(update);
    case ViewKind::kSelect:
      return put_back_element(update);
    case ViewKind::kDiagonal:
      return put_back_diagonal(update);
    case ViewKind::kExpand:
      return put_back_expand(update);
    case ViewKind::kStrided:
      return put_back_strided(update);
    case ViewKind::kReal:
    case ViewKind::kImaginary:
      return put_back_part_of_complex(update);
    case ViewKind::kPairs:
      return update.base("aten::view_as_complex", {{"self", content}});
    case ViewKind::kComplex:
      return update.base("aten::view_as_real", {{"self", content}});
    case ViewKind::kConjugate:
      return update.base("aten::_conj", {{"self", content}});
    case ViewKind::kNegative:
      return update.base("aten::neg", {{"self", content}});
    case ViewKind::kBits:
      return update.base("aten::view.dtype",
                         {{"self", content}, {"dtype", view.parent->like->dtype}});
    case ViewKind::kWindows:
      return put_back_windows(update);
    case ViewKind::kFresh:
    case ViewKind::kSame:
    case ViewKind::kUnknown:
      break;
  }
  refuse_view(view, "there is no way known to put its elements back");
}

}  // namespace sardonyx::functionalize
