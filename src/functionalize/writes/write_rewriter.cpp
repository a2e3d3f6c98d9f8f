#include "functionalize/writes/write_rewriter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "functionalize/views/refusal.h"
#include "functionalize/writes/statistics.h"

namespace sardonyx::functionalize {
namespace {

using program::List;
using program::Schema;

Value* output_of(const Call& call, std::size_t index = 0) {
  return index < call.outputs.size() ? call.outputs[index] : nullptr;
}

bool same_shape(const Value& a, const Value& b) {
  if (a.rank() != b.rank()) return false;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (!(a.shape[i] == b.shape[i])) return false;
  }
  return true;
}

bool all_known(const std::vector<Expr>& shape) {
  for (const Expr size : shape) {
    if (!size.known()) return false;
  }
  return true;
}

Cause cause_of(const Call& call) { return {call.source, call.name}; }

// The number as the tensor's dtype holds it: fill_(1.5) of an integer tensor writes 1.
Argument number_as(base::DType dtype, const Argument& number) {
  const double* real = number.get<double>();
  const Expr* integer = number.get<Expr>();
  if (dtype == base::DType::kBool) {
    if (real) return *real != 0.0;
    if (integer && integer->is_constant()) return !integer->is(0);
  }
  if (base::is_integer(dtype) && real && std::isfinite(*real) && std::abs(*real) < 9e18)
    return Expr(static_cast<std::int64_t>(*real));
  return number;
}

}  // namespace

void WriteRewriter::rewrite(Call& call, const WriteRule& rule) {
  switch (rule.kind) {
    case WriteKind::kInPlace:
      return in_place(call, rule);
    case WriteKind::kFill:
      return fill(call);
    case WriteKind::kFillDiagonal:
      return fill_diagonal(call);
    case WriteKind::kCopy:
      return copy(call);
    case WriteKind::kNothing:
      return nothing(call);
    case WriteKind::kResize:
      return resize(call);
    case WriteKind::kReplace:
      return replace(call);
    case WriteKind::kMetadata:
      return metadata(call, rule);
    case WriteKind::kOut:
      return out(call, rule);
    case WriteKind::kForeach:
      return foreach (call, rule);
    case WriteKind::kFunctional:
      return functional(call, rule);
    case WriteKind::kBatchNorm:
      return rewrite_batch_norm(graph_, call);
    case WriteKind::kNone:
    case WriteKind::kNoForm:
      break;
  }
  refuse_call(call, "SX1701",
              call.schema->qualified() +
                  " writes to its arguments, and no form of it is known that "
                  "returns the new values instead",
              "register a functional form of the operator and call that");
}

// Made values take the place of the captured result where there is one, and its name.
Value* WriteRewriter::made(Call& made_call, Value* result, const Type& type, const Call& call) {
  return result ? builder_.adopt(made_call, result) : builder_.output(made_call, type, call.name);
}

Value* WriteRewriter::add(std::string_view op, std::vector<NamedArgument> arguments,
                          const Type& type, const Call& call, Value* result) {
  const Schema* schema = program::find_schema(op);
  Call* added =
      builder_.append(*schema, program::bind(*schema, {}, std::move(arguments)), cause_of(call));
  Value* value = made(*added, result, type, call);
  added->name = value->name;
  return value;
}

std::vector<Argument> WriteRewriter::arguments_for(const Schema& form, const Call& call) {
  std::vector<Argument> arguments;
  for (const program::Parameter& parameter : form.parameters) {
    auto position = call.schema->find(parameter.name);
    if (!position && arguments.empty()) position = 0;
    if (position) {
      arguments.push_back(graph_.current(call.arguments[*position]));
    } else {
      arguments.push_back(parameter.default_value.value_or(Argument()));
    }
  }
  // cumsum of integers returns int64 unless told otherwise; in place they stay what they are.
  const std::string_view name = form.base_name();
  if (name == "cumsum" || name == "cumprod") {
    Argument& dtype = arguments[*form.find("dtype")];
    if (dtype.is_none()) dtype = tensor_of(call.arguments.front())->dtype;
  }
  return arguments;
}

void WriteRewriter::in_place(Call& call, const WriteRule& rule) {
  Value* self = tensor_of(call.arguments[rule.written.front()]);
  Value* result = output_of(call);
  const Type type = type_of(*self);
  const base::DType computed = result_dtype(*rule.form, call, *self);
  Call* pure = builder_.append(*rule.form, arguments_for(*rule.form, call), cause_of(call));
  if (computed == self->dtype) {
    return graph_.store(self, made(*pure, result, type, call), result, call);
  }
  Value* wide = builder_.output(*pure, contiguous(computed, type.shape), call.name + "_promoted");
  graph_.store(self, cast(wide, type, call, result), result, call);
}

Value* WriteRewriter::cast(Value* value, const Type& type, const Call& call, Value* result) {
  return add("aten::to.dtype", {{"self", value}, {"dtype", type.dtype}}, type, call, result);
}

// `source` with the dtype and the shape of `target`.
Value* WriteRewriter::converted(const Argument& source, Value& target, const Call& call,
                                Value* result) {
  Value* value = tensor_of(graph_.current(source));
  const Value* before = tensor_of(source);
  const bool expands = !same_shape(*before, target);
  if (before->dtype != target.dtype) {
    const Type type = contiguous(target.dtype, before->shape);
    value = cast(value, expands ? type : type_of(target), call, expands ? nullptr : result);
  }
  if (!expands) return value;
  const Type type = contiguous(target.dtype, target.shape);
  if (!all_known(target.shape)) {
    return add("aten::expand_as", {{"self", value}, {"other", aliases_.read(&target)}}, type, call,
               result);
  }
  const List sizes(target.shape.begin(), target.shape.end());
  return add("aten::expand", {{"self", value}, {"size", sizes}}, type, call, result);
}

void WriteRewriter::copy(Call& call) {
  Value* self = tensor_of(call.arguments[0]);
  Value* result = output_of(call);
  graph_.store(self, converted(call.arguments[1], *self, call, result), result, call);
}

Value* WriteRewriter::full(Value& like, const Argument& number, const Call& call, Value* result) {
  const Argument value = number_as(like.dtype, number);
  const Type type = contiguous(like.dtype, like.shape);
  if (all_known(like.shape)) {
    const List sizes(like.shape.begin(), like.shape.end());
    return add("aten::full", {{"size", sizes}, {"fill_value", value}, {"dtype", like.dtype}}, type,
               call, result);
  }
  return add("aten::full_like",
             {{"self", aliases_.read(&like)}, {"fill_value", value}, {"dtype", like.dtype}}, type,
             call, result);
}

void WriteRewriter::fill(Call& call) {
  Value* self = tensor_of(call.arguments[0]);
  Value* result = output_of(call);
  const Argument number = call.arguments.size() > 1 ? call.arguments[1] : Argument(Expr(0));
  Value* content = tensor_of(number) ? converted(number, *self, call, result)
                                     : full(*self, graph_.current(number), call, result);
  graph_.store(self, content, result, call, true);
}

// The elements (i, i, ..., i) lie at a fixed distance from each other; with `wrap`, a tall matrix
// goes on below its square part.
void WriteRewriter::fill_diagonal(Call& call) {
  Value* self = tensor_of(call.arguments[0]);
  Value* result = output_of(call);
  const std::size_t rank = self->rank();
  if (rank < 2 || !all_known(self->shape)) {
    refuse_call(call, "SX1701", "fill_diagonal_ of a tensor whose sizes are not known",
                "write through diagonal() instead");
  }
  const bool* wrap = call.argument("wrap").get<bool>();
  Expr distance = 0;
  Expr row = 1;
  for (std::size_t i = rank; i-- > 0;) {
    distance = distance + row;
    row = row * self->shape[i];
  }
  const Expr height = self->shape[0];
  const Expr count = wrap && *wrap && rank == 2 ? symbolic::ceil_div(row, distance)
                                                : symbolic::min(height, self->shape[1]);
  const Argument number = number_as(self->dtype, graph_.current(call.argument("fill_value")));
  const auto made_here = [&](std::string_view op, std::vector<NamedArgument> arguments, Expr size) {
    return builder_.add(op, std::move(arguments), contiguous(self->dtype, {size}), cause_of(call),
                        call.name);
  };
  Value* numbers = made_here(
      "aten::full", {{"size", List{count}}, {"fill_value", number}, {"dtype", self->dtype}}, count);
  Value* flat =
      made_here("aten::view", {{"self", aliases_.read(self)}, {"size", List{Expr(-1)}}}, row);
  Value* filled = made_here("aten::slice_scatter",
                            {{"self", flat},
                             {"src", numbers},
                             {"start", Expr(0)},
                             {"end", (count - 1) * distance + 1},
                             {"step", distance}},
                            row);
  const List sizes(self->shape.begin(), self->shape.end());
  Value* content = add("aten::view", {{"self", filled}, {"size", sizes}},
                       contiguous(self->dtype, self->shape), call, result);
  graph_.store(self, content, result, call);
}

void WriteRewriter::nothing(Call& call) {
  Value* self = tensor_of(call.arguments[0]);
  Alias* alias = aliases_.of(self);
  if (Value* result = output_of(call)) {
    aliases_.bind(result, alias);
    aliases_.set_changed(*alias->memory);
  }
}

void WriteRewriter::resize(Call& call) {
  const Value* self = tensor_of(call.arguments[0]);
  const Value* result = output_of(call);
  if (!result || same_shape(*self, *result)) return nothing(call);
  refuse_call(call, "SX1705",
              call.schema->qualified() + " gives '" + self->name + "' another number of elements",
              "make a tensor of the wanted size");
}

bool WriteRewriter::is_user_input(const Value* value) const {
  return std::ranges::any_of(graph_.session().program.inputs, [value](const auto& input) {
    return input.value == value && input.kind == program::InputKind::kUser;
  });
}

void WriteRewriter::warn_of_input(const Call& call, const std::string& message,
                                  const std::string& help) {
  base::Diagnostic warning = diagnostic_at(
      call, "SX1705", message + "; the model leaves the caller's tensor as it is", help);
  warning.severity = base::Severity::kWarning;
  graph_.session().program.notes.push_back(std::move(warning));
}

void WriteRewriter::replace(Call& call) {
  Value* self = tensor_of(call.arguments[0]);
  Value* source = tensor_of(call.arguments[1]);
  const bool is_input = !self->producer;
  const std::string message =
      "the memory of the input '" + self->name + "' is replaced by another tensor's";
  const std::string help = "copy_() the new elements into it";
  // Of a part of other memory nobody could tell what the caller's tensor holds in the end.
  if (!source || (is_input && (!is_user_input(self) || aliases_.of(source)->parent)))
    refuse_call(call, "SX1705", message, help);
  if (is_input) warn_of_input(call, message, help);
  Alias* alias = aliases_.of(source);
  aliases_.set_changed(*alias->memory);
  aliases_.bind(self, alias);
  if (Value* result = output_of(call)) aliases_.bind(result, alias);
}

// The tensor itself is seen another way from now on: every later use of its name means the view.
void WriteRewriter::metadata(Call& call, const WriteRule& rule) {
  Value* self = tensor_of(call.arguments[0]);
  Alias* parent = aliases_.of(self);
  Value* result = output_of(call);
  if (!result) return nothing(call);
  if (is_user_input(self))
    warn_of_input(call, "the input '" + self->name + "' gets other sizes in place",
                  "make a view of them, as unsqueeze() without the underscore does");
  Call* view = builder_.append(*rule.form, arguments_for(*rule.form, call), cause_of(call));
  view->name = call.name;
  builder_.adopt(*view, result);
  const ViewFamily family = graph_.session().rules_of(*rule.form).view;
  ViewKind kind = view_kind(*view, family, 0);
  if (kind == ViewKind::kStrided) kind = graph_.place_strided(*view, parent);
  aliases_.set_changed(*parent->memory);
  if (kind == ViewKind::kSame) {
    aliases_.bind(result, parent);
    return;
  }
  aliases_.bind(self, aliases_.add_view(result, parent, *view, 0, kind));
}

// add.out(a, b, out=c)
void WriteRewriter::out(Call& call, const WriteRule& rule) {
  std::vector<Argument> arguments = arguments_for(*rule.form, call);
  if (const auto dtype = rule.form->find("dtype"); dtype && !call.schema->find("dtype")) {
    arguments[*dtype] = tensor_of(call.arguments[rule.written.front()])->dtype;
  }
  Call* pure = builder_.append(*rule.form, std::move(arguments), cause_of(call));
  for (std::size_t i = 0; i < rule.written.size(); ++i) {
    Value* target = tensor_of(call.arguments[rule.written[i]]);
    Value* result = output_of(call, i);
    if (!target) {
      pure->outputs.push_back(nullptr);
      continue;
    }
    const Value& like = result ? *result : *target;
    const base::DType computed = out_dtype(*rule.form, call, rule, like);
    contents_of_out(call, *pure, target, result, type_of(like), computed);
  }
}

void WriteRewriter::contents_of_out(Call& call, Call& pure, Value* target, Value* result,
                                    const Type& type, base::DType computed) {
  // PyTorch keeps the shape of an `out` of as many elements; what it captures says a row.
  if (program::facts_of(*pure.schema).counts && target->rank() != 1) {
    refuse_call(call, "SX1705", "'" + target->name + "', passed as out=, is not a row of numbers",
                "pass a tensor of one dimension");
  }
  const bool casts = computed != type.dtype;
  // What the call returns comes first among its outputs, the cast after them.
  Value* content =
      casts ? builder_.output(pure, contiguous(computed, type.shape), call.name + "_promoted")
            : made(pure, result, type, call);
  if (casts) content = cast(content, type, call, result);
  if (!result || same_shape(*result, *target)) return graph_.store(target, content, result, call);
  // PyTorch gives an `out` of another size the right one; its old elements are gone.
  Alias* alias = aliases_.of(target);
  if (alias->parent || !target->producer) {
    refuse_call(call, "SX1705",
                "'" + target->name + "', passed as out=, has another size than the result",
                "pass a tensor of the result's size");
  }
  Alias* fresh = aliases_.of(content);
  aliases_.set_changed(*fresh->memory);
  aliases_.bind(target, fresh);
  if (result != content) aliases_.bind(result, fresh);
}

// _foreach_add_(tensors, ...): one list in, one list written.
void WriteRewriter::foreach(Call& call, const WriteRule& rule) {
  const List* targets = call.arguments[rule.written.front()].get<List>();
  Call* pure = builder_.append(*rule.form, arguments_for(*rule.form, call), cause_of(call));
  for (std::size_t i = 0; targets && i < targets->size(); ++i) {
    Value* target = tensor_of((*targets)[i]);
    Value* content = builder_.output(*pure, type_of(*target), call.name);
    graph_.store(target, content, output_of(call, i), call);
  }
}

// The form returns what the call returns, and then what it writes.
void WriteRewriter::functional(Call& call, const WriteRule& rule) {
  Call* pure = builder_.append(*rule.form, arguments_for(*rule.form, call), cause_of(call));
  pure->name = call.name;
  const std::size_t returned = rule.form->returns.size() - rule.written.size();
  for (std::size_t i = 0; i < returned; ++i) {
    if (Value* result = output_of(call, i)) {
      builder_.adopt(*pure, result);
    } else {
      pure->outputs.push_back(nullptr);
    }
  }
  for (const std::size_t position : rule.written) {
    Value* target = tensor_of(call.arguments[position]);
    graph_.store(target, builder_.output(*pure, type_of(*target), target->name), nullptr, call);
  }
}

}  // namespace sardonyx::functionalize
