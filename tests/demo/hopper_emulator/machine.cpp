#include "demo/hopper_emulator/machine.h"

#include <algorithm>
#include <cstring>

unsigned char memory[1];  // what the kernels declare; their addresses are those of the emulated block

namespace tune::hopper {
namespace {

constexpr std::size_t kStack = 32 << 10;
constexpr unsigned kRank = 24, kOffset = (1U << kRank) - 1;  // bits of an address

/// The same for each launch: to get new ones takes longer than a launch.
unsigned char* stack(std::size_t number) {
  static std::vector<std::unique_ptr<unsigned char[]>> stacks;
  while (stacks.size() <= number) stacks.push_back(std::make_unique_for_overwrite<unsigned char[]>(kStack));
  return stacks[number].get();
}

}  // namespace

std::vector<Kernel>& kernels() {
  static std::vector<Kernel> all;
  return all;
}

Machine::Machine(unsigned blocks, unsigned in_cluster, unsigned threads, std::size_t shared_bytes, unsigned seed)
    : clusters_(blocks / in_cluster), random_(seed) {
  unsigned index = 0;
  for (Cluster& cluster : clusters_)
    for (unsigned rank = 0; rank < in_cluster; ++rank) {
      Block& block = *cluster.blocks.emplace_back(std::make_unique<Block>());
      block.cluster = &cluster;
      block.rank = rank;
      block.index = {index++, 0, 0};
      block.size = {blocks, 1, 1};
      block.shared.assign(shared_bytes, 0xff);
      block.warps.resize(threads / 32);
      block.threads = threads;
      for (unsigned i = 0; i < threads; ++i) {
        Thread& thread = *threads_.emplace_back(std::make_unique<Thread>());
        thread.block = &block;
        thread.index = {i, 0, 0};
      }
    }
}

void Machine::enter() {
  Machine& machine = now();
  try {
    (*machine.kernel_)();
  } catch (const Fault& fault) {
    if (machine.fault_.empty()) machine.fault_ = fault.what();
  }
  machine.thread_->done = true;
  --machine.thread_->block->threads;
  machine.note_progress();
  machine.switch_away();
}

void Machine::switch_away() { swapcontext(&thread_->context, &scheduler_); }

// A thread that has just waited goes on once all others had their turn.
void Machine::run(const Act& kernel) {
  running_ = this;
  kernel_ = &kernel;
  std::size_t next = 0;
  for (const auto& thread : threads_) {
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = stack(next++);
    thread->context.uc_stack.ss_size = kStack;
    thread->context.uc_link = nullptr;
    makecontext(&thread->context, &Machine::enter, 0);
  }
  std::vector<Thread*> left;
  for (const auto& thread : threads_) left.push_back(thread.get());
  while (!left.empty()) {
    const std::uint64_t before = progress_;
    for (Thread* thread : left) {
      if (thread->condition != nullptr && !(*thread->condition)()) continue;
      thread_ = thread;
      swapcontext(&scheduler_, &thread->context);
      if (!fault_.empty()) throw Fault(fault_);
    }
    std::erase_if(left, [](const Thread* thread) { return thread->done; });
    if (!later_.empty())
      do_one_of_later();
    else if (progress_ == before && !left.empty())
      throw_stuck();
  }
  while (!later_.empty()) do_one_of_later();
  for (const auto& thread : threads_)
    if (!thread->stores.empty()) throw Fault("a block left before the TMA had read what it stores");
}

void Machine::do_one_of_later() {
  const std::size_t chosen = random_() % later_.size();
  const Act act = std::move(later_[chosen]);
  later_.erase(later_.begin() + static_cast<std::ptrdiff_t>(chosen));
  act();
  note_progress();
}

void Machine::throw_stuck() const {
  std::map<std::string, int> waiting;
  for (const auto& thread : threads_)
    if (!thread->done) ++waiting[thread->waits_for];
  std::string text = "all wait for ever:";
  for (const auto& [what, count] : waiting) text += " " + std::to_string(count) + " threads for " + what + ";";
  throw Fault(text);
}

void Machine::wait_until(const char* what, const std::function<bool()>& condition) {
  if (condition()) return;
  thread_->condition = &condition;
  let_others_run(what);
  thread_->condition = nullptr;
}

void Machine::let_others_run(const char* what) {
  thread_->waits_for = what;
  switch_away();
}

Block& Machine::block_of(unsigned address) {
  const auto& blocks = block().cluster->blocks;
  const unsigned rank = address >> kRank;
  if (rank >= blocks.size()) throw Fault("an address is in no block of the cluster");
  if (blocks[rank]->threads == 0) throw Fault("shared memory of a block that has left is used");
  return *blocks[rank];
}

unsigned char* Machine::at(unsigned address, std::size_t bytes) {
  Block& block = block_of(address);
  if ((address & kOffset) + bytes > block.shared.size()) throw Fault("shared memory beyond its end is used");
  return block.shared.data() + (address & kOffset);
}

Barrier& Machine::barrier(unsigned address) {
  const auto found = block_of(address).barriers.find(address & kOffset);
  if (found == block_of(address).barriers.end()) throw Fault("a barrier is used before it is made");
  return found->second;
}

void Machine::arrive(unsigned address) {
  Barrier& barrier = this->barrier(address);
  if (barrier.missing == 0) throw Fault("more arrive at a barrier than are expected");
  --barrier.missing;
  complete(address, 0);
}

void Machine::complete(unsigned address, int bytes) {
  Barrier& barrier = this->barrier(address);
  barrier.bytes -= bytes;
  note_progress();
  if (barrier.missing > 0 || barrier.bytes != 0) return;
  barrier.missing = barrier.expected;
  ++barrier.phase;
}

void Machine::arrive(Meeting& meeting, unsigned count) {
  now().note_progress();
  if (++meeting.arrived < count) return;
  meeting.arrived = 0;
  ++meeting.turn;
}

void Machine::meet(Meeting& meeting, unsigned count, const char* what) {
  const unsigned turn = meeting.turn;
  arrive(meeting, count);
  wait_until(what, [&] { return meeting.turn != turn; });
}

std::vector<int> Machine::columns_asked_for(const unsigned char* matrix) const {
  std::vector<int> columns;
  for (const auto& [of, x] : boxes_)
    if (of == matrix) columns.push_back(x);
  return columns;
}

// The copy belongs to the thread that asked for it, whose block tells where addresses are.
void load_box(const Map& map, int x, int y, unsigned to, unsigned barrier, unsigned blocks) {
  Machine& machine = Machine::now();
  machine.note_box(map.data, x);
  const Cluster& cluster = *machine.block().cluster;
  for (unsigned rank = 0; rank < cluster.blocks.size(); ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    machine.later([&machine, map, x, y, to = (to & kOffset) | rank << kRank,
                   barrier = (barrier & kOffset) | rank << kRank, thread = &machine.thread()] {
      machine.act_as(*thread);
      const int across = 128 / map.element;
      for (int row = 0; row < map.box_rows; ++row)
        for (int i = 0; i < across; ++i) {
          const bool inside = y + row >= 0 && y + row < map.rows && x + i < map.cols;
          const unsigned address = swizzled_address(to + static_cast<unsigned>(row * 128 + i * map.element));
          unsigned char* const cell = machine.at(address, static_cast<std::size_t>(map.element));
          const std::size_t from =
              (static_cast<std::size_t>(y + row) * static_cast<std::size_t>(map.ld) + static_cast<std::size_t>(x + i)) *
              static_cast<std::size_t>(map.element);
          if (inside)
            std::memcpy(cell, map.data + from, static_cast<std::size_t>(map.element));
          else
            std::memset(cell, 0, static_cast<std::size_t>(map.element));
        }
      machine.complete(barrier, map.box_rows * 128);
    });
  }
}

void store_box(const Map& map, int x, int y, unsigned from) {
  Machine& machine = Machine::now();
  const int across = 128 / map.element;
  for (int row = 0; row < map.box_rows && y + row < map.rows; ++row)
    for (int i = 0; i < across && x + i < map.cols; ++i) {
      const unsigned address = swizzled_address(from + static_cast<unsigned>(row * 128 + i * map.element));
      std::memcpy(map.data + (static_cast<std::size_t>(y + row) * static_cast<std::size_t>(map.ld) +
                              static_cast<std::size_t>(x + i)) *
                                 static_cast<std::size_t>(map.element),
                  machine.at(address, static_cast<std::size_t>(map.element)), static_cast<std::size_t>(map.element));
    }
}

void load_bytes(const void* from, int bytes, unsigned to, unsigned barrier) {
  Machine& machine = Machine::now();
  if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0 || bytes % 16 != 0 || to % 16 != 0)
    throw Fault("bytes are copied that do not begin or end at multiples of 16");
  machine.later([&machine, from, bytes, to, barrier, thread = &machine.thread()] {
    machine.act_as(*thread);
    std::memcpy(machine.at(to, static_cast<std::size_t>(bytes)), from, static_cast<std::size_t>(bytes));
    machine.complete(barrier, bytes);
  });
}

}  // namespace tune::hopper
