// `sardonyx serve`: the server from its start to its end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sardonyx::serve {

struct ServeOptions {
  std::vector<std::string> models;  // files of the user's
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free one
  std::uint64_t max_upload = 0;
  std::string watched = {};  // "model.py:function"
  // Starts what exports it and gives it to the page of this address; the process ends it.
  std::function<pid_t(const std::string& address)> start_watching = {};
};

// Prints the address, and answers until the process gets SIGINT, SIGTERM or SIGHUP; a second one
// does not wait for what is being done. Throws Error where it cannot begin.
void run(const ServeOptions& options);

}  // namespace sardonyx::serve
