#include "serve/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <cstdint>
#include <random>

namespace sardonyx::serve {
namespace {

// "127.0.0.1:80" -> "127.0.0.1", "[::1]:80" -> "::1"
std::string_view without_port(std::string_view header) {
  if (header.starts_with('[')) {
    const std::size_t end = header.find(']');
    return end == std::string_view::npos ? std::string_view() : header.substr(1, end - 1);
  }
  return header.substr(0, header.find(':'));
}

bool is_number(std::string_view host) {
  const std::string text(host);
  in6_addr address = {};
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

}  // namespace

std::string new_token() {
  std::random_device source;  // getrandom() or the processor's own
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", static_cast<std::uint32_t>(source()));
  return token;
}

bool is_same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differing |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differing == 0;
}

bool is_own_host(std::string_view header, std::string_view own_name) {
  const std::string_view host = without_port(header);
  return !host.empty() && (is_number(host) || host == "localhost" || host == own_name);
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  return origin.empty() || origin == fmt::format("http://{}", host);
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_number(host));
}

}  // namespace sardonyx::serve
