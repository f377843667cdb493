#include "exec/device/device_lock.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "platform/files/log.h"

namespace tune::exec {
namespace {

// The bytes of the file that stand for the right to launch, and for the use of the device, which is shared by those who
// open it. The byte after each stands for the right to be next. The locks belong to the open file and end with it,
// whatever happens to its process.
constexpr int kLaunch = 0, kUse = 2;

constexpr std::size_t kLongestHolder = 200;  // bytes of the text that says who holds one of the two
constexpr off_t kTextOfUse = 256;            // where the text of the use begins; that of the launch comes first
constexpr std::size_t kLongestWork = 80;

off_t text_of(int byte) { return byte == kUse ? kTextOfUse : 0; }

bool set(const platform::Descriptor& file, int byte, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return ::fcntl(file.get(), F_OFD_SETLK, &range) == 0;
}

// The first attempt is without O_CREAT, because systems do not let users open files of others in /tmp with it.
platform::Descriptor open_shared(const std::filesystem::path& path) {
  for (int tries = 0; tries < 3; ++tries) {
    platform::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (file || errno != ENOENT) return file;
    file = platform::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file) ::fchmod(file.get(), 0666);
    if (file || errno != EEXIST) return file;
  }
  return platform::Descriptor();
}

// We write to the file, and anyone could put something else there, such as a second name of one of our own files.
bool is_plain(const platform::Descriptor& file) {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1;
}

std::string user_name() {
  std::array<char, 4096> room{};
  passwd entry{}, *found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, room.data(), room.size(), &found);
  return found ? found->pw_name : std::to_string(::geteuid());
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 16> text{};
  ::localtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
  return text.data();
}

}  // namespace

DeviceLock::DeviceLock(const std::filesystem::path& folder, const std::string& device_id, const std::string& work)
    : user_and_work_(" user " + user_name() + (work.empty() ? "" : ", " + work.substr(0, kLongestWork))) {
  if (device_id.empty()) return;
  const auto path = folder / ("tune-" + device_id + ".lock");
  file_ = open_shared(path);
  if (!file_) problem_ = path.string() + " cannot be opened: " + std::strerror(errno);
  if (!file_ || is_plain(file_)) return;
  problem_ = path.string() + " is not a regular file with a single hard link; remove it";
  file_.close();
}

bool DeviceLock::acquire(int byte, short type, bool& next) {
  if (!file_) return true;
  next = next || set(file_, byte + 1, F_WRLCK);
  if (!next || !set(file_, byte, type)) {
    waits_for_ = byte;
    if (errno == EAGAIN || errno == EACCES) return false;  // another process holds it
    platform::log(std::string("no turns with other runs, the lock of a device fails: ") + std::strerror(errno));
    file_.close();
    return true;
  }
  set(file_, byte + 1, F_UNLCK);
  next = false;
  std::string holder = our_name() + user_and_work_ + ", since " + time_of_day();
  holder.resize(std::min(holder.size(), kLongestHolder - 1));
  holder += '\n';
  if (::pwrite(file_.get(), holder.data(), holder.size(), text_of(byte)) != static_cast<ssize_t>(holder.size()))
    platform::log("cannot write to the lock of a device");
  return true;
}

bool DeviceLock::take() {
  taken_ = taken_ || acquire(kLaunch, F_WRLCK, next_);
  return taken_;
}

void DeviceLock::release() {
  if (file_ && next_) set(file_, kLaunch + 1, F_UNLCK);
  if (file_ && taken_) set(file_, kLaunch, F_UNLCK);
  next_ = taken_ = false;
}

bool DeviceLock::begin(Use use) {
  if (use_ == Use::timing) return use == Use::timing;
  if (!acquire(kUse, use == Use::timing ? F_WRLCK : F_RDLCK, next_use_)) return false;
  use_ = use;
  return true;
}

void DeviceLock::end(Use use) {
  if (file_ && std::exchange(next_use_, false)) set(file_, kUse + 1, F_UNLCK);
  if (use_ != use) return;
  if (file_) set(file_, kUse, F_UNLCK);
  use_.reset();
}

std::string DeviceLock::our_name() { return "tune, pid " + std::to_string(::getpid()) + ","; }

// Every user can write to the file, so its text is cut and cleaned.
std::string DeviceLock::holder() const {
  std::array<char, kLongestHolder> text{};
  const ssize_t size = !file_ ? 0 : ::pread(file_.get(), text.data(), text.size(), text_of(waits_for_));
  std::string holder(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  holder.resize(std::min({holder.size(), holder.find('\n'), holder.find('\0')}));
  std::ranges::replace_if(
      holder, [](char c) { return c < ' ' || c > '~'; }, '?');
  return holder;
}

}  // namespace tune::exec
