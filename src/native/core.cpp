// The pool of threads of core.hpp. See there.
#include "core.hpp"

#include <atomic>
#include <cctype>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#endif

namespace tractable {
namespace blas {
Dgemm dgemm;
Sgemm sgemm;
}  // namespace blas

namespace pool {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// A caller works so long alone before it wakes others: waking them takes some microseconds of its own.
constexpr auto ALONE = microseconds(15);
// A thread without work looks for more so long before it sleeps.
constexpr auto AWAKE = microseconds(10);
// Between two looks at Ctrl-C.
constexpr auto LOOK = microseconds(50'000);

void (*between)() = nullptr;

namespace {

struct Job {
  Task task;
  void* body;
  Index tasks;
  int most = 0;  // helpers, once it is posted
  std::atomic<Index> next{0};
  std::atomic<bool> stop{false};
  std::atomic<int> helpers{0};  // changed under the pool's lock
  bool asked = false, posted = false;
  std::exception_ptr error{};
  Index failed = 0;  // the task that threw it: the first of those that did
  std::condition_variable left{};
  Job* after = nullptr;
  Clock::time_point called{}, looked{};
  std::fenv_t environment{};  // rounding, and whether the tiniest numbers are zero: as the caller has it

  bool open() const { return next.load(std::memory_order_relaxed) < tasks && !stop.load(std::memory_order_relaxed); }
};

// The job that this thread works on, whether it called it, and whether it may ask for help.
struct Here {
  Job* job = nullptr;
  bool caller = false;
};
thread_local Here here;
thread_local bool alone = false;

struct Pool {
  std::mutex lock;
  std::condition_variable wake;
  Job* jobs = nullptr;  // that others may help with
  std::atomic<unsigned> posts{0};
  int workers = 0, asleep = 0;
  std::atomic<int> callers{0};  // in `run`, and not parked

  Job* pick() {  // the job that has the fewest helpers
    Job* found = nullptr;
    for (Job* j = jobs; j; j = j->after)
      if (j->helpers < j->most && j->open() && (!found || j->helpers < found->helpers)) found = j;
    return found;
  }
  void fail(Job& job, Index i) {
    std::lock_guard held(lock);
    if (!job.error || i < job.failed) job.error = std::current_exception(), job.failed = i;
    job.stop = true;
  }
  void work(Job& job) {
    for (Index i; !job.stop.load(std::memory_order_relaxed) && (i = job.next.fetch_add(1)) < job.tasks;) {
      try {
        job.task(job.body, i);
      } catch (...) {
        fail(job, i);
      }
    }
  }
  void wake_some() {  // each that wakes, wakes two
    for (int i = 0; i < std::min(asleep, 2); ++i) wake.notify_one();
  }
  void serve() {
    std::unique_lock held(lock);
    for (;;) {
      Job* job = pick();
      if (!job) {
        unsigned seen = posts;
        held.unlock();
        for (auto until = Clock::now() + AWAKE; posts == seen && Clock::now() < until;) std::this_thread::yield();
        held.lock();
        if (!(job = pick())) {
          ++asleep;
          wake.wait(held);
          --asleep;
          continue;
        }
      }
      ++job->helpers;
      if (pick()) wake_some();
      held.unlock();
      std::fesetenv(&job->environment);
      here = {job, false};
      work(*job);
      here = {};
      held.lock();
      if (--job->helpers == 0) job->left.notify_one();  // under the lock: the job is gone once its caller has it
    }
  }
  void post(Job& job) {
    job.posted = true;
    std::lock_guard held(lock);
    job.most = int(std::min<Index>(job.most, job.tasks - job.next));
    job.after = jobs, jobs = &job;
    ++posts;
    while (workers < job.most && start()) ++workers;
    wake_some();
  }
  bool start() {
#ifndef _WIN32  // signals are for Python's threads
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
#endif
    bool started = true;
    try {
      std::thread([this] { serve(); }).detach();
    } catch (...) {  // the process may have no more: fewer do the work
      started = false;
    }
#ifndef _WIN32
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
    return started;
  }
  void finish(Job& job) {
    if (!job.posted) return;
    std::unique_lock held(lock);
    Job** at = &jobs;
    while (*at != &job) at = &(*at)->after;
    *at = job.after;
    held.unlock();
    for (auto until = Clock::now() + 2 * AWAKE; job.helpers && Clock::now() < until;) std::this_thread::yield();
    held.lock();
    job.left.wait(held, [&] { return job.helpers == 0; });
  }
};

// Never deleted: threads may sleep in it while the process exits. A child has a new one.
std::atomic<Pool*> the_pool{nullptr};
std::atomic<bool> closing{false};
std::thread::id closer;

void after_fork() {  // a child has none of the threads, and may have caught the lock held
  the_pool = new Pool;
  here = {}, alone = false;
}

Pool& get_pool() {
  if (Pool* known = the_pool.load(std::memory_order_acquire)) return *known;
  Pool *made = new Pool, *none = nullptr;
  if (!the_pool.compare_exchange_strong(none, made)) {
    delete made;
    return *none;
  }
#ifndef _WIN32
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, after_fork); });
#endif
  return *made;
}

// Whether the process exits, and this thread is none that works any more.
bool ends_here() { return closing.load(std::memory_order_acquire) && std::this_thread::get_id() != closer; }

void park_at_exit(Pool& pool) {
  if (ends_here()) {
    --pool.callers;
    park();
  }
}

// ------------------------------------------------------------------------------------------ number of threads

constexpr int MOST_LIMITS = 16;

std::atomic<int> set{0}, asked{0}, allowed{0}, cores{1}, limits{0};
std::atomic<int (*)()> limit[MOST_LIMITS];

// The whole number from 1 that a text holds, or 0.
int positive(const std::string& text) {
  size_t begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  if (begin == std::string::npos || end - begin > 8) return 0;
  int n = 0;
  for (size_t i = begin; i <= end; ++i) {
    if (text[i] < '0' || text[i] > '9') return 0;
    n = 10 * n + (text[i] - '0');
  }
  return n;
}

}  // namespace

bool read_variables() {
  const char *own = std::getenv("TRACTABLE_NUM_THREADS"), *others = std::getenv("OMP_NUM_THREADS");
  int n = own ? positive(own) : 0;
  asked.store(n, std::memory_order_relaxed);
  std::string outermost = others ? others : "";  // "4,2" is four, at the outermost level
  allowed.store(positive(outermost.substr(0, outermost.find(','))), std::memory_order_relaxed);
  return n || !own || std::string(own).find_first_not_of(" \t\n") == std::string::npos;
}

void set_threads(int n) { set = n; }

void set_cores(int n) { cores = std::max(n, 1); }

void add_limit(int (*found)()) {
  if (int at = limits; at < MOST_LIMITS) limit[at] = found, limits = at + 1;  // Python's lock is held
}

int threads() {
  if (alone) return 1;
  if (int n = set.load(std::memory_order_relaxed)) return n;
  if (int n = asked.load(std::memory_order_relaxed)) return n;
  int n = cores.load(std::memory_order_relaxed), most = allowed.load(std::memory_order_relaxed);
  if (most) n = std::min(n, most);
  for (int i = 0; i < limits; ++i) n = std::min(n, limit[i].load()());
  return std::max(n, 1);
}

void work_alone() { alone = true; }

// ------------------------------------------------------------------------------------------------------- jobs

bool go_on() {
  Here at = here;
  if (at.caller) {
    auto now = Clock::now();
    if (!at.job->asked && now - at.job->called > ALONE) {
      at.job->asked = true;
      at.job->most = closing ? 0 : threads() - 1;
      if (at.job->most > 0) get_pool().post(*at.job);
    }
    if (now - at.job->looked > LOOK) {
      at.job->looked = now;
      if (between) between();
    }
  }
  if (at.job && ends_here()) at.job->stop = true;
  return !at.job || !at.job->stop.load(std::memory_order_relaxed);
}

void run(Index tasks, Task task, void* body) {
  if (here.job || tasks <= 0) {  // inside another
    for (Index i = 0; i < tasks; ++i) task(body, i);
    return;
  }
  Pool& pool = get_pool();
  Job job{task, body, tasks};
  std::fegetenv(&job.environment);
  job.called = job.looked = Clock::now();
  ++pool.callers;
  park_at_exit(pool);
  here = {&job, true};
  pool.work(job);
  here = {};
  pool.finish(job);
  park_at_exit(pool);
  --pool.callers;
  if (job.error) std::rethrow_exception(job.error);
}

void run_in_order(Index slots, Slot fill, Slot merge, void* body) {
  struct Call {
    Slot fill, merge;
    void* body;
    std::mutex lock{};
    Index filled[SLOTS + 1]{};  // the buffer of a slot, from 1 on, once it is filled
    Index spare[SLOTS]{};
    Index spares = 0, used = 0, merged = 0;
    bool merging = false;
  } call{fill, merge, body};
  run(slots, [](void* given, Index slot) {
    auto& c = *static_cast<Call*>(given);
    std::unique_lock held(c.lock);
    Index buffer = c.spares ? c.spare[--c.spares] : c.used++;
    held.unlock();
    c.fill(c.body, slot, buffer);
    held.lock();
    c.filled[slot] = buffer + 1;
    if (c.merging) return;  // who merges now, sees it
    c.merging = true;
    while (c.filled[c.merged]) {
      Index at = c.merged, next = c.filled[at] - 1;
      held.unlock();
      c.merge(c.body, at, next);
      held.lock();
      c.filled[at] = 0;
      c.spare[c.spares++] = next;
      ++c.merged;
    }
    c.merging = false;
  }, &call);
}

void park() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void close() {
  closer = std::this_thread::get_id();
  closing = true;
  Pool* pool = the_pool;
  for (int i = 0; pool && pool->callers && i < 2000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace pool
}  // namespace tractable
