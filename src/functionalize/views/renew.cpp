// Cutting a view out of what it shows, again.
#include "functionalize/views/rebuild.h"

namespace sardonyx::functionalize {
namespace {

program::List shape_argument(const std::vector<Expr>& shape) {
  return program::List(shape.begin(), shape.end());
}

Type type_in(const Alias& view, const Value& parent) {
  Type type = type_of(*view.like);
  // Some views change the dtype; others have that of what they show.
  if (view.like->dtype == view.parent->like->dtype) type.dtype = parent.dtype;
  return type;
}

// One output of split, chunk, tensor_split as a slice.
Value* renewed_section(Builder& builder, const Alias& view, Value* parent, const Cause& cause) {
  const auto section = section_of(*view.view, view.output);
  return builder.add("aten::slice.Tensor",
                     {{"self", parent},
                      {"dim", Expr(section->dim)},
                      {"start", section->start},
                      {"end", section->end},
                      {"step", section->step}},
                     type_in(view, *parent), cause, view.like->name);
}

Value* renewed_element(Builder& builder, const Alias& view, Value* parent, const Cause& cause) {
  const Argument& dim = view.view->argument("dim");
  return builder.add(
      "aten::select.int",
      {{"self", parent}, {"dim", dim}, {"index", Expr(static_cast<std::int64_t>(view.output))}},
      type_in(view, *parent), cause, view.like->name);
}

}  // namespace

Value* renewed_view(Builder& builder, const Alias& view, Value* parent) {
  const Call& call = *view.view;
  const Cause cause{call.source, call.name};
  if (call.outputs.size() > 1) {
    if (view.kind == ViewKind::kSection) return renewed_section(builder, view, parent, cause);
    if (view.kind == ViewKind::kSelect) return renewed_element(builder, view, parent, cause);
  }
  if (call.arguments.front().get<program::List>()) {
    // One output of broadcast_tensors, meshgrid or atleast_2d on a list.
    if (view.kind == ViewKind::kExpand) {
      return builder.add("aten::expand",
                         {{"self", parent}, {"size", shape_argument(view.like->shape)}},
                         type_in(view, *parent), cause, view.like->name);
    }
    if (view.kind == ViewKind::kReshape) {
      return builder.add("aten::view",
                         {{"self", parent}, {"size", shape_argument(view.like->shape)}},
                         type_in(view, *parent), cause, view.like->name);
    }
  }
  std::vector<Argument> arguments = call.arguments;
  Argument& viewed = arguments.front();
  if (program::List* list = viewed.get<program::List>()) {
    (*list)[view.output] = parent;
  } else {
    viewed = parent;
  }
  Call* renewed = builder.append(*call.schema, std::move(arguments), cause);
  Value* value = nullptr;
  for (std::uint32_t i = 0; i < call.outputs.size(); ++i) {
    if (i == view.output) {
      value = builder.output(*renewed, type_in(view, *parent), view.like->name);
    } else {
      renewed->outputs.push_back(nullptr);
    }
  }
  renewed->name = value->name;
  return value;
}

}  // namespace sardonyx::functionalize
