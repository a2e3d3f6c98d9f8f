// C++ errors as the package's own exceptions.
#include <exception>

#include "bindings.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;

namespace {

void raise(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    // sardonyx._base.errors picks the class by the diagnostics' codes.
    const std::string json = to_json(error.diagnostics());
    const nb::object make = nb::module_::import_("sardonyx._base.errors").attr("from_native");
    const nb::object made = make(nb::bytes(error.what()), nb::bytes(json.data(), json.size()));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(raise); }

}  // namespace sardonyx::bindings
