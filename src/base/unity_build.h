// Names that most files of a layer have for themselves. Where several files are compiled as one
// (SARDONYX_JOIN), CMake's name of the file makes each file's names distinct.
#pragma once

#define SARDONYX_JOINED_NAME_(name, file) name##_##file
#define SARDONYX_JOINED_NAME(name, file) SARDONYX_JOINED_NAME_(name, file)

#define kEntries SARDONYX_JOINED_NAME(kEntries, SARDONYX_FILE)
#define kRows SARDONYX_JOINED_NAME(kRows, SARDONYX_FILE)
#define kRules SARDONYX_JOINED_NAME(kRules, SARDONYX_FILE)
