// What JavaScript calls: requests as the page of `sardonyx serve` sends them, answered in memory.
//
// The host has the files (worker.js): a model that the user dropped is a file of its file system
// already, and so is what is written.
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "serve/http.h"
#include "serve/service.h"

#define SARDONYX_WASM_EXPORT(name) __attribute__((export_name(#name)))

namespace sardonyx::wasm {
namespace {

// Files are read where they are, so the module's memory is the only limit to what is read of them.
constexpr std::uint64_t kMaxUpload = std::uint64_t{1} << 53;

serve::Service& service() {
  static serve::Service the_service({.token = {}, .host = {}, .max_upload = kMaxUpload});
  return the_service;
}

serve::Request request;
serve::Response response;

}  // namespace

extern "C" {

void __wasm_call_ctors();

SARDONYX_WASM_EXPORT(_initialize) void initialize() { __wasm_call_ctors(); }

SARDONYX_WASM_EXPORT(sardonyx_allocate) void* allocate(std::size_t bytes) {
  return std::malloc(bytes);
}

SARDONYX_WASM_EXPORT(sardonyx_free) void free_memory(void* memory) { std::free(memory); }

// A new request; texts end with a NUL. `body` names a file of the host, which is moved; empty where
// there is none.
SARDONYX_WASM_EXPORT(sardonyx_request)
void begin(const char* method, const char* path, const char* body) {
  request = {};
  request.method = method;
  request.path = path;
  request.body_file = body;
  request.read_body = [](const serve::TakePiece&) { return true; };
}

SARDONYX_WASM_EXPORT(sardonyx_parameter) void add_parameter(const char* name, const char* value) {
  request.parameters.emplace(name, value);
}

// Answers the request and returns the status. The following are of its response, until the next.
SARDONYX_WASM_EXPORT(sardonyx_answer) int answer() {
  response = service().answer(std::exchange(request, {}));
  return response.status;
}

SARDONYX_WASM_EXPORT(sardonyx_type) const char* type() { return response.type.c_str(); }
SARDONYX_WASM_EXPORT(sardonyx_body) const char* body() { return response.body.data(); }
SARDONYX_WASM_EXPORT(sardonyx_body_bytes) std::size_t body_bytes() { return response.body.size(); }
// The file that is sent instead of a body; empty where there is none.
SARDONYX_WASM_EXPORT(sardonyx_file) const char* file() { return response.file.c_str(); }
SARDONYX_WASM_EXPORT(sardonyx_file_name) const char* file_name() {
  return response.file_name.c_str();
}

}  // extern "C"

}  // namespace sardonyx::wasm
