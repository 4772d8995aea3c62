// The pool as a plain program, for the sanitizers: callers at once, nested calls, errors, forks, changes of number.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../src/native/core.hpp"

using namespace tractable;

struct Sum {
  double value = 0.0;
  void clear() { value = 0.0; }
  void operator+=(const Sum& other) { value += other.value; }
};

static double harmonic(Index n, Index block, Index inside = 0) {
  Sum total;
  parallel_sum(n, block, 1, total, [] { return Sum(); }, [&](Sum& into, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) into.value += 1.0 / (1.0 + i);
    if (inside) into.value += harmonic(inside, 7);
  });
  return total.value;
}

static void require(bool right, const char* what) {
  if (!right) std::printf("FAILED: %s\n", what), std::exit(1);
}

int main(int argc, char**) {
  pool::set_threads(1);
  double known = harmonic(300'000, 100), nested = harmonic(3000, 100, 500);
  for (int threads : {2, 4, 3, 8}) {
    pool::set_threads(threads);
    std::vector<std::thread> callers;
    std::atomic<int> errors{0};
    for (int c = 0; c < 4; ++c)
      callers.emplace_back([&] {
        for (int round = 0; round < 30; ++round) {
          require(harmonic(300'000, 100) == known, "the same bits");
          require(harmonic(3000, 100, 500) == nested, "the same bits, nested");
          std::vector<int> done(10'000);
          parallel_for(10'000, 16, [&](Index begin, Index end) { for (Index i = begin; i < end; ++i) ++done[i]; });
          for (int d : done) require(d == 1, "every row once");
          try {
            parallel_for(10'000, 10, [&](Index begin, Index) { if (begin == 700) throw std::runtime_error("700"); });
          } catch (const std::runtime_error&) {
            ++errors;
          }
        }
      });
    if (argc == 1)  // a fork among them; thread sanitizers do not follow it
      for (int i = 0; i < 5; ++i)
        if (pid_t child = fork(); child == 0) {
          _exit(harmonic(300'000, 100) == known ? 7 : 8);
        } else {
          int status;
          waitpid(child, &status, 0);
          require(WEXITSTATUS(status) == 7, "a fork");
        }
    for (auto& c : callers) c.join();
    require(errors == 4 * 30, "errors");
  }
  pool::close();
  std::puts("ok");
}
