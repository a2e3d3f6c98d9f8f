// Requests and responses, and the server that carries them. Only httplib/ includes the HTTP
// library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sardonyx::serve {

// Gets a piece of a body; false to read no more.
using TakePiece = std::function<bool(std::string_view piece)>;

struct Request {
  std::string method;
  std::string path;  // decoded, without the query
  std::multimap<std::string, std::string> parameters;
  std::string host, origin;             // the headers of these names; empty where there is none
  std::optional<std::uint64_t> length;  // of the body, as the client declares it
  // Reads the body of a POST in pieces. False where the client went away before its end, or `take`
  // returned false.
  std::function<bool(const TakePiece& take)> read_body;
  // The body where it is a file already, which is moved.
  std::filesystem::path body_file = {};

  std::string parameter(const std::string& name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::string() : found->second;
  }
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::filesystem::path file = {};  // sent instead of a body, in pieces
  std::string file_name = {};       // what the browser saves it as
  std::string policy = {};          // the content security policy of a page
};

// Called from several threads at once. Throws nothing.
using Handler = std::function<Response(const Request&)>;

class HttpServer {
 public:
  HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  // The port that it listens on from here on, any free one for 0; nothing where it cannot.
  virtual std::optional<int> bind(const std::string& host, int port) = 0;
  // Answers until stop() is called, and what was begun is done.
  virtual void listen() = 0;
  virtual void stop() = 0;
};

// SX1030 where this installation has no HTTP library.
std::unique_ptr<HttpServer> make_http_server(Handler handler);

}  // namespace sardonyx::serve
