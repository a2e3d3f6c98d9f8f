// Translators that are Python functions.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>

#include "aten/translation/translate.h"
#include "graph_building.h"

namespace sardonyx::bindings {

// Python functions by operator, as translators. Made and destroyed with the GIL; asked without it.
class PythonTranslators {
 public:
  // `plain` and `complex`: dicts from "mylib::foo" (every overload) or "mylib::foo.bar" to
  // functions (emitter, call) -> list of values, numbers or None. The dicts must outlive this.
  PythonTranslators(const nanobind::dict& plain, const nanobind::dict& complex);
  ~PythonTranslators();
  PythonTranslators(const PythonTranslators&) = delete;
  PythonTranslators& operator=(const PythonTranslators&) = delete;

  // Null where there is none.
  const aten::CustomTranslator* find(const program::Call& call) const;

 private:
  using Table = std::map<std::string, aten::CustomTranslator, std::less<>>;
  void fill(Table& table, const nanobind::dict& functions);

  std::shared_ptr<Building> building_;
  Table plain_;
  Table complex_;
};

}  // namespace sardonyx::bindings
