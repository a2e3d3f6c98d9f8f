#include "frontends/live/tensors.h"

#include <optional>
#include <string>
#include <unordered_map>

#include "base/diagnostic.h"
#include "frontends/live/python.h"

namespace sardonyx::live {
namespace {

void integers(nb::handle tuple, std::vector<std::int64_t>& into) {
  const Py_ssize_t count = NB_TUPLE_GET_SIZE(tuple.ptr());
  into.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) into.push_back(integer(NB_TUPLE_GET_ITEM(tuple.ptr(), i)));
}

bool flag(nb::handle object) { return PyObject_IsTrue(object.ptr()) == 1; }

[[noreturn]] void refuse(std::string_view name, const std::string& what) {
  base::fail("SX1222", "the weight '" + std::string(name) + "' is " + what,
             "convert it to a plain dense tensor before export");
}

// A plain, dense tensor on the host with the values of `tensor`; `tensor` itself where it is one.
nb::object plain(std::string_view name, nb::handle tensor) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(tensor.ptr()));
  const Classes& known = classes();
  if (type != known.tensor && type != known.parameter && type != known.buffer &&
      nb::hasattr(tensor, "__tensor_flatten__")) {
    refuse(name, "a tensor subclass, " + type_text(tensor) + ", that holds no bytes of its own");
  }
  if (flag(tensor.attr("is_quantized"))) refuse(name, "a quantized tensor of the old kind");
  nb::object result = nb::borrow(tensor);
  if (str_of(get(result, names().layout)) != "torch.strided") {
    result = result.attr("detach")().attr("to_dense")();
  }
  if (str_of(result.attr("device").attr("type")) != "cpu") {
    result = result.attr("detach")().attr("cpu")();
  }
  if (flag(result.attr("is_conj")())) result = result.attr("detach")().attr("resolve_conj")();
  if (flag(result.attr("is_neg")())) result = result.attr("detach")().attr("resolve_neg")();
  return result;
}

bool without_data(nb::handle tensor) {
  return is_a(tensor, classes().fake_tensor) || flag(tensor.attr("is_meta"));
}

}  // namespace

base::DType dtype_of(nb::handle dtype) {
  // dtypes are immortal singletons; where Python has no GIL, the lock guards the table.
  static nb::ft_mutex mutex;
  static std::unordered_map<PyObject*, base::DType> known;
  const nb::ft_lock_guard locked(mutex);
  if (const auto found = known.find(dtype.ptr()); found != known.end()) return found->second;
  const std::string name = str_of(dtype);
  const std::optional<base::DType> result = base::dtype_from_name(name);
  if (!result) {
    base::fail("SX1221", "the program holds tensors of type " + name, "cast them before export");
  }
  known.emplace(dtype.ptr(), *result);
  return *result;
}

std::size_t LiveTensor::storage_address() const {
  return nb::cast<std::size_t>(storage.attr("_cdata"));
}

std::int64_t LiveTensor::storage_bytes() const { return integer(storage.attr("nbytes")()); }

const std::byte* LiveTensor::storage_data() const {
  static constexpr std::byte kNothing{};  // empty storages have no address, yet are not missing
  if (!has_data) return nullptr;
  if (storage_bytes() == 0) return &kNothing;
  return reinterpret_cast<const std::byte*>(nb::cast<std::uintptr_t>(storage.attr("data_ptr")()));
}

std::shared_ptr<const void> LiveTensor::owner() const {
  Py_INCREF(storage.ptr());
  return {static_cast<const void*>(storage.ptr()), [](const void* held) {
            // At interpreter shutdown there is nobody left to give it back to.
            if (!Py_IsInitialized()) return;
            const PyGILState_STATE state = PyGILState_Ensure();
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(held)));
            PyGILState_Release(state);
          }};
}

LiveTensor look_at(std::string_view name, nb::handle tensor) {
  LiveTensor result;
  result.has_data = !without_data(tensor);
  const nb::object held = result.has_data ? plain(name, tensor) : nb::borrow(tensor);
  result.dtype = dtype_of(get(held, names().dtype));
  integers(get(held, names().shape), result.shape);
  integers(call(held, names().stride), result.strides);
  result.offset = integer(held.attr("storage_offset")());
  result.storage = held.attr("untyped_storage")();
  return result;
}

}  // namespace sardonyx::live
