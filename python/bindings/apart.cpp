// Models whose larger tensors lie apart from them in memory: as Python's packages hold them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "bindings.h"
#include "onnx/graph/ir.h"
#include "proto/reader/read.h"
#include "proto/writer/write.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Keeps an object of Python's alive from where nobody holds Python's lock.
template <class Object>
std::shared_ptr<const void> held(Object object) {
  return {new Object(std::move(object)), [](const Object* pointer) {
            const nb::gil_scoped_acquire locked;
            delete pointer;
          }};
}

std::span<const std::byte> bytes_in(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

// Nothing is copied: tensors borrow from the message and from `given`.
Model parse(const nb::bytes& message, const nb::dict& given) {
  std::map<std::string, proto::BorrowedBytes> tensors;
  for (const auto& [location, data] : given) {
    const auto bytes = nb::cast<nb::bytes>(data);
    tensors.emplace(nb::cast<std::string>(location),
                    proto::BorrowedBytes{bytes_in(bytes), held(bytes)});
  }
  return Model(proto::parse(bytes_in(message), held(message), std::move(tensors)));
}

nb::bytes as_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// Of a serialized model: the tensor at an offset.
nb::bytes tensor_at(const proto::Apart& apart, std::int64_t offset) {
  const auto found = apart.tensors.find(offset);
  if (found == apart.tensors.end()) throw nb::key_error("no tensor lies there");
  std::string bytes;
  {
    const nb::gil_scoped_release released;
    bytes = proto::bytes_of(*found->second);
  }
  return as_bytes(bytes);
}

}  // namespace

void bind_apart(nb::module_& module) {
  nb::class_<proto::Apart>(module, "Apart")
      .def_prop_ro("message", [](const proto::Apart& self) { return as_bytes(self.message); })
      .def("tensor", &tensor_at, "offset"_a);
  module.def("parse_apart", &parse, "message"_a, "given"_a,
             "Reads an ONNX model that is in memory, and whose external data lie at the locations "
             "that `given` names.");
  module.def(
      "serialize_apart",
      [](const Model& model) { return proto::serialize_apart(model.internal()); }, "model"_a,
      nb::keep_alive<0, 1>(), nb::call_guard<nb::gil_scoped_release>(),
      "The model as a message, and its larger tensors by the offsets that it gives them.");
}

}  // namespace sardonyx::bindings
