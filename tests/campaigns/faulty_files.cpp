// A library to start `tune` with (LD_PRELOAD): calls that concern files below FAULTS_ROOT fail, fall short or take
// long, as FAULTS_SEED says. FAULTS_KIND: `once` one call, `some` one of ten, `full` all that need room from some call
// on, `readonly` all that change something. Only programs whose name begins with FAULTS_PROGRAM are concerned. Each
// fault is a line in FAULTS_LOG.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum class Fault { none, fail, fall_short, delay };

struct Decision {
  Fault fault = Fault::none;
  int error = 0;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string link_target(const std::string& link) {
  char target[4096];
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  return {target, size < 0 ? 0 : static_cast<std::size_t>(size)};
}

std::uint64_t mixed(std::uint64_t x) {  // SplitMix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// What the environment asks for, read once.
struct Plan {
  std::string root = variable("FAULTS_ROOT"), kind = variable("FAULTS_KIND"), log = variable("FAULTS_LOG");
  std::uint64_t seed = std::strtoull(variable("FAULTS_SEED").c_str(), nullptr, 10);
  std::uint64_t first = mixed(seed) % 50;  // about as many calls as a run makes
  bool on = false;
  std::atomic<std::uint64_t> calls = 0;

  Plan() {
    const std::string self = link_target("/proc/self/exe"), program = variable("FAULTS_PROGRAM");
    const std::string name = self.substr(self.rfind('/') + 1);
    on = !root.empty() && !program.empty() &&
         (program.back() == '*' ? name.starts_with(program.substr(0, program.size() - 1)) : name == program);
  }
};

Plan& plan() {
  static Plan* the_plan = new Plan;  // outlives every destructor that still writes
  return *the_plan;
}

bool concerns(const std::string& path) {
  return plan().on && (path.empty() || path[0] != '/' || path.starts_with(plan().root));
}
bool concerns(int fd) {
  return plan().on && link_target("/proc/self/fd/" + std::to_string(fd)).starts_with(plan().root);
}

void note(const char* call, const std::string& what, const Decision& decision) {
  const long log = ::syscall(SYS_openat, AT_FDCWD, plan().log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0) return;
  const char* fault = decision.fault == Fault::fail    ? std::strerror(decision.error)
                      : decision.fault == Fault::delay ? "slow"
                                                       : "short";
  const std::string line = std::string(call) + " " + what + ": " + fault + "\n";
  ::syscall(SYS_write, log, line.data(), line.size());
  ::syscall(SYS_close, log);
}

/// `errors` may come from this call; `changes` says that it needs a disk that can be written, `grows` one with room.
Decision decide(const char* call, const std::string& what, std::vector<int> errors, bool changes, bool grows) {
  const std::uint64_t number = plan().calls++, chance = mixed(plan().seed * 1'000'003 + number);
  Decision decision;
  if (plan().kind == "full" && grows && number >= plan().first)
    decision = {Fault::fail, ENOSPC};
  else if (plan().kind == "readonly" && changes && number >= plan().first)
    decision = {Fault::fail, EROFS};
  else if ((plan().kind == "once" && number == plan().first) || (plan().kind == "some" && chance % 10 == 0))
    decision = {Fault::fail, errors[chance / 16 % errors.size()]};
  if (decision.error < 0) decision = {decision.error == -1 ? Fault::fall_short : Fault::delay, 0};
  if (decision.fault != Fault::none) note(call, what, decision);
  if (decision.fault == Fault::delay) ::usleep(20'000);
  if (decision.fault == Fault::fail) errno = decision.error;
  return decision;
}

constexpr int kShort = -1, kSlow = -2;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool opening_fails(const char* path, int flags) {
  if (!concerns(std::string(path))) return false;
  const bool changes = (flags & O_ACCMODE) != O_RDONLY;
  std::vector<int> errors = {EIO, EMFILE, kSlow};
  if (changes) errors.insert(errors.end(), {ENOSPC, EROFS, EACCES});
  return decide("open", path, errors, changes, (flags & O_CREAT) != 0).fault == Fault::fail;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

/// How many bytes to write; -1: it fails.
ssize_t allowed(const char* call, int fd, std::size_t size) {
  if (!concerns(fd)) return static_cast<ssize_t>(size);
  const Decision decision = decide(call, link_target("/proc/self/fd/" + std::to_string(fd)),
                                   {ENOSPC, EIO, EINTR, EDQUOT, kShort, kShort, kSlow}, true, true);
  if (decision.fault == Fault::fail) return -1;
  return static_cast<ssize_t>(decision.fault == Fault::fall_short ? (size + 1) / 2 : size);
}

bool fails(const char* call, const std::string& path, std::vector<int> errors, bool grows) {
  return concerns(path) && decide(call, path, std::move(errors), true, grows).fault == Fault::fail;
}
bool fails(const char* call, int fd, std::vector<int> errors, bool changes) {
  return concerns(fd) &&
         decide(call, link_target("/proc/self/fd/" + std::to_string(fd)), std::move(errors), changes, changes).fault ==
             Fault::fail;
}

}  // namespace

#pragma GCC diagnostic ignored "-Wpedantic"
extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opening_fails(path, flags) ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opening_fails(path, flags) ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

FILE* fopen64(const char* path, const char* mode) {
  if (opening_fails(path, *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT)) return nullptr;
  return next<decltype(&fopen64)>("fopen64")(path, mode);
}

FILE* fopen(const char* path, const char* mode) {
  if (opening_fails(path, *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT)) return nullptr;
  return next<decltype(&fopen)>("fopen")(path, mode);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  const ssize_t most = allowed("write", fd, size);
  return most < 0 ? -1 : ::syscall(SYS_write, fd, bytes, most);
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  const ssize_t most = allowed("pwrite", fd, size);
  return most < 0 ? -1 : ::syscall(SYS_pwrite64, fd, bytes, most, at);
}

ssize_t writev(int fd, const iovec* parts, int count) {
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  const ssize_t most = allowed("writev", fd, size);
  if (most < 0) return -1;
  if (static_cast<std::size_t>(most) == size) return ::syscall(SYS_writev, fd, parts, count);
  return ::syscall(SYS_write, fd, parts[0].iov_base, std::min(parts[0].iov_len, static_cast<std::size_t>(most)));
}

int rename(const char* from, const char* to) {
  if (fails("rename", to, {ENOSPC, EROFS, EIO, kSlow}, true)) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int fsync(int fd) {
  if (fails("fsync", fd, {EIO, ENOSPC, kSlow}, true)) return -1;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
  if (fails("fdatasync", fd, {EIO, ENOSPC, kSlow}, true)) return -1;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

// The descriptor is gone whatever close says.
int close(int fd) {
  const bool failed = fails("close", fd, {EIO, EINTR, ENOSPC}, false);
  const int error = errno;
  const int result = static_cast<int>(::syscall(SYS_close, fd));
  if (failed) errno = error;
  return failed ? -1 : result;
}

int mkdir(const char* path, mode_t mode) {
  if (fails("mkdir", path, {ENOSPC, EROFS, EIO, EACCES}, true)) return -1;
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int unlink(const char* path) {
  if (fails("unlink", path, {EROFS, EIO}, false)) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int unlinkat(int folder, const char* path, int flags) {
  if (fails("unlinkat", path, {EROFS, EIO}, false)) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}

int ftruncate64(int fd, off64_t size) {
  if (fails("ftruncate", fd, {EIO, EROFS}, true)) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}

int ftruncate(int fd, off_t size) {
  if (fails("ftruncate", fd, {EIO, EROFS}, true)) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}
}
