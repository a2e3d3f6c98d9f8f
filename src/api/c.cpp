// The C interface over the C++ one: opaque handles, and no exception past this file.
#include "sardonyx/c.h"

#include <charconv>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "sardonyx/sardonyx.h"

struct sardonyx_program {
  std::unique_ptr<sardonyx::Program> program;  // none once it is converted
};

struct sardonyx_model {
  sardonyx::Model model;
};

struct sardonyx_options {
  sardonyx::ReadOptions read;
  sardonyx::ConvertOptions convert;
  sardonyx::OptimizeOptions optimize;
  sardonyx::WriteOptions write;
};

struct sardonyx_error {
  std::string text;
  std::vector<sardonyx::Diagnostic> diagnostics;
};

namespace {

using sardonyx::base::fail;

[[noreturn]] void refuse(std::string_view name, std::string_view value) {
  fail("SX1005", "the option `" + std::string(name) + "` cannot be `" + std::string(value) + "`");
}

bool flag(std::string_view name, std::string_view value) {
  if (value == "true") return true;
  if (value == "false") return false;
  refuse(name, value);
}

std::int64_t number(std::string_view name, std::string_view value) {
  std::int64_t result = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (problem != std::errc() || end != value.data() + value.size()) refuse(name, value);
  return result;
}

template <class Choice>
Choice choice(std::string_view name, std::string_view value,
              const std::map<std::string_view, Choice>& choices) {
  const auto found = choices.find(value);
  if (found == choices.end()) refuse(name, value);
  return found->second;
}

using Set = void (*)(sardonyx_options&, std::string_view name, const std::string& value);

// What each name means; one that several functions look at is set for all of them.
const std::map<std::string_view, Set>& setters() {
  using sardonyx::ExternalData, sardonyx::UnsupportedOps;
  static const std::map<std::string_view, Set> kSetters = {
      {"input", [](auto& o, auto, auto& v) { o.read.inputs.push_back(v); }},
      {"dynamic", [](auto& o, auto, auto& v) { o.read.dynamic.push_back(v); }},
      {"dim-names", [](auto& o, auto, auto& v) { o.read.dim_names.push_back(v); }},
      {"opset",
       [](auto& o, auto name, auto& v) { o.convert.opset = o.optimize.opset = number(name, v); }},
      {"runtime", [](auto& o, auto, auto& v) { o.convert.runtime = o.optimize.runtime = v; }},
      {"input-names", [](auto& o, auto, auto& v) { o.convert.input_names.push_back(v); }},
      {"output-names", [](auto& o, auto, auto& v) { o.convert.output_names.push_back(v); }},
      {"optimize", [](auto& o, auto name, auto& v) { o.convert.optimize = flag(name, v); }},
      {"keep-weights",
       [](auto& o, auto name, auto& v) { o.convert.fold_weights = !flag(name, v); }},
      {"plugin", [](auto& o, auto, auto& v) { o.convert.plugins.emplace_back(v); }},
      {"fall-through",
       [](auto& o, auto name, auto& v) {
         o.convert.fall_through = choice<UnsupportedOps>(name, v,
                                                         {{"no", UnsupportedOps::kNo},
                                                          {"as-is", UnsupportedOps::kAsIs},
                                                          {"aten", UnsupportedOps::kATen}});
       }},
      {"disable",
       [](auto& o, auto, auto& v) {
         o.convert.disable.push_back(v);
         o.optimize.disable.push_back(v);
       }},
      {"record-rules",
       [](auto& o, auto name, auto& v) {
         o.convert.record_rules = o.optimize.record_rules = flag(name, v);
       }},
      {"stop-after",
       [](auto& o, auto, auto& v) { o.convert.stop_after = o.optimize.stop_after = v; }},
      {"external-data",
       [](auto& o, auto name, auto& v) {
         o.write.external_data = choice<ExternalData>(name, v,
                                                      {{"auto", ExternalData::kAuto},
                                                       {"always", ExternalData::kAlways},
                                                       {"never", ExternalData::kNever}});
       }},
      {"metadata", [](auto& o, auto name, auto& v) { o.write.include_metadata = flag(name, v); }},
  };
  return kSetters;
}

void set_error(sardonyx_error** error, std::vector<sardonyx::Diagnostic> diagnostics,
               std::string text) noexcept {
  if (error == nullptr) return;
  *error = new (std::nothrow) sardonyx_error{std::move(text), std::move(diagnostics)};
}

void set_error(sardonyx_error** error, const char* code, const char* message) {
  sardonyx::Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = message;
  set_error(error, {diagnostic}, diagnostic.str());
}

// What `body` returns, or `otherwise` where it throws.
template <class Body, class Result = std::invoke_result_t<Body>>
Result guarded(sardonyx_error** error, Result otherwise, const Body& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    return body();
  } catch (const sardonyx::Error& thrown) {
    set_error(error, thrown.diagnostics(), thrown.what());
  } catch (const std::bad_alloc&) {
    set_error(error, "SX1004", "out of memory");
  } catch (const std::exception& thrown) {
    set_error(error, "SX1005", thrown.what());
  }
  return otherwise;
}

const sardonyx_options& or_default(const sardonyx_options* options) {
  static const sardonyx_options kDefault;
  return options == nullptr ? kDefault : *options;
}

const sardonyx::Diagnostic* diagnostic(const sardonyx_error* error, std::size_t index) {
  if (error == nullptr || index >= error->diagnostics.size()) return nullptr;
  return &error->diagnostics[index];
}

}  // namespace

const char* sardonyx_version(void) { return sardonyx::version().data(); }

sardonyx_options* sardonyx_options_new(void) { return new (std::nothrow) sardonyx_options; }

int sardonyx_options_set(sardonyx_options* options, const char* name, const char* value,
                         sardonyx_error** error) {
  return guarded(error, 1, [&] {
    const auto found = setters().find(name);
    if (found == setters().end()) fail("SX1005", "there is no option `" + std::string(name) + "`");
    found->second(*options, found->first, value);
    return 0;
  });
}

void sardonyx_options_free(sardonyx_options* options) { delete options; }

sardonyx_program* sardonyx_read(const char* path, const sardonyx_options* options,
                                sardonyx_error** error) {
  return guarded(error, static_cast<sardonyx_program*>(nullptr), [&] {
    auto program =
        std::make_unique<sardonyx::Program>(sardonyx::read(path, or_default(options).read));
    return new sardonyx_program{std::move(program)};
  });
}

void sardonyx_program_free(sardonyx_program* program) { delete program; }

sardonyx_model* sardonyx_convert(sardonyx_program* program, const sardonyx_options* options,
                                 sardonyx_error** error) {
  return guarded(error, static_cast<sardonyx_model*>(nullptr), [&] {
    if (program->program == nullptr) fail("SX1005", "the program was converted before");
    const std::unique_ptr<sardonyx::Program> used = std::move(program->program);
    return new sardonyx_model{sardonyx::convert(std::move(*used), or_default(options).convert)};
  });
}

sardonyx_model* sardonyx_read_model(const char* path, sardonyx_error** error) {
  return guarded(error, static_cast<sardonyx_model*>(nullptr),
                 [&] { return new sardonyx_model{sardonyx::read_model(path)}; });
}

int sardonyx_optimize(sardonyx_model* model, const sardonyx_options* options,
                      sardonyx_error** error) {
  return guarded(error, 1, [&] {
    sardonyx::optimize(model->model, or_default(options).optimize);
    return 0;
  });
}

int64_t sardonyx_node_count(const sardonyx_model* model) { return model->model.node_count(); }

int sardonyx_write(const sardonyx_model* model, const char* path, const sardonyx_options* options,
                   sardonyx_error** error) {
  return guarded(error, 1, [&] {
    sardonyx::write(model->model, path, or_default(options).write);
    return 0;
  });
}

char* sardonyx_serialize(const sardonyx_model* model, const sardonyx_options* options, size_t* size,
                         sardonyx_error** error) {
  return guarded(error, static_cast<char*>(nullptr), [&] {
    const std::string bytes = sardonyx::serialize(model->model, or_default(options).write);
    auto copy = std::make_unique<char[]>(bytes.size() + 1);
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    *size = bytes.size();
    return copy.release();
  });
}

void sardonyx_bytes_free(char* bytes) { delete[] bytes; }

void sardonyx_model_free(sardonyx_model* model) { delete model; }

const char* sardonyx_error_text(const sardonyx_error* error) {
  return error == nullptr ? "" : error->text.c_str();
}

size_t sardonyx_error_count(const sardonyx_error* error) {
  return error == nullptr ? 0 : error->diagnostics.size();
}

const char* sardonyx_error_code(const sardonyx_error* error, size_t index) {
  const sardonyx::Diagnostic* found = diagnostic(error, index);
  return found == nullptr ? "" : found->code.c_str();
}

const char* sardonyx_error_message(const sardonyx_error* error, size_t index) {
  const sardonyx::Diagnostic* found = diagnostic(error, index);
  return found == nullptr ? "" : found->message.c_str();
}

const char* sardonyx_error_help(const sardonyx_error* error, size_t index) {
  const sardonyx::Diagnostic* found = diagnostic(error, index);
  return found == nullptr ? "" : found->help.c_str();
}

void sardonyx_error_free(sardonyx_error* error) { delete error; }
