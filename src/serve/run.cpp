#include "serve/run.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "base/diagnostic.h"
#include "serve/access.h"
#include "serve/http.h"
#include "serve/service.h"

namespace sardonyx::serve {
namespace {

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, each);
  return signals;
}

void warn_of_others(const std::string& host) {
  std::fprintf(stderr,
               "warning: %s can be reached from other machines: whoever learns the address below "
               "can read and convert models here, and nothing is encrypted\n",
               host.c_str());
}

// Numbers with colons stand in brackets.
std::string in_address(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

// Where this machine itself reaches the server.
std::string own_address(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  return host == "::" ? "[::1]" : in_address(host);
}

void end(pid_t watcher) {
  if (watcher <= 0) return;
  kill(watcher, SIGTERM);
  waitpid(watcher, nullptr, 0);
}

}  // namespace

void run(const ServeOptions& options) {
  // Before there are threads, which inherit it.
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a tab that is closed

  const std::string token = new_token();
  Service service({token, options.host, options.max_upload, options.watched});
  for (const std::string& model : options.models) service.add(model);
  const std::unique_ptr<HttpServer> server =
      make_http_server([&service](const Request& request) { return service.handle(request); });
  const std::optional<int> port = server->bind(options.host, options.port);
  if (!port)
    base::fail("SX1030", fmt::format("cannot listen on {}, port {}", options.host, options.port),
               "the port is in use, or the host is not this machine's: choose others, or leave "
               "--port out");
  if (!is_loopback(options.host)) warn_of_others(options.host);
  const std::string place = fmt::format(":{}/{}/", *port, token);
  std::printf("http://%s%s\n", in_address(options.host).c_str(), place.c_str());
  std::fflush(stdout);
  std::fprintf(stderr, "Ctrl-C ends it.\n");

  const pid_t watcher = options.start_watching
                            ? options.start_watching("http://" + own_address(options.host) + place)
                            : 0;

  std::atomic<bool> is_done = false;
  std::thread waiting([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    if (is_done) return;
    server->stop();
    // What is being done is finished, unless the user insists.
    sigwait(&signals, &signal);
    if (is_done) return;
    end(watcher);
    service.clear();
    _exit(128 + signal);
  });
  server->listen();
  is_done = true;
  pthread_kill(waiting.native_handle(), SIGTERM);  // for it to return
  waiting.join();
  end(watcher);
}

}  // namespace sardonyx::serve
