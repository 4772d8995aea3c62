// Which processor this is: a module of plain C, compiled for any, that says which of the others may be loaded. It is
// also a program, which prints the level to CMake.
#if defined(__x86_64__) && defined(__GNUC__)
static int found(void) {
  __builtin_cpu_init();
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))) return 1;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"))
    return 4;
  return 3;
}
#else
static int found(void) { return 1; }
#endif

#ifdef AS_PROGRAM
#include <stdio.h>
int main(void) { return printf("%d", found()) < 0; }
#else
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *level(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  return PyLong_FromLong(found());
}

static PyMethodDef functions[] = {{"level", level, METH_NOARGS, "The level of this x86-64 processor; 1 elsewhere."}, {0}};
static PyModuleDef_Slot slots[] = {
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "processor", "Which processor this is.", 0, functions, slots, 0, 0, 0};

PyMODINIT_FUNC PyInit_processor(void) { return PyModuleDef_Init(&module); }
#endif
