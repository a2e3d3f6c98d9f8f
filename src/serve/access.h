// Who may use the server: those who know its address.
#pragma once

#include <string>
#include <string_view>

namespace sardonyx::serve {

// 32 hexadecimal digits from the system's source of random numbers.
std::string new_token();

// Takes the same time wherever two texts of one length differ.
bool is_same_token(std::string_view a, std::string_view b);

// Whether a request's Host header may be one of this server's: an address in numbers, "localhost",
// or the name that the user gave. With any other name a site elsewhere may have pointed it at this
// machine, to have a browser here read our pages for it (DNS rebinding).
bool is_own_host(std::string_view header, std::string_view own_name);

// Whether a request comes from our own page: browsers name another one's origin in each POST.
bool is_own_origin(std::string_view origin, std::string_view host);

// 127.0.0.0/8, ::1 or localhost.
bool is_loopback(std::string_view host);

}  // namespace sardonyx::serve
