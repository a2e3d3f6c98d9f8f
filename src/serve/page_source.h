// The files of src/serve/page, which the build embeds.
#pragma once

namespace sardonyx::serve {

extern const char* const kPageStyle;
extern const char* const kPageBody;
extern const char* const kPageScript;

}  // namespace sardonyx::serve
