// What the server answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_folder.h"
#include "serve/http.h"
#include "serve/shelf.h"

namespace sardonyx::serve {

// Under the address /TOKEN/:
//
//   GET    (nothing)               the page;  page.js, page.css
//   GET    state                   versions, targets, limits, models
//   POST   uploads                 a new folder for files that belong together
//   POST   uploads/N?name=         the file is the body; with data=1 it is no model
//   GET    models/N                the viewer's page
//   GET    models/N/file, /data    the file, its external data
//   GET    compare/N/M             the viewer's page of two models
//   POST   models/N/run            converts or optimizes: JobOptions are parameters
//   DELETE models/N
//   GET    watch                   what was posted there last, and how often
//   POST   watch                   the body: what `serve --watch` did, for the page
//
// uploads/N takes from=N and settings= of a model that `serve --watch` made of another one.
//
// What fails has the diagnostics of the command, as its --json has them.
class Service {
 public:
  struct Options {
    std::string token;
    std::string host;              // as the user named it
    std::uint64_t max_upload = 0;  // bytes of one file
    std::string watched = {};      // "model.py:function"; empty: nothing
  };

  explicit Service(Options options);

  // A file of the user's, which is read where it is. Throws where it cannot be read.
  void add(const std::filesystem::path& path);
  Response handle(const Request& request) noexcept;
  // The same for whoever is known to be allowed: the path has no token.
  Response answer(const Request& request) noexcept;
  // Removes all that was uploaded and made.
  void clear() noexcept { folder_.remove(); }

 private:
  Response route(const Request& request, const std::vector<std::string_view>& path);
  Response get(const std::vector<std::string_view>& path);
  Response post(const Request& request, const std::vector<std::string_view>& path);
  Response state() const;
  std::optional<Response> receive(const Request& request, const std::string& name,
                                  const std::filesystem::path& part) const;
  Response upload(const Request& request, std::string_view group);
  Response run(const Request& request, int id);
  Response watch() const;
  Response set_watch(const Request& request);

  Options options_;
  base::TemporaryFolder folder_;
  Shelf shelf_;
  std::mutex working_;  // models are converted one at a time
  mutable std::mutex watching_;
  std::string watch_text_;
  int watch_count_ = 0;
};

}  // namespace sardonyx::serve
