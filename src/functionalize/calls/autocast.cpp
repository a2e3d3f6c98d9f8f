#include "functionalize/calls/autocast.h"

#include <optional>

#include "program/facts/facts.h"
#include "program/ir/regions.h"

namespace sardonyx::functionalize {
namespace {

using base::DType;
using program::Argument;
using program::Call;
using program::Cast;
using program::Program;
using program::Value;

bool eligible(const Value* value) {
  return value && value->kind == program::ValueKind::kTensor && base::is_floating(value->dtype) &&
         value->dtype != DType::kFloat64;
}

Cast cast_of(const Call& call, const Autocast& autocast) {
  const program::Facts& facts = program::facts_of(*call.schema);
  return autocast.cuda ? facts.autocast_cuda : facts.autocast_cpu;
}

// The call says itself what type it makes.
bool names_dtype(const Call& call) {
  if (program::facts_of(*call.schema).autocast_cpu == Cast::kOwn) return true;
  return call.schema->find("dtype") && !call.argument("dtype").is_none();
}

DType widest_argument(const Call& call) {
  DType result = DType::kUndefined;
  for (const Argument& argument : call.arguments) {
    argument.each_value([&](const Value* value) {
      if (!eligible(value)) return;
      result = result == DType::kUndefined ? value->dtype : base::promote(result, value->dtype);
    });
  }
  return result;
}

// What the captured result's type tells of an operator that no list names, such as a composite that
// multiplies matrices inside.
std::optional<DType> dtype_of_result(const Call& call, const Autocast& autocast) {
  if (names_dtype(call) || call.outputs.empty() || !eligible(call.outputs[0])) return std::nullopt;
  const DType result = call.outputs[0]->dtype;
  const DType given = widest_argument(call);
  if (given == DType::kUndefined || given == result) return std::nullopt;
  if (result == autocast.dtype || result == DType::kFloat32) return result;
  return std::nullopt;
}

std::optional<DType> listed_dtype(const Call& call, const Autocast& autocast) {
  switch (cast_of(call, autocast)) {
    case Cast::kLowered:
      return autocast.dtype;
    case Cast::kFull:
      return DType::kFloat32;
    case Cast::kWidest:
      return widest_argument(call);
    case Cast::kNone:
    case Cast::kOwn:
      break;
  }
  return std::nullopt;
}

void cast(Program& program, Value*& value, DType dtype, const Call& around,
          std::vector<Call*>& calls) {
  static const program::Schema* const kTo = program::find_schema("aten::to.dtype");
  Call* call = program.add_call();
  call->schema = kTo;
  call->arguments = program::bind(*kTo, {}, {{"self", value}, {"dtype", dtype}});
  call->source = around.source;
  Value* result = program.add_value();
  result->name = value->name + "_" + std::string(base::dtype_name(dtype));
  result->dtype = dtype;
  result->shape = value->shape;
  result->strides = value->strides;
  result->producer = call;
  call->name = result->name;
  call->outputs.push_back(result);
  calls.push_back(call);
  value = result;
}

}  // namespace

namespace {

Autocast autocast_from(const Argument& device_type, const Argument& dtype,
                       const Argument& enabled) {
  Autocast autocast;
  const bool* is_enabled = enabled.get<bool>();
  autocast.enabled = is_enabled && *is_enabled;
  const std::string* device = device_type.get<std::string>();
  autocast.cuda = device && *device == "cuda";
  const DType* given = dtype.get<DType>();
  autocast.dtype = given ? *given : autocast.cuda ? DType::kFloat16 : DType::kBFloat16;
  return autocast;
}

}  // namespace

Autocast autocast_of(const Call& call, const Autocast& around) {
  if (call.schema->base_name() != "wrap_with_autocast") return around;
  return autocast_from(call.argument("device_type"), call.argument("dtype"),
                       call.argument("enabled"));
}

Autocast autocast_entered(const Call& call) {
  const auto at = [&](std::size_t i) {
    return i < call.arguments.size() ? call.arguments[i] : Argument();
  };
  return autocast_from(at(0), at(1), at(2));
}

namespace {

bool any_of_them(const Call& call, const Retyped& retyped) {
  bool found = false;
  for (const Argument& argument : call.arguments) {
    argument.each_value([&](const Value* value) { found |= retyped.contains(value); });
  }
  return found;
}

// What an operator outside the lists returns for arguments of the types at hand.
DType followed(const Call& call) {
  const bool normalizes = call.schema->base_name().ends_with("_norm");
  Value* const* input = call.arguments.empty() ? nullptr : call.arguments[0].get<Value*>();
  if (normalizes && input && eligible(*input)) return (*input)->dtype;
  return widest_argument(call);
}

void retype(const Call& call, DType dtype, Retyped& retyped) {
  if (dtype == DType::kUndefined || names_dtype(call)) return;
  for (Value* output : call.outputs) {
    if (!output || !eligible(output) || output->dtype == dtype) continue;
    output->dtype = dtype;
    retyped.insert(output);
  }
}

}  // namespace

void insert_casts(Program& program, Call& call, const Autocast& autocast, Retyped& retyped,
                  std::vector<Call*>& calls) {
  // Control flow hands on what it is given; the casts are made in its bodies.
  if (program::holds_bodies(call)) return;
  const bool follows = !retyped.empty() && any_of_them(call, retyped);
  if (!autocast.enabled || call.schema->mutates()) {
    if (follows) retype(call, followed(call), retyped);
    return;
  }
  const auto listed = listed_dtype(call, autocast);
  const auto dtype = listed || follows ? listed : dtype_of_result(call, autocast);
  if (!dtype || *dtype == DType::kUndefined) {
    if (follows) retype(call, followed(call), retyped);
    return;
  }
  for (Argument& argument : call.arguments) {
    argument.each_value([&](Value*& value) {
      if (eligible(value) && value->dtype != *dtype) cast(program, value, *dtype, call, calls);
    });
  }
  retype(call, *dtype, retyped);
}

}  // namespace sardonyx::functionalize
