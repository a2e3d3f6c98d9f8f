// Makes the system call number FAULT_AT fail, of those by which a file is written (FAULT_OF=write)
// or read (FAULT_OF=read): with the error FAULT_ERRNO, or FAULT_SHORT (a part is written), or
// FAULT_KILL (the process is killed in front of it). How many were seen goes to FAULT_LOG.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kFiles = 1024 };
static char ours[kFiles];  // descriptors of files that are written, or read
static int seen = 0;

static int of_reading(void) {
  const char* of = getenv("FAULT_OF");
  return of != NULL && strcmp(of, "read") == 0;
}

static void log_seen(const char* call) {
  const char* path = getenv("FAULT_LOG");
  if (path == NULL) return;
  FILE* (*real)(const char*, const char*) = dlsym(RTLD_NEXT, "fopen");
  FILE* file = real(path, "a");
  if (file == NULL) return;
  fprintf(file, "%s\n", call);
  fclose(file);
}

// Whether this call is to fail; errno is set then. Where it is to be short, -1.
static int fails(const char* call) {
  const char* at = getenv("FAULT_AT");
  log_seen(call);
  if (at == NULL || seen++ != atoi(at)) return 0;
  if (getenv("FAULT_KILL") != NULL) kill(getpid(), SIGKILL);
  if (getenv("FAULT_SHORT") != NULL) return -1;
  const char* error = getenv("FAULT_ERRNO");
  errno = error != NULL ? atoi(error) : EIO;
  return 1;
}

static int concerns(const char* path, int flags) {
  if (of_reading()) {
    const size_t length = strlen(path);
    return (flags & O_ACCMODE) == O_RDONLY && length > 5 && strcmp(path + length - 5, ".onnx") == 0;
  }
  return (flags & O_ACCMODE) != O_RDONLY && strncmp(path, "/dev/", 5) != 0;
}

static int opened(const char* name, const char* path, int flags, mode_t mode) {
  int (*real)(const char*, int, ...) = dlsym(RTLD_NEXT, name);
  const int counts = concerns(path, flags);
  if (counts && fails("open") > 0) return -1;
  const int file = real(path, flags, mode);
  if (counts && file >= 0 && file < kFiles) ours[file] = 1;
  return file;
}

#define OPEN(name)                              \
  int name(const char* path, int flags, ...) {  \
    va_list rest;                               \
    va_start(rest, flags);                      \
    const mode_t mode = va_arg(rest, mode_t);   \
    va_end(rest);                               \
    return opened(#name, path, flags, mode);    \
  }
OPEN(open)
OPEN(open64)

static int is_ours(int file) { return file >= 0 && file < kFiles && ours[file]; }

ssize_t writev(int file, const struct iovec* parts, int count) {
  ssize_t (*real)(int, const struct iovec*, int) = dlsym(RTLD_NEXT, "writev");
  if (!is_ours(file) || of_reading()) return real(file, parts, count);
  const int failing = fails("writev");
  if (failing > 0) return -1;
  if (failing == 0) return real(file, parts, count);
  struct iovec part = parts[0];
  part.iov_len = part.iov_len > 1 ? part.iov_len / 2 : part.iov_len;
  return real(file, &part, 1);
}

void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  void* (*real)(void*, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
  if (of_reading() && is_ours(file) && fails("mmap") > 0) return MAP_FAILED;
  return real(address, length, protection, flags, file, offset);
}

int fstat(int file, struct stat* status) {
  int (*real)(int, struct stat*) = dlsym(RTLD_NEXT, "fstat");
  if (of_reading() && is_ours(file) && fails("fstat") > 0) return -1;
  return real(file, status);
}

int close(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "close");
  if (!is_ours(file)) return real(file);
  ours[file] = 0;
  const int failing = !of_reading() && fails("close") > 0;
  const int error = errno;
  const int result = real(file);  // the descriptor is gone even where close() fails
  errno = failing ? error : errno;
  return failing ? -1 : result;
}

#define PATHS(name, parameters, arguments)                                      \
  int name parameters {                                                         \
    int(*real) parameters = dlsym(RTLD_NEXT, #name);                            \
    return !of_reading() && fails(#name) > 0 ? -1 : real arguments;             \
  }
PATHS(fallocate, (int file, int mode, off_t offset, off_t length), (file, mode, offset, length))
PATHS(fallocate64, (int file, int mode, off64_t offset, off64_t length),
      (file, mode, offset, length))
PATHS(linkat, (int from, const char* old, int to, const char* path, int flags),
      (from, old, to, path, flags))
PATHS(rename, (const char* old, const char* path), (old, path))
PATHS(unlink, (const char* path), (path))
PATHS(fchmod, (int file, mode_t mode), (file, mode))
