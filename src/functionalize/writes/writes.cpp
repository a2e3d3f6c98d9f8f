#include "functionalize/writes/writes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx::functionalize {
namespace {

using program::Call;
using program::Parameter;
using program::Schema;
using program::Value;

std::vector<std::size_t> written_parameters(const Schema& schema) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
    if (schema.parameters[i].alias.is_write) positions.push_back(i);
  }
  return positions;
}

bool same_parameter(const Parameter& a, const Parameter& b) {
  return a.name == b.name && a.type.kind == b.type.kind && a.type.list_depth == b.type.list_depth;
}

// "add_" -> "add", "__iand__" -> "__and__"; empty for a name that says of no write.
std::string name_of_form(std::string_view name) {
  if (name.starts_with("aten::__i") && name.ends_with("__"))
    return "aten::__" + std::string(name.substr(9));
  return name.ends_with('_') ? std::string(name.substr(0, name.size() - 1)) : std::string();
}

// The form that returns takes the same parameters; the first may have another name.
bool takes_no_other(const Schema& form, const Schema& schema) {
  for (const Parameter& parameter : form.parameters) {
    auto position = schema.find(parameter.name);
    if (!position && &parameter == &form.parameters.front()) position = 0;
    if (!position || schema.parameters[*position].type.kind != parameter.type.kind) return false;
  }
  return true;
}

// What the tensors that operators create are like; with out= that says it.
bool is_creation_option(const Parameter& parameter) {
  const std::string_view name = parameter.name;
  return name == "dtype" || name == "layout" || name == "device" || name == "pin_memory";
}

// Whether the form takes the parameters that are written to as well.
enum class Written : std::uint8_t { kTaken, kLeftOut };

// Whether the form takes the same parameters; with `more`, creation options besides.
bool takes_the_same(const Schema& form, const Schema& schema, Written written, bool more) {
  std::size_t next = 0;
  for (const Parameter& parameter : schema.parameters) {
    if (parameter.alias.is_write && written == Written::kLeftOut) continue;
    if (next >= form.parameters.size() || !same_parameter(parameter, form.parameters[next]))
      return false;
    ++next;
  }
  while (more && next < form.parameters.size() && is_creation_option(form.parameters[next])) ++next;
  return next == form.parameters.size();
}

// The first overload of that name that writes nothing and takes the same.
const Schema* form_like(const Schema& schema, const std::string& prefix, Written written,
                        bool more) {
  for (const std::string_view text : program::known_schemas()) {
    if (!text.starts_with(prefix)) continue;
    const std::size_t end = text.find('(');
    const std::string_view name = text.substr(0, end);
    if (name.size() != prefix.size() && name[prefix.size()] != '.') continue;
    const Schema* form = program::find_schema(name);
    if (form && !form->mutates() && takes_the_same(*form, schema, written, more)) return form;
  }
  return nullptr;
}

// "aten::add.out": the overload that takes the same parameters but for those written to.
const Schema* out_form(const Schema& schema) {
  const Schema* form = form_like(schema, schema.name, Written::kLeftOut, false);
  return form ? form : form_like(schema, schema.name, Written::kLeftOut, true);
}

// "aten::normal" -> "aten::normal_functional", "aten::_batch_norm_with_update" -> ..._functional
const Schema* functional_form(const Schema& schema, std::string name) {
  name += "_functional";
  if (!schema.overload.empty()) name += "." + schema.overload;
  return program::find_schema(name);
}

// "aten::pow_.Scalar" -> "aten::pow.Tensor_Scalar": the overload of the same name, or else the one
// that takes the same parameters.
const Schema* in_place_form(const Schema& schema) {
  const std::string base = name_of_form(schema.name);
  // TorchScript's lists are written to as well.
  if (base.empty() || schema.parameters.front().type.kind != program::TypeKind::kTensor)
    return nullptr;
  const std::string dot = schema.overload.empty() ? "" : ".";
  const Schema* form = program::find_schema(base + dot + schema.overload);
  if (form && !form->mutates() && takes_no_other(*form, schema)) return form;
  form = form_like(schema, base, Written::kTaken, false);
  if (!form) form = functional_form(schema, base);
  return form && form->returns.size() == 1 ? form : nullptr;
}

}  // namespace

WriteRule write_rule(const Schema& schema) {
  WriteRule rule;
  rule.written = written_parameters(schema);
  const program::Facts& facts = program::facts_of(schema);
  rule.kind = facts.write;
  if (rule.kind == WriteKind::kMetadata) rule.form = in_place_form(schema);
  if (rule.kind != WriteKind::kNone || rule.written.empty()) return rule;
  const bool lists = schema.parameters[rule.written.front()].type.list_depth > 0;
  const Schema* form =
      facts.form.empty() ? in_place_form(schema) : program::find_schema(facts.form);
  if (form) {
    rule.form = form;
    rule.kind = lists ? WriteKind::kForeach : WriteKind::kInPlace;
  } else if (const Schema* functional = functional_form(schema, schema.name)) {
    rule.form = functional;
    rule.kind = WriteKind::kFunctional;
  } else if (const Schema* other = out_form(schema)) {
    rule.form = other;
    rule.kind = WriteKind::kOut;
  } else {
    rule.kind = WriteKind::kNoForm;
  }
  return rule;
}

base::DType result_dtype(const Schema& form, const Call& call, const Value& self) {
  base::DType result = self.dtype;
  switch (program::facts_of(form).result) {
    case program::ResultType::kTruth:
      return base::DType::kBool;
    case program::ResultType::kDouble:
      return base::is_complex(self.dtype) ? base::DType::kComplex128 : base::DType::kFloat64;
    case program::ResultType::kOwn:
      return result;
    case program::ResultType::kPromoted:
      break;
  }
  for (const program::Argument& argument : call.arguments) {
    Value* const* other = argument.get<Value*>();
    if (!other || !*other || *other == &self) continue;
    if ((*other)->kind != program::ValueKind::kTensor) continue;
    // A 0-d operand of the same category gives way; one of a higher category PyTorch refuses.
    if ((*other)->rank() == 0 && self.rank() > 0) continue;
    result = base::promote(result, (*other)->dtype);
  }
  return result;
}

base::DType out_dtype(const Schema& form, const Call& call, const WriteRule& rule,
                      const Value& out) {
  const program::ResultType kind = program::facts_of(form).result;
  if (kind == program::ResultType::kTruth) return base::DType::kBool;
  if (kind != program::ResultType::kPromoted) return out.dtype;
  const Value* first = nullptr;
  for (std::size_t i = 0; i < call.arguments.size() && !first; ++i) {
    if (std::find(rule.written.begin(), rule.written.end(), i) != rule.written.end()) continue;
    if (Value* const* value = call.arguments[i].get<Value*>()) first = *value;
  }
  if (!first) return out.dtype;
  base::DType result = first->dtype;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (std::find(rule.written.begin(), rule.written.end(), i) != rule.written.end()) continue;
    Value* const* other = call.arguments[i].get<Value*>();
    if (!other || !*other || (*other)->kind != program::ValueKind::kTensor) continue;
    const bool weaker = (*other)->rank() == 0 && first->rank() > 0;
    if (!weaker) result = base::promote(result, (*other)->dtype);
  }
  // Quotients and numbers with a point make integers floating.
  const bool exact = base::is_integer(result) || result == base::DType::kBool;
  return exact && base::is_floating(out.dtype) ? out.dtype : result;
}

}  // namespace sardonyx::functionalize
