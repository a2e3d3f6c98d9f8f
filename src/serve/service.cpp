#include "serve/service.h"

#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/diagnostic.h"
#include "frontends/checkpoints/safetensors.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"
#include "serve/access.h"
#include "serve/jobs.h"
#include "serve/page_source.h"
#include "serve/text.h"

namespace sardonyx::serve {
namespace {

namespace fs = std::filesystem;

constexpr int kUnprocessable = 422;
// The viewer's page sets one of its own; this one keeps others from framing it.
constexpr const char* kViewerPolicy = "frame-ancestors 'self'";
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Response text(int status, std::string body) {
  return {.status = status, .type = "text/plain; charset=utf-8", .body = std::move(body)};
}

Response html(std::string body, const char* policy) {
  return {.type = "text/html; charset=utf-8", .body = std::move(body), .policy = policy};
}

Response failed(int status, const std::vector<Diagnostic>& diagnostics) {
  return {.status = status,
          .body = fmt::format(R"({{"ok":false,"diagnostics":{}}})", to_json(diagnostics))};
}

Response failed(int status, const char* code, std::string message, std::string help = {}) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  return failed(status, {diagnostic});
}

Response not_found() { return text(404, "there is nothing here\n"); }

std::optional<int> id_of(std::string_view text) {
  int id = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, id);
  return read.ec == std::errc() && read.ptr == end ? std::optional(id) : std::nullopt;
}

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> found;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = path.find('/');
    found.push_back(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end);
  }
  return found;
}

// Read once, so that what is no model is known before anybody looks at it. TorchScript's inputs
// may yet be described.
void check(const fs::path& path) {
  const Kind kind = kind_of(path);
  if (kind == Kind::kModel) read_model(path);
  if (kind == Kind::kWeights) checkpoints::read_safetensors({path.string()});
}

// What could not be shown, in the frame where it would be.
Response failed_page(const std::vector<Diagnostic>& diagnostics) {
  std::string body = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Sardonyx</title>\n<pre>";
  for (const Diagnostic& each : diagnostics) body += escaped(each.str()) + '\n';
  return {.status = kUnprocessable,
          .type = "text/html; charset=utf-8",
          .body = body + "</pre>\n",
          .policy = "default-src 'none'; frame-ancestors 'self'"};
}

// The viewer's page of what `make` reads.
template <class Make>
Response shown(const Make& make) {
  try {
    return html(make(), kViewerPolicy);
  } catch (const Error& error) {
    return failed_page(error.diagnostics());
  }
}

template <class Answer>
Response with_failures(const Answer& answer) noexcept {
  try {
    return answer();
  } catch (const Error& error) {
    return failed(kUnprocessable, error.diagnostics());
  } catch (const std::bad_alloc&) {
    return failed(kUnprocessable, "SX1004", "out of memory",
                  "remove other models, or use the command `sardonyx`, which reads weights where "
                  "they are");
  } catch (const std::exception& error) {
    return failed(kUnprocessable, "SX1005", std::string("internal error: ") + error.what());
  }
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
}

Response too_large(const std::string& name, std::uint64_t most) {
  return failed(413, "SX1031", fmt::format("'{}' is larger than {}", name, megabytes(most)),
                "name it on the command line, `sardonyx serve FILE`, or raise --max-upload");
}

}  // namespace

Service::Service(Options options) : options_(std::move(options)), shelf_(folder_.path()) {}

void Service::add(const fs::path& path) {
  check(path);
  shelf_.add(fs::absolute(path), path.filename().string());
}

Response Service::handle(const Request& request) noexcept {
  return with_failures([&] {
    if (!is_own_host(request.host, options_.host))
      return text(403, "this server is not called by that name\n");
    std::vector<std::string_view> path = segments(request.path);
    if (path.empty() || !is_same_token(path.front(), options_.token))
      return text(403, "this page needs the whole address that `sardonyx serve` printed\n");
    path.erase(path.begin());
    // Relative addresses of the page need the slash.
    if (path.empty()) return text(404, "the address ends with a slash\n");
    const bool only_reads = request.method == "GET" || request.method == "HEAD";
    if (!only_reads && !is_own_origin(request.origin, request.host))
      return text(403, "this comes from another page\n");
    return route(request, path);
  });
}

Response Service::answer(const Request& request) noexcept {
  return with_failures([&] { return route(request, segments(request.path)); });
}

Response Service::route(const Request& request, const std::vector<std::string_view>& path) {
  if (request.method == "GET" || request.method == "HEAD") return get(path);
  if (request.method == "POST") return post(request, path);
  const std::optional<int> id =
      path.size() == 2 && path[0] == "models" ? id_of(path[1]) : std::nullopt;
  if (!id || !shelf_.remove(*id)) return not_found();
  return {.body = R"({"ok":true})"};
}

Response Service::get(const std::vector<std::string_view>& path) {
  if (path.size() == 1) {
    if (path[0].empty()) return html(kPageBody, kPagePolicy);
    if (path[0] == "page.js") return {.type = "text/javascript", .body = kPageScript};
    if (path[0] == "page.css") return {.type = "text/css", .body = kPageStyle};
    if (path[0] == "watch") return watch();
    return path[0] == "state" ? state() : not_found();
  }
  const std::optional<int> id = id_of(path[1]);
  const std::optional<Shelved> each = id ? shelf_.find(*id) : std::nullopt;
  if (!each) return not_found();
  if (path[0] == "models" && path.size() == 2) return shown([&] { return page_of(*each); });
  if (path.size() != 3) return not_found();
  if (path[0] == "compare") {
    const std::optional<int> other = id_of(path[2]);
    const std::optional<Shelved> second = other ? shelf_.find(*other) : std::nullopt;
    if (!second || each->kind != Kind::kModel || second->kind != Kind::kModel) return not_found();
    return shown([&] { return page_of_both(*each, *second); });
  }
  if (path[0] != "models") return not_found();
  const bool is_data = path[2] == "data" && each->made_from;
  if (!is_data && path[2] != "file") return not_found();
  return {.type = "application/octet-stream",
          .file = is_data ? each->data() : each->path,
          .file_name = is_data ? each->data().filename().string() : each->name};
}

Response Service::post(const Request& request, const std::vector<std::string_view>& path) {
  if (path.size() == 1 && path[0] == "uploads")
    return {.body = fmt::format(R"({{"ok":true,"uploads":{}}})",
                                json_string(shelf_.new_folder().filename().string()))};
  if (path.size() == 2 && path[0] == "uploads") return upload(request, path[1]);
  if (path.size() == 1 && path[0] == "watch") return set_watch(request);
  const std::optional<int> id =
      path.size() == 3 && path[0] == "models" && path[2] == "run" ? id_of(path[1]) : std::nullopt;
  return id ? run(request, *id) : not_found();
}

Response Service::state() const {
  std::string targets, models;
  for (const std::string& name : target_names())
    targets += fmt::format(R"({}{{"name":{},"opset":{}}})", targets.empty() ? "" : ",",
                           json_string(name), target_opset(name));
  for (const Shelved& each : shelf_.all()) models += (models.empty() ? "" : ",") + to_json(each);
  return {.body = fmt::format(
              R"({{"ok":true,"version":{},"maxUpload":{},"opsets":[{},{}],"targets":[{}],)"
              R"("precisions":["fp16","bf16","int8","int4","fp16+int8","fp16+int4"],"watched":{},)"
              R"("models":[{}]}})",
              json_string(version()), options_.max_upload, kOldestOpset, kNewestOpset, targets,
              options_.watched.empty() ? "null" : json_string(options_.watched), models)};
}

// The body of a request as a file; a response where it did not become one.
std::optional<Response> Service::receive(const Request& request, const std::string& name,
                                         const fs::path& part) const {
  std::uint64_t bytes = 0;
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  const bool is_whole = request.read_body([&](std::string_view piece) {
    bytes += piece.size();
    return bytes <= options_.max_upload &&
           static_cast<bool>(file.write(piece.data(), static_cast<std::streamsize>(piece.size())));
  });
  const bool is_written = static_cast<bool>(file.flush());
  file.close();
  if (is_whole && is_written && (!request.length || *request.length == bytes)) return std::nullopt;
  std::error_code none;
  fs::remove(part, none);
  if (bytes > options_.max_upload) return too_large(name, options_.max_upload);
  if (!is_written)
    return failed(kUnprocessable, "SX1601",
                  "'" + name + "' cannot be written to " + folder_.path().string(),
                  "free some space there, or name another folder in TMPDIR");
  return failed(400, "SX1031", "'" + name + "' did not arrive whole");
}

Response Service::upload(const Request& request, std::string_view group) {
  const std::string name = request.parameter("name");
  const fs::path folder = folder_.path() / fmt::to_string(id_of(group).value_or(0));
  std::error_code none;
  if (!fs::is_directory(folder, none)) return not_found();
  if (!is_file_name(name))
    return failed(kUnprocessable, "SX1031", "a file of this name is not taken: '" + name + "'",
                  "rename it");
  if (request.length && *request.length > options_.max_upload)
    return too_large(name, options_.max_upload);
  const fs::path path = folder / name;
  if (fs::exists(path, none))
    return failed(kUnprocessable, "SX1031", "there are two files called '" + name + "'");

  // Under its own name once all of it is here.
  const fs::path part = folder / ("." + name);
  if (request.body_file.empty()) {
    if (const auto failure = receive(request, name, part)) return *failure;
  } else {
    fs::rename(request.body_file, part);
  }
  fs::rename(part, path);
  if (request.parameter("data") == "1") return {.body = R"({"ok":true})"};
  try {
    check(path);
  } catch (...) {
    fs::remove(path, none);
    throw;
  }
  const Shelved each =
      shelf_.add(path, name, id_of(request.parameter("from")), request.parameter("settings"));
  return {.body = fmt::format(R"({{"ok":true,"model":{}}})", to_json(each))};
}

Response Service::watch() const {
  const std::lock_guard lock(watching_);
  return {.body = fmt::format(R"({{"ok":true,"count":{},"text":{}}})", watch_count_,
                              json_string(watch_text_))};
}

Response Service::set_watch(const Request& request) {
  constexpr std::size_t kMaxText = 1 << 20;
  std::string text;
  const bool is_whole = request.read_body([&text](std::string_view piece) {
    text += piece;
    return text.size() <= kMaxText;
  });
  if (options_.watched.empty() || !is_whole) return not_found();
  const std::lock_guard lock(watching_);
  watch_text_ = std::move(text);
  ++watch_count_;
  return {.body = R"({"ok":true})"};
}

Response Service::run(const Request& request, int id) {
  const std::optional<Shelved> source = shelf_.find(id);
  if (!source) return not_found();
  JobOptions options;
  for (const auto& [name, option] : {std::pair("runtime", &options.runtime),
                                     {"opset", &options.opset},
                                     {"precision", &options.precision},
                                     {"fixed", &options.fixed},
                                     {"max", &options.max},
                                     {"input", &options.input},
                                     {"dynamic", &options.dynamic},
                                     {"rules", &options.rules}})
    *option = trimmed(request.parameter(name));
  const std::lock_guard lock(working_);
  const fs::path folder = shelf_.new_folder();
  const JobResult result = run_job(*source, options, folder);
  const Shelved made = shelf_.add(folder / result.output, result.output, id, options.text());
  return {.body = fmt::format(R"({{"ok":true,"model":{},{}}})", to_json(made),
                              result.members(source->kind == Kind::kProgram))};
}

}  // namespace sardonyx::serve
