// What joins kernels to Python: arrays as views, the interpreter's lock, Ctrl-C, and SciPy's BLAS.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <stdexcept>

#include "core.hpp"

namespace tractable {

namespace nb = nanobind;

// Arrays that are read have any strides; those that are written are whole.
template <class T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
template <class T> using Whole = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using WholeVector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using OutVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = std::optional<Vector<double>>;

template <class T> View<const T> view(const Matrix<T>& a) {
  return {a.data(), Index(a.shape(0)), Index(a.shape(1)), Index(a.stride(0)), Index(a.stride(1))};
}
inline Column<const double> column(const Weights& a) {
  return a ? Column<const double>{a->data(), Index(a->stride(0))} : Column<const double>{nullptr, 0};
}

inline void require(bool right, const char* otherwise) {
  if (!right) throw std::invalid_argument(otherwise);
}

// Lets go of the interpreter's lock while it exists.
class Unlocked {
 public:
  Unlocked() {
    if (!pool::read_variables() && complain) complain();
    outer_ = current, current = this;
    state_ = PyEval_SaveThread();
  }
  Unlocked(const Unlocked&) = delete;
  ~Unlocked() {
    current = outer_;
    restore();
  }

  // Raises what a handler of signals raises. Python runs handlers in its main thread alone: others never wait.
  static void look_at_signals() {
    if (!current || PyThread_get_thread_ident() != main_thread) return;
    std::exception_ptr raised;
    current->restore();
    if (PyErr_CheckSignals()) {
      try {
        nb::raise_python_error();
      } catch (...) {
        raised = std::current_exception();
      }
    }
    current->state_ = PyEval_SaveThread();
    if (raised) std::rethrow_exception(raised);
  }

  static inline unsigned long main_thread = 0;
  static inline void (*complain)() = nullptr;  // of a variable that holds no number of threads

 private:
  void restore() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // before 3.14 Python ends threads at exit by an exception that nothing may stop: never return
      pool::park();
    }
  }

  static inline thread_local Unlocked* current = nullptr;
  Unlocked* outer_;
  PyThreadState* state_;
};

inline void* capsule(const char* module, const char* name) {
  nb::object found = nb::module_::import_(module).attr("__pyx_capi__")[name];
  return PyCapsule_GetPointer(found.ptr(), PyCapsule_GetName(found.ptr()));
}

}  // namespace tractable
