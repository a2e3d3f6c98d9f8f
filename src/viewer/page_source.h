// The files of src/viewer/page, which the build embeds.
#pragma once

namespace sardonyx::viewer {

extern const char* const kPageStyle;
extern const char* const kPageBody;
extern const char* const kPageScript;

}  // namespace sardonyx::viewer
