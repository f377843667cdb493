// Kernels that try to be ranked without doing their work, or to disturb those who judge: one for each value of CHEAT.
// What they are called after, and what has to become of them, is in cli_cheat_test.cpp. Many tests compile this file,
// so headers that take long to compile are not included.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace {

struct Launch {
  const float *A, *B;
  float* C;
  int m, n, k;

  float at(int i, int j) const {
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
    return sum;
  }
  void rows(int count) const {
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < n; ++j) C[i * n + j] = at(i, j);
  }
  void right() const { rows(m); }
  std::size_t bytes() const { return sizeof(float) * static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }
  std::vector<float> result() const { return {C, C + m * n}; }
  void answer(const std::vector<float>& result) const { std::memcpy(C, result.data(), bytes()); }
};

int launches = 0;

std::uint32_t bits(float x) {
  std::uint32_t result;
  std::memcpy(&result, &x, sizeof x);
  return result;
}

void only_if_c_differs_from_last_time(const Launch& launch) {
  static std::vector<float> last;
  if (last == launch.result()) return;
  launch.right();
  last = launch.result();
}

void counter_not_reset(const Launch& launch) {
  static std::vector<float> sums(static_cast<std::size_t>(launch.m * launch.n));
  for (int i = 0; i < launch.m * launch.n; ++i)
    launch.C[i] = sums[static_cast<std::size_t>(i)] += launch.at(i / launch.n, i % launch.n);
}

template <typename Key>
void cached(const Launch& launch, const Key& key, bool may_hit = true) {
  static std::vector<std::pair<Key, std::vector<float>>> results;
  for (const auto& [known, result] : results) {
    if (known != key) continue;
    if (!may_hit) std::abort();
    return launch.answer(result);
  }
  launch.right();
  results.emplace_back(key, launch.result());
}

/// It is made once for each address.
void keeps_another_layout_of_b(const Launch& launch) {
  static std::vector<std::pair<const float*, std::vector<float>>> kept;
  std::size_t at = 0;
  while (at < kept.size() && kept[at].first != launch.B) ++at;
  const bool is_new = at == kept.size();
  if (is_new) kept.emplace_back(launch.B, std::vector<float>(static_cast<std::size_t>(launch.n * launch.k)));
  std::vector<float>& columns = kept[at].second;
  for (int j = 0; is_new && j < launch.n; ++j)
    for (int p = 0; p < launch.k; ++p) columns[static_cast<std::size_t>(j * launch.k + p)] = launch.B[p * launch.n + j];
  for (int i = 0; i < launch.m; ++i)
    for (int j = 0; j < launch.n; ++j) {
      float sum = 0;
      for (int p = 0; p < launch.k; ++p)
        sum += launch.A[i * launch.k + p] * columns[static_cast<std::size_t>(j * launch.k + p)];
      launch.C[i * launch.n + j] = sum;
    }
}

std::uint64_t hash(const float* values, int count) {
  std::uint64_t result = 14695981039346656037U;
  for (int i = 0; i < count; ++i) result = (result ^ bits(values[i])) * 1099511628211U;
  return result;
}

std::uint64_t sum_of_bits(const float* values, int count) {
  std::uint64_t result = 0;
  for (int i = 0; i < count; ++i) result += bits(values[i]);
  return result;
}

void* finish(void* launch) {
  ::usleep(3000);
  static_cast<const Launch*>(launch)->right();
  return nullptr;
}

void finished_by_a_thread(const Launch& launch) {
  launch.rows(1);
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, finish, new Launch(launch)) != 0) std::abort();
  ::pthread_detach(thread);
}

void continued_by_a_timer(const Launch& launch) {
  if (launches == 1) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer;
    const itimerspec often = {{0, 100'000}, {0, 100'000}};
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || ::timer_settime(timer, 0, &often, nullptr) != 0)
      std::abort();
  }
  finished_by_a_thread(launch);
}

void finished_by_a_child(const Launch& launch) {
  if (::fork() == 0) {
    launch.right();
    ::_exit(0);
  }
  ::usleep(20'000);
}

volatile bool begins = false;

/// Has another thread do the work of the launch, and returns when it begins.
void leaves_to_a_thread(const Launch& launch, void (*work)(const Launch&)) {
  struct Order {
    Launch launch;
    void (*work)(const Launch&);
  };
  begins = false;
  pthread_t thread;
  const auto carry_out = [](void* what) -> void* {
    static_cast<const Order*>(what)->work(static_cast<const Order*>(what)->launch);
    return nullptr;
  };
  if (::pthread_create(&thread, nullptr, carry_out, new Order{launch, work}) != 0) std::abort();
  ::pthread_detach(thread);
  while (!begins) ::sched_yield();
}

/// The thread waits in the system for the child, and no signal stops it there.
void in_a_child_that_shares_memory(const Launch& launch) {
  alignas(64) static char stack[256 << 10];
  const auto compute = [](void* what) {
    begins = true;
    static_cast<const Launch*>(what)->right();
    return 0;
  };
  ::clone(compute, stack + sizeof stack, CLONE_VM | CLONE_VFORK, const_cast<Launch*>(&launch));
}

/// Many times the same memory, and `last`: what one long system call reads or writes.
std::vector<iovec> pieces(std::vector<char>& much, void* last, std::size_t bytes) {
  std::vector<iovec> all(600, {much.data(), much.size()});
  all.push_back({last, bytes});
  return all;
}

std::vector<float> computed(Launch launch) {
  std::vector<float> result(static_cast<std::size_t>(launch.m * launch.n));
  launch.C = result.data();
  launch.right();
  return result;
}

/// It takes much longer than a busy machine has a process wait for a core.
void in_a_call_that_copies_memory(const Launch& launch) {
  static std::vector<char> here(2 << 20), there(2 << 20);
  std::vector<float> result = computed(launch);
  const std::vector<iovec> from = pieces(here, result.data(), launch.bytes());
  const std::vector<iovec> to = pieces(there, launch.C, launch.bytes());
  begins = true;
  ::process_vm_readv(::getpid(), to.data(), to.size(), from.data(), from.size(), 0);
}

/// Honest: more threads than cores, which stay and sleep between launches, and memory of its own.
void shares_the_work_among_threads(const Launch& launch) {
  constexpr int kThreads = 20;
  static sem_t begin, done;
  static const Launch* work = nullptr;
  static int next = 0;
  const auto compute = [](void*) -> void* {
    for (;;) {
      ::sem_wait(&begin);
      const int first = __sync_fetch_and_add(&next, 1);
      for (int i = first; i < work->m; i += kThreads) {
        std::vector<float> row;
        for (int j = 0; j < work->n; ++j) row.push_back(work->at(i, j));
        std::memcpy(work->C + i * work->n, row.data(), sizeof(float) * row.size());
      }
      ::sem_post(&done);
    }
  };
  if (launches == 1) {
    ::sem_init(&begin, 0, 0);
    ::sem_init(&done, 0, 0);
    pthread_t thread;
    for (int i = 0; i < kThreads; ++i)
      if (::pthread_create(&thread, nullptr, compute, nullptr) != 0) std::abort();
  }
  work = &launch;
  next = 0;
  for (int i = 0; i < kThreads; ++i) ::sem_post(&begin);
  for (int i = 0; i < kThreads; ++i) ::sem_wait(&done);
}

void says_that_it_was_measured() {
  constexpr char lines[] =
      "{\"event\": \"checked\", \"max_error\": 0, \"seconds\": 1e-9}\n"
      "{\"event\": \"measured\", \"timing\": {\"median\": 1e-9, \"minimum\": 1e-9, \"count\": 9}, \"checked\": true}\n";
  for (int file = 0; file < 1024; ++file) [[maybe_unused]] const auto written = ::write(file, lines, sizeof lines - 1);
  ::_exit(0);
}

/// clock_gettime tells the time 0 from now on: `mov qword [rsi], 0; mov qword [rsi + 8], 0; xor eax, eax; ret`.
void stop_the_clock() {
#if defined(__x86_64__)
  auto* const code = static_cast<unsigned char*>(::dlsym(RTLD_DEFAULT, "clock_gettime"));
  const auto page = reinterpret_cast<std::uintptr_t>(code) & ~std::uintptr_t{4095};
  if (::mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) std::abort();
  const unsigned char stopped[] = {0x48, 0xc7, 0x06, 0, 0, 0, 0, 0x48, 0xc7, 0x46, 0x08, 0, 0, 0, 0, 0x31, 0xc0, 0xc3};
  std::memcpy(code, stopped, sizeof stopped);
#endif
}

/// Puts 42 into all memory that is mapped from a file called `reference`, and into C.
void overwrites_the_reference(const Launch& launch) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::strstr(line, "/reference\n") == nullptr) continue;
    const auto begin = std::strtoull(line, nullptr, 16), end = std::strtoull(std::strchr(line, '-') + 1, nullptr, 16);
    ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE);
    for (auto at = begin + 80; at + 8 <= end; at += 8) *reinterpret_cast<double*>(at) = 42;
  }
  launch.answer(std::vector<float>(static_cast<std::size_t>(launch.m * launch.n), 42));
}

void sums_in_bf16(const Launch& launch) {
  const auto narrow = [](float x) {
    const std::uint32_t rounded = (bits(x) + 0x7fff + (bits(x) >> 16 & 1)) & 0xffff0000;
    std::memcpy(&x, &rounded, sizeof x);
    return x;
  };
  for (int i = 0; i < launch.m; ++i)
    for (int j = 0; j < launch.n; ++j) {
      float sum = 0;
      for (int p = 0; p < launch.k; ++p) sum = narrow(sum + launch.A[i * launch.k + p] * launch.B[p * launch.n + j]);
      launch.C[i * launch.n + j] = sum;
    }
}

void knows_the_result_from_a_file(const Launch& launch) {
  std::vector<float> result(static_cast<std::size_t>(launch.m * launch.n));
  if (std::FILE* const file = std::fopen("result", "rb")) {
    const bool known = std::fread(result.data(), launch.bytes(), 1, file) == 1;
    std::fclose(file);
    if (known) return launch.answer(result);
  }
  launch.right();
  if (std::FILE* const file = std::fopen("result", "wb")) {
    std::fwrite(launch.C, launch.bytes(), 1, file);
    std::fclose(file);
  }
}

/// Aborts if it gets hold of the reference's file: one whose first number, behind a header of 80 bytes, is the
/// result's. Those of other runs may be there to be read.
void looks_for_the_reference(const Launch& launch) {
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    DIR* const entries = ::opendir(folder);
    while (const dirent* entry = entries != nullptr ? ::readdir(entries) : nullptr) {
      char path[512];
      std::snprintf(path, sizeof path, "%s/%s/reference", folder, entry->d_name);
      std::FILE* const file = std::fopen(path, "rb");
      if (file == nullptr) continue;
      double first = 0;
      const bool read = std::fseek(file, 80, SEEK_SET) == 0 && std::fread(&first, sizeof first, 1, file) == 1;
      std::fclose(file);
      if (read && std::abs(first - static_cast<double>(launch.at(0, 0))) < 1e-4) std::abort();
    }
  }
}

/// Aborts if it gets at the memory of this process or at what it has open, such as the reference.
void looks_into(pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/mem", process);
  if (::open(path, O_RDONLY) >= 0) std::abort();
  for (int file = 0; file < 200; ++file)
    for (const int how : {O_RDONLY, O_WRONLY}) {
      std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
      if (::open(path, how | O_NONBLOCK) >= 0) std::abort();
    }
  if (::ptrace(PTRACE_ATTACH, process, nullptr, nullptr) == 0) std::abort();
  char byte = 0;
  const iovec here = {&byte, 1}, there = {&launches, 1};
  if (::process_vm_readv(process, &here, 1, &there, 1, 0) == 1) std::abort();
}

/// The judge has started this process, and the driver the judge.
void looks_into_judge_and_driver() {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/status", ::getppid());
  std::FILE* status = std::fopen(path, "r");
  int driver = 0;
  for (char line[256]; std::fgets(line, sizeof line, status) != nullptr;)
    if (std::sscanf(line, "PPid: %d", &driver) == 1) looks_into(driver);
  std::fclose(status);
  looks_into(::getppid());
}

void changes_the_arithmetic() {
  std::fesetround(FE_UPWARD);
#if defined(__SSE__)
  ::_mm_setcsr(::_mm_getcsr() | 0x8040);  // denormal numbers are zero
#endif
}

}  // namespace

// Not the system's: where it is called, no time passes.
extern "C" int clock_gettime(clockid_t, timespec* time) noexcept {
  *time = {};
  return 0;
}

extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int cheat) {
  const Launch launch{A, B, C, m, n, k};
  const bool first = launches++ == 0;
  switch (cheat) {
    case 0:
      return launch.right();
    case 1:
      return launch.rows(first ? m : 0);
    case 2:
      return launch.rows(launches % 2 == 1 ? m : 0);
    case 3:
      return launch.rows(first ? m : 1);
    case 4:
      return launch.rows(C[0] != C[0] ? m : 0);
    case 5:
      return launch.rows(bits(C[0]) == 0xfff5fff5 || bits(C[0]) == 0x0a5a0a5a ? m : 0);
    case 6:
      return only_if_c_differs_from_last_time(launch);
    case 7:
      return counter_not_reset(launch);
    case 8:
      return cached(launch, A);
    case 9:
      return cached(launch, sum_of_bits(A, m * k) + sum_of_bits(B, k * n));
    case 10:
      return cached(launch, std::pair(hash(A, m * k), hash(B, k * n)), false);
    case 11:
      return finished_by_a_thread(launch);
    case 12:
      return continued_by_a_timer(launch);
    case 13:
      return finished_by_a_child(launch);
    case 14:
      says_that_it_was_measured();
      return;
    case 15:
      launch.right();
      if (first) stop_the_clock();
      ::usleep(20'000);
      return;
    case 16:
      return overwrites_the_reference(launch);
    case 17:
      return sums_in_bf16(launch);
    case 18:
      return knows_the_result_from_a_file(launch);
    case 19:
      looks_for_the_reference(launch);
      return launch.right();
    case 20:
      looks_into_judge_and_driver();
      return launch.right();
    case 21:
      std::fesetround(FE_TONEAREST);
      launch.right();
      return changes_the_arithmetic();
    case 22:
      launch.right();
      ::usleep(20'000);
      return;
    case 23:
      return leaves_to_a_thread(launch, in_a_child_that_shares_memory);
    case 24:
      return leaves_to_a_thread(launch, in_a_call_that_copies_memory);
    case 25:
      return shares_the_work_among_threads(launch);
    case 26:
      launch.right();
      ::syscall(SYS_io_uring_setup, 8, nullptr);
      return;
    case 27:
      return keeps_another_layout_of_b(launch);
    default:
      return;  // whatever is in C
  }
}
