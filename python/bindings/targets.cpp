// The tables of the targets, for documentation and tests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "base/dtype.h"
#include "bindings.h"
#include "onnx/operators/operator.h"
#include "targets/target.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

const char* reason_of(targets::Reason reason) {
  switch (reason) {
    case targets::Reason::kLacks:
      return "lacks";
    case targets::Reason::kWrong:
      return "wrong";
    case targets::Reason::kFails:
      return "fails";
    case targets::Reason::kRewrites:
      return "rewrites";
    case targets::Reason::kSlow:
      return "slow";
  }
  return "";
}

nb::list types_of(onnx::DTypeSet types) {
  nb::list names;
  for (int number = 1; number <= static_cast<int>(base::kLastDType); ++number) {
    const auto dtype = static_cast<base::DType>(number);
    if ((types & onnx::dtype_bit(dtype)) != 0) names.append(text(base::dtype_name(dtype)));
  }
  return names;
}

nb::dict row_of(const targets::Rule& rule) {
  nb::dict row;
  row["name"] = text(rule.name);
  row["operator"] = text(onnx::operator_of(rule.op).name);
  row["reason"] = reason_of(rule.reason);
  row["types"] = types_of(rule.types);
  row["first_opset"] = rule.first;
  row["last_opset"] = rule.last == targets::Rule::kAnyOpset ? nb::none() : nb::cast(rule.last);
  row["why"] = text(rule.why);
  row["since"] = text(rule.since);
  row["until"] = rule.until.empty() ? nb::object(nb::none()) : nb::object(text(rule.until));
  return row;
}

nb::dict row_of(const targets::Fusion& fusion) {
  nb::dict row;
  row["name"] = text(fusion.rule->name);
  row["before"] = text(fusion.before);
  row["after"] = text(fusion.after);
  row["measured"] = text(fusion.measured);
  row["since"] = text(fusion.since);
  return row;
}

nb::list tables() {
  nb::list all;
  for (const targets::Target& target : targets::targets()) {
    nb::dict entry;
    entry["name"] = text(target.name);
    entry["title"] = text(target.title);
    entry["about"] = text(target.about);
    entry["opset"] = target.opset;
    nb::list releases;
    for (const targets::Release& release : target.releases) {
      nb::dict row;
      row["name"] = text(release.name);
      row["opset"] = release.opset;
      releases.append(row);
    }
    entry["releases"] = releases;
    entry["source"] = text(target.source);
    nb::list rows;
    for (const targets::Rules& table : target.rules)
      for (const targets::Rule& rule : table) rows.append(row_of(rule));
    entry["rules"] = rows;
    nb::list fusions;
    for (const targets::Fusion& fusion : target.fusions) fusions.append(row_of(fusion));
    entry["fusions"] = fusions;
    all.append(entry);
  }
  return all;
}

}  // namespace

void bind_targets(nb::module_& module) {
  module.def("target_tables", &tables, "Every target with the rows of its tables, as plain data.");
  module.def(
      "target_is_accelerated",
      [](const std::string& name) {
        const targets::Target* target = targets::find_target(name);
        return target != nullptr && target->is_accelerated();
      },
      "name"_a, "Whether the target is a GPU's, beside which the CPU runs what is left.");
}

}  // namespace sardonyx::bindings
