#include "page/live_page.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "model/values/error.h"
#include "page/page.h"
#include "platform/files/streams.h"
#include "platform/files/user_folders.h"
#include "platform/store/store.h"

namespace tune::page {
namespace {

constexpr auto kLastNews = std::chrono::seconds(2);

/// What the files held when they were last read.
class Followed {
 public:
  explicit Followed(const LiveRuns& runs) : runs_(&runs) {}

  bool changed() const { return sizes() != sizes_; }

  /// Files that are not there yet, or hold no spec yet, are left out; `left_out` is told why.
  std::vector<std::string> read(const std::function<void(const Error&)>& left_out = [](const Error&) {}) {
    sizes_ = sizes();
    std::vector<std::string> data;
    for (const std::filesystem::path& file : runs_->files) {
      try {
        for (const recording::Recording& recording : runs_->read(file)) data.push_back(runs_->data(recording));
      } catch (const Error& error) {
        left_out(error);
      }
    }
    return data;
  }

 private:
  std::vector<std::uintmax_t> sizes() const {
    std::vector<std::uintmax_t> all;
    std::error_code missing;
    for (const std::filesystem::path& file : runs_->files) all.push_back(std::filesystem::file_size(file, missing));
    return all;
  }

  const LiveRuns* runs_;
  std::vector<std::uintmax_t> sizes_;
};

std::string page_of(const LiveRuns& runs, Followed& followed) {
  const std::vector<std::string> data = followed.read();
  PageRules rules{runs.title, platform::utc_minute(), true, {}};
  platform::Hash hash;
  for (const std::string& run : data) hash.add(run);
  rules.nonce = hash.hex();
  return html(rules, data);
}

std::string news_of(Followed& followed) {
  std::string all = "[";
  for (const std::string& run : followed.read()) all += (all.size() > 1 ? "," : "") + run;
  return all + "]";
}

platform::ServedPage served(const LiveRuns& runs, Followed& followed, std::function<bool()> ended) {
  return {[&] { return page_of(runs, followed); }, [&] { return news_of(followed); },
          [&] { return followed.changed(); }, std::move(ended)};
}

std::string address_line(const platform::PageServer& server) { return "live: " + server.url(); }

bool is_closed(int pipe) {
  pollfd state{pipe, POLLIN, 0};
  return ::poll(&state, 1, 0) > 0;
}

std::pair<platform::Descriptor, platform::Descriptor> new_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ExitCode::environment, std::string("--live: ") + std::strerror(errno));
  return {platform::Descriptor(ends[0]), platform::Descriptor(ends[1])};
}

/// The first character tells success: `+` and the address, or the exit code's digit and the error.
[[noreturn]] void serve_for(pid_t run, const LiveRuns& runs, const platform::Address& address, int open, int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != run) ::_exit(0);
  for (const int signal : {SIGINT, SIGHUP, SIGTERM}) ::signal(signal, SIG_IGN);  // the run ends it
  [[maybe_unused]] const int ignored = ::nice(19);
  const platform::Descriptor said(answer);
  try {
    Followed followed(runs);
    platform::PageServer server(address, served(runs, followed, [open] { return is_closed(open); }));
    said.write("+" + address_line(server) + "\n");
    server.run();
  } catch (const Error& error) {
    said.write(std::to_string(static_cast<int>(error.code())) + error.what() + "\n");
  } catch (...) {
  }
  ::_exit(0);
}

std::string line_from(const platform::Descriptor& pipe) {
  std::string line;
  for (char c = 0; ::read(pipe.get(), &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

void serve(const LiveRuns& runs, const platform::Address& address) {
  Followed followed(runs);
  platform::PageServer server(address, served(runs, followed, [] { return false; }));
  platform::print_to_stderr(address_line(server));
  followed.read([](const Error& error) {
    platform::print_to_stderr(std::string("note: ") + error.what() + "; the page waits until it can be shown");
  });
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);  // it has nothing to finish
  server.run();
}

LivePage::LivePage(const LiveRuns& runs, const platform::Address& address) {
  auto [its_end, our_end] = new_pipe();
  auto [heard, said] = new_pipe();
  const pid_t run = ::getpid();
  process_ = ::fork();
  if (process_ < 0) throw Error(ExitCode::environment, std::string("--live: ") + std::strerror(errno));
  if (process_ == 0) {
    our_end.close();
    serve_for(run, runs, address, its_end.get(), said.release());
  }
  child_ = platform::StartedChild(process_);
  said.close();
  open_ = std::move(our_end);
  const std::string answer = line_from(heard);
  if (answer.starts_with('+')) {
    platform::print_to_stderr(answer.substr(1));
    return;
  }
  ::waitpid(process_, nullptr, 0);
  if (answer.empty()) throw Error(ExitCode::environment, "--live: the process of the page has ended");
  throw Error(answer[0] == '2' ? ExitCode::bad_input : ExitCode::environment, answer.substr(1));
}

LivePage::~LivePage() {
  open_.close();
  const auto limit = std::chrono::steady_clock::now() + kLastNews;
  while (::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > limit) ::kill(process_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace tune::page
