// Prints what CUDA contexts cost: the seconds that a process takes to open one and to end with it, when each process
// ends as soon as it has opened it, and when all stay until the last one has.
//   bench_contexts [PROCESSES [AT_ONCE]]
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

/// A process that opens a context, says so, and ends when it is told to.
struct Opener {
  pid_t process = -1;
  int opened = -1;  ///< can be read once the context is there
  int end = -1;     ///< to be closed when the process shall end
};

[[noreturn]] void open_context(int opened, int end) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  const bool works = cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
                     cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS &&
                     cuCtxSetCurrent(context) == CUDA_SUCCESS;
  char byte = works ? 1 : 0;
  if (::write(opened, &byte, 1) == 1) static_cast<void>(::read(end, &byte, 1));
  std::exit(0);
}

Opener start(const std::vector<Opener>& others) {
  int opened[2], end[2];
  if (::pipe(opened) != 0 || ::pipe(end) != 0) std::perror("pipe"), std::exit(1);
  const pid_t process = ::fork();
  if (process < 0) std::perror("fork"), std::exit(1);
  if (process == 0) {
    // Whoever holds the other end of one's pipe keeps it from ending.
    for (const Opener& other : others) ::close(other.end);
    ::close(end[1]);
    open_context(opened[1], end[0]);
  }
  ::close(opened[1]);
  ::close(end[0]);
  return {process, opened[0], end[1]};
}

void wait_until_open(const Opener& opener) {
  char works = 0;
  if (::read(opener.opened, &works, 1) == 1 && works == 1) return;
  std::fprintf(stderr, "a process could not open a CUDA context\n");
  std::exit(1);
}

void tell_to_end(Opener& opener) {
  ::close(opener.end);
  opener.end = -1;
}

void wait_until_ended(const Opener& opener) {
  ::waitpid(opener.process, nullptr, 0);
  ::close(opener.opened);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void bench_ending_at_once(int processes, int at_once) {
  const double begin = seconds_now();
  std::vector<Opener> openers;
  for (int next = 0; next < processes; next += at_once) {
    openers.clear();
    for (int i = next; i < std::min(processes, next + at_once); ++i) openers.push_back(start(openers));
    for (Opener& opener : openers) {
      wait_until_open(opener);
      tell_to_end(opener);
    }
    for (const Opener& opener : openers) wait_until_ended(opener);
  }
  std::printf("each ends when it has opened: %5.1f ms a process\n", 1e3 * (seconds_now() - begin) / processes);
}

void bench_parked(int processes, int at_once) {
  const double begin = seconds_now();
  std::vector<Opener> openers;
  for (int next = 0; next < processes; next += at_once) {
    const int last = std::min(processes, next + at_once);
    for (int i = next; i < last; ++i) openers.push_back(start(openers));
    for (int i = next; i < last; ++i) wait_until_open(openers[static_cast<std::size_t>(i)]);
  }
  const double opened = seconds_now();
  for (Opener& opener : openers) tell_to_end(opener);
  for (const Opener& opener : openers) wait_until_ended(opener);
  const double ended = seconds_now();
  std::printf("all end when all have opened: %5.1f ms a process, of it %.1f to end\n",
              1e3 * (ended - begin) / processes, 1e3 * (ended - opened) / processes);
}

}  // namespace

int main(int count, char** arguments) {
  const int processes = count > 1 ? std::atoi(arguments[1]) : 60;
  const int at_once = count > 2 ? std::atoi(arguments[2]) : 4;
  if (processes < 1 || at_once < 1) {
    std::fprintf(stderr, "usage: bench_contexts [PROCESSES [AT_ONCE]]\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (int repeat = 0; repeat < 2; ++repeat) {
    bench_ending_at_once(processes, at_once);
    bench_parked(processes, at_once);
  }
}
