#include "frontends/live/sources.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "frontends/live/python.h"

namespace sardonyx::live {
namespace {

// The type of a module is a str since PyTorch 2.4; a class before, and in hand-made graphs.
std::string type_of_module(nb::handle type) {
  if (PyUnicode_Check(type.ptr())) return std::string(text(type));
  const nb::object module = get(type, names().module_name);
  const nb::object name = get(type, names().qualname);
  return std::string(text(module)) + "." + std::string(text(name));
}

// The (path, type) pair of one entry of nn_module_stack.
bool is_frame(PyObject* frame) {
  return PyTuple_Check(frame) && NB_TUPLE_GET_SIZE(frame) == 2 &&
         PyUnicode_Check(NB_TUPLE_GET_ITEM(frame, 0));
}

// Enough of a text to tell most others from it; the innermost frame stands last.
std::string_view tail(std::string_view text) {
  constexpr std::size_t kEnough = 48;
  return text.size() > kEnough ? text.substr(text.size() - kEnough) : text;
}

}  // namespace

const program::Source* Sources::of(nb::handle meta) {
  const nb::handle held = entry(meta, names().stack_trace);
  const bool has_trace = held.is_valid() && PyUnicode_Check(held.ptr());
  const std::string_view trace = has_trace ? text(held) : std::string_view();
  read_frames(entry(meta, names().nn_module_stack));
  if (trace.empty() && frames_.empty()) return nullptr;

  const std::size_t key = hash(trace);
  const auto [first, last] = known_.equal_range(key);
  for (auto known = first; known != last; ++known) {
    if (matches(*known->second, trace)) return known->second;
  }
  program::Source source;
  for (const Frame& frame : frames_) {
    source.modules.push_back({std::string(frame.path), std::string(frame.type), frame.call});
  }
  source.stack_trace = trace;
  const program::Source* interned = program_.intern_source(std::move(source));
  known_.emplace(key, interned);
  return interned;
}

void Sources::read_frames(nb::handle stack) {
  frames_.clear();
  types_.clear();
  if (!stack.is_valid() || !PyDict_Check(stack.ptr())) return;
  PyObject *key = nullptr, *frame = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(stack.ptr(), &position, &key, &frame)) {
    if (!is_frame(frame)) continue;
    PyObject* type = NB_TUPLE_GET_ITEM(frame, 1);
    const std::string_view path = text(NB_TUPLE_GET_ITEM(frame, 0));
    const std::uint32_t call = PyUnicode_Check(key) ? program::call_number(text(key)) : 0;
    frames_.push_back(
        {path, PyUnicode_Check(type) ? text(type) : types_.emplace_back(type_of_module(type)),
         call});
  }
}

bool Sources::matches(const program::Source& source, std::string_view trace) const {
  const auto same = [](const Frame& frame, const program::ModuleFrame& module) {
    return frame.path == module.path && frame.type == module.type && frame.call == module.call;
  };
  return source.stack_trace == trace && source.modules.size() == frames_.size() &&
         std::equal(frames_.begin(), frames_.end(), source.modules.begin(), same);
}

std::size_t Sources::hash(std::string_view trace) const {
  const std::hash<std::string_view> of;
  std::size_t result = of(tail(trace)) * 31 + trace.size();
  result = result * 31 + frames_.size();
  if (!frames_.empty()) result = result * 31 + of(tail(frames_.back().path));
  return result;
}

}  // namespace sardonyx::live
