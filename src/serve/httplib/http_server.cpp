// The HTTP server, of cpp-httplib. Where that is a shared library, this is one too, which `serve`
// loads: it needs OpenSSL, and to link it would make each start of the command 5 ms slower.
#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/http.h"

namespace sardonyx::serve {
namespace {

constexpr std::size_t kPiece = 1 << 20;
constexpr std::size_t kMaxPath = 512;  // before a regular expression of the library sees it

std::string percent_encoded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '_' || c == '-';
    if (plain) {
      result += c;
    } else {
      char code[4];
      std::snprintf(code, sizeof(code), "%%%02X", static_cast<unsigned char>(c));
      result += code;
    }
  }
  return result;
}

Request request_of(const httplib::Request& from) {
  Request request;
  request.method = from.method;
  request.path = from.path;
  request.parameters = {from.params.begin(), from.params.end()};
  request.host = from.get_header_value("Host");
  request.origin = from.get_header_value("Origin");
  const std::string length = from.get_header_value("Content-Length");
  std::uint64_t bytes = 0;
  const char* end = length.data() + length.size();
  if (const auto read = std::from_chars(length.data(), end, bytes);
      !length.empty() && read.ec == std::errc() && read.ptr == end)
    request.length = bytes;
  request.read_body = [](const TakePiece&) { return true; };
  return request;
}

// In pieces, so that memory does not grow with the file.
void send_file(const Response& from, httplib::Response& to) {
  auto file = std::make_shared<std::ifstream>(from.file, std::ios::binary | std::ios::ate);
  if (!*file) {
    to.status = 404;
    return;
  }
  to.set_header("Content-Disposition",
                "attachment; filename*=UTF-8''" + percent_encoded(from.file_name));
  const auto size = static_cast<std::size_t>(file->tellg());
  auto piece = std::make_shared<std::vector<char>>(std::min(size, kPiece));
  to.set_content_provider(
      size, from.type.c_str(),
      [file, piece](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        const std::size_t count = std::min(length, piece->size());
        file->seekg(static_cast<std::streamoff>(offset));
        if (!file->read(piece->data(), static_cast<std::streamsize>(count))) return false;
        return sink.write(piece->data(), count);
      });
}

void send(const Response& from, httplib::Response& to) {
  to.status = from.status;
  to.set_header("Cache-Control", "no-store");
  to.set_header("Referrer-Policy", "no-referrer");  // the address holds the token
  to.set_header("X-Content-Type-Options", "nosniff");
  to.set_header("X-Frame-Options", "SAMEORIGIN");
  to.set_header("Cross-Origin-Resource-Policy", "same-origin");
  if (!from.policy.empty()) to.set_header("Content-Security-Policy", from.policy);
  if (from.file.empty()) {
    to.set_content(from.body, from.type.c_str());
  } else {
    send_file(from, to);
  }
}

class Server final : public HttpServer {
 public:
  explicit Server(Handler handler) : handler_(std::move(handler)) {
    // One request each, so that what is left of a body that was refused is never read as another.
    server_.set_keep_alive_max_count(1);
    server_.set_keep_alive_timeout(2);  // browsers open connections ahead of need
    server_.set_read_timeout(30);
    server_.set_write_timeout(60);
    // The library's own would let a second server share the port.
    server_.set_socket_options([](auto socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    using Outcome = httplib::Server::HandlerResponse;
    server_.set_pre_routing_handler([](const httplib::Request& from, httplib::Response& to) {
      if (from.path.size() <= kMaxPath) return Outcome::Unhandled;
      send({.status = 414, .type = "text/plain", .body = "the address is too long\n"}, to);
      return Outcome::Handled;
    });
    const auto answer = [this](const httplib::Request& from, httplib::Response& to) {
      send(handler_(request_of(from)), to);
    };
    server_.Get("/.*", answer);
    server_.Delete("/.*", answer);
    server_.Post("/.*", [this](const httplib::Request& from, httplib::Response& to,
                               const httplib::ContentReader& reader) {
      Request request = request_of(from);
      request.read_body = [&reader](const TakePiece& take) {
        return reader([&take](const char* data, std::size_t size) { return take({data, size}); });
      };
      send(handler_(request), to);
    });
  }

  std::optional<int> bind(const std::string& host, int port) override {
    if (port == 0) {
      const int found = server_.bind_to_any_port(host);
      return found > 0 ? std::optional(found) : std::nullopt;
    }
    return server_.bind_to_port(host, port) ? std::optional(port) : std::nullopt;
  }

  void listen() override { server_.listen_after_bind(); }
  void stop() override { server_.stop(); }

 private:
  Handler handler_;
  httplib::Server server_;
};

}  // namespace
}  // namespace sardonyx::serve

extern "C" __attribute__((visibility("default"))) sardonyx::serve::HttpServer* sardonyx_http_server(
    sardonyx::serve::Handler handler) {
  return new sardonyx::serve::Server(std::move(handler));
}
