// Gets the HTTP server: linked, or loaded from a library next to this program.
#include <memory>
#include <utility>

#include "base/diagnostic.h"
#include "serve/http.h"

#ifdef SARDONYX_HTTP_LIBRARY
#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>
#endif

#ifndef SARDONYX_HTTP_LIBRARY
extern "C" sardonyx::serve::HttpServer* sardonyx_http_server(sardonyx::serve::Handler handler);
#endif

namespace sardonyx::serve {

#ifdef SARDONYX_HTTP_LIBRARY
namespace {

using Make = HttpServer* (*)(Handler);

// Next to the program in a build folder; in lib/sardonyx of an installation.
Make load() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path own = fs::read_symlink("/proc/self/exe", none).parent_path();
  std::string reason;
  for (const fs::path& folder : {own, own / SARDONYX_HTTP_FOLDER}) {
    const fs::path path = folder / SARDONYX_HTTP_LIBRARY;
    if (!fs::exists(path, none)) continue;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      if (void* found = dlsym(library, "sardonyx_http_server"))
        return reinterpret_cast<Make>(found);  // NOLINT: what dlsym is for
    reason = dlerror();
  }
  if (reason.empty()) reason = std::string("there is no ") + SARDONYX_HTTP_LIBRARY;
  base::fail("SX1030", "this installation has no HTTP server: " + reason,
             "install cpp-httplib, such as Debian's libcpp-httplib0.11, and Sardonyx again");
}

}  // namespace

std::unique_ptr<HttpServer> make_http_server(Handler handler) {
  return std::unique_ptr<HttpServer>(load()(std::move(handler)));
}
#else
std::unique_ptr<HttpServer> make_http_server(Handler handler) {
  return std::unique_ptr<HttpServer>(sardonyx_http_server(std::move(handler)));
}
#endif

}  // namespace sardonyx::serve
