// What every family of loops needs: views of arrays, memory, BLAS, and one pool of threads. Nothing here knows Python.
//
// The pool cuts rows into blocks by their number alone and adds partial sums in the order of the rows, so that a result
// has the same bits on any number of threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace tractable {

using Index = std::ptrdiff_t;

// Rows and columns of an array with any strides, which count elements, not bytes.
template <class T> struct View {
  T* data;
  Index rows, columns, down, across;

  T& operator()(Index i, Index j) const { return data[i * down + j * across]; }
  T* row(Index i) const { return data + i * down; }
};

// One number a row; without data, every row has `otherwise`.
template <class T> struct Column {
  T* data;
  Index stride;
  std::remove_const_t<T> otherwise = 1;

  std::remove_const_t<T> operator()(Index i) const { return data ? data[i * stride] : otherwise; }
  explicit operator bool() const { return data != nullptr; }
};

// Memory of at least `size` numbers, aligned for every processor, that is not cleared.
template <class T> class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index size) { grow(size); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { ::operator delete[](data_, std::align_val_t(64)); }

  T* grow(Index size) {
    if (size > size_) {
      ::operator delete[](data_, std::align_val_t(64));
      data_ = nullptr, size_ = 0;  // what follows may throw
      data_ = static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t(64)));
      size_ = size;
    }
    return data_;
  }
  T* fill(Index size, T value) {
    std::fill_n(grow(size), size, value);
    return data_;
  }
  T* data() const { return data_; }
  T& operator[](Index i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  Index size_ = 0;
};

// ---------------------------------------------------------------------------------------------------- threads

namespace pool {

using Task = void (*)(void* body, Index i);
using Slot = void (*)(void* body, Index slot, Index buffer);

// Do every task once, on this thread and on others that are free; tasks are taken in order. What a task throws is
// thrown here, once all have stopped. Inside a task, the tasks are done by the thread that calls.
void run(Index tasks, Task task, void* body);

// The same with a buffer for each slot that is at work: `fill` writes one, `merge` adds it up, in the order of slots
// and never two at once. A buffer is used again once it is merged.
void run_in_order(Index slots, Slot fill, Slot merge, void* body);

// Whether to go on; to be asked between blocks. It calls other threads to help once the work has taken long enough,
// answers Ctrl-C, and is false if another task has thrown.
bool go_on();

int threads();                    // how many a call may use now
void set_threads(int n);          // 0: by the variables, the cores and the limits
void set_cores(int n);            // how many this process may use
void add_limit(int (*limit)());   // another library's limit for the thread that calls, such as OpenMP's
bool read_variables();            // by a thread that holds Python's lock; false if a variable holds no number
void work_alone();                // this thread belongs to another pool: its calls ask for no help
void close();                     // at exit: stops what other threads do, and waits until they have stopped
[[noreturn]] void park();         // sleeps until the process ends
extern void (*between)();         // called some times a second by the thread that called `run`; may throw

}  // namespace pool

// How many partial sums a table has at most: what is added to what depends on the number of rows alone.
inline constexpr Index SLOTS = 64;

// Call body(begin, end) for blocks of rows; what it writes for different rows must not overlap.
template <class Body> void parallel_for(Index rows, Index block, Body&& body) {
  struct Call {
    std::remove_reference_t<Body>& body;
    Index rows, block;
  } call{body, rows, block};
  pool::run((rows + block - 1) / block, [](void* given, Index i) {
    auto& c = *static_cast<Call*>(given);
    if (pool::go_on()) c.body(i * c.block, std::min((i + 1) * c.block, c.rows));
  }, &call);
}

// Add up blocks of rows: body(sum, begin, end) adds one to a sum, which has `clear()` and `+=`, and which make() makes.
// A partial sum is of `share` rows at least: merging it must cost little beside them.
template <class Sum, class Make, class Body>
void parallel_sum(Index rows, Index block, Index share, Sum& total, Make&& make, Body&& body) {
  struct Call {
    Sum& total;
    std::remove_reference_t<Make>& make;
    std::remove_reference_t<Body>& body;
    Index rows, block, blocks, slots;
    std::unique_ptr<Sum> sums[SLOTS];

    Sum& in(Index buffer) { return slots == 1 ? total : *sums[buffer]; }
  };
  Index blocks = (rows + block - 1) / block;
  Index slots = std::min({blocks, SLOTS, std::max<Index>(1, rows / std::max<Index>(share, 1))});
  Call call{total, make, body, rows, block, blocks, slots, {}};
  total.clear();
  pool::run_in_order(blocks ? slots : 0, [](void* given, Index slot, Index buffer) {
    auto& c = *static_cast<Call*>(given);
    if (c.slots > 1 && !c.sums[buffer]) c.sums[buffer].reset(new Sum(c.make()));
    Sum& into = c.in(buffer);
    into.clear();
    for (Index b = slot * c.blocks / c.slots; b < (slot + 1) * c.blocks / c.slots && pool::go_on(); ++b)
      c.body(into, b * c.block, std::min((b + 1) * c.block, c.rows));
  }, [](void* given, Index, Index buffer) {
    auto& c = *static_cast<Call*>(given);
    if (c.slots > 1) c.total += *c.sums[buffer];
  }, &call);
}

// ------------------------------------------------------------------------------------------------------- BLAS

// SciPy's routines, column by column, all arguments by address. Callers hold BLAS to one thread before a pass that
// calls them (`single_threaded_blas` of primitives/threads.py): the pool uses every core already.
namespace blas {

using Dgemm = void (*)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*);
using Sgemm = void (*)(char*, char*, int*, int*, int*, float*, float*, int*, float*, int*, float*, float*, int*);
extern Dgemm dgemm;
extern Sgemm sgemm;

// C (m, n) = alpha A (m, k) B (k, n), of rows; `transposed` ones are stored as (k, m) and (n, k).
inline void gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
                 double* c, int ldc) {
  char A = ta ? 'T' : 'N', B = tb ? 'T' : 'N';
  double none = 0.0;
  dgemm(&B, &A, &n, &m, &k, &alpha, const_cast<double*>(b), &ldb, const_cast<double*>(a), &lda, &none, c, &ldc);
}
inline void gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                 float* c, int ldc) {
  char A = ta ? 'T' : 'N', B = tb ? 'T' : 'N';
  float none = 0.0f;
  sgemm(&B, &A, &n, &m, &k, &alpha, const_cast<float*>(b), &ldb, const_cast<float*>(a), &lda, &none, c, &ldc);
}

}  // namespace blas
}  // namespace tractable
