// SPDX-License-Identifier: MIT
/* bound.cc - each kind of function that pybind11 makes. */
#include <pybind11/pybind11.h>

namespace py = pybind11;

struct Counter {
	int n = 0;
	int add(int by) { return n += by; }
};

struct Other {
	int add(int by) { return by; }
};

PYBIND11_MODULE(bound, m)
{
	m.def("twice", [](int n) { return 2 * n; });
	m.def("thrice", [](int n) { return 3 * n; });
	m.def("each", [](py::function f, py::list xs) { for (auto x : xs) f(x); });
	m.def("fails", []() { throw std::invalid_argument(""); });
	py::class_<Counter>(m, "Counter").def(py::init<>()).def("add", &Counter::add).def_static("zero", []() {});
	py::class_<Other>(m, "Other").def(py::init<>()).def("add", &Other::add);
}
