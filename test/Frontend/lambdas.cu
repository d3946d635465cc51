// Lambdas as template arguments of kernels: in which functions their slices can be made again, and why not in others.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && cupilot extract %s --slices=%t --json=%t.json -- -O2 -std=c++20 > /dev/null 2> %t.said; FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// CHECK-DAG: apply<(lambda 1 of Field::capturesThis)>{{.*}} has no slice: a template argument of it is a lambda that no other file can hold: it captures 'this'
// CHECK-DAG: apply<(lambda 1 of Field::Field)>{{.*}}: it stands in a constructor, an operator or a virtual function
// CHECK-DAG: apply<(lambda 1 of Field::virtually)>{{.*}}: it stands in a constructor, an operator or a virtual function
// CHECK-DAG: apply<(lambda 1 of Typed<int>::run)>{{.*}}: it stands in a member function of a class template or a union
// CHECK-DAG: apply<{{.*}}operator(){{.*}}>{{.*}}: it stands in another lambda
// CHECK-DAG: apply<(lambda 1 of bindings)>{{.*}}: it captures a structured binding
// CHECK-DAG: apply<(lambda)>{{.*}}: it stands outside of functions
// CHECK-DAG: apply<(lambda 1 of Used::run)>{{.*}}: a template argument of it is a lambda in a member function of 'Used', and it uses that class too
// CHECK: cupilot extract: 13 kernel(s), 5 slice(s)
// The slices have the identities of the unit: extraction compares them.
// JSON-COUNT-5: "slice": "apply
// JSON-NOT: "slice":

// Of one, as text.
// RUN: cat %t/*.cu | FileCheck %s --check-prefix=TEXT
// TEXT-DAG: {{^}}__device__ void inside(float by) {
// TEXT-DAG: {{^}}static __device__ {{ *}}void{{ +}}outside(float *p, int n) noexcept;
// TEXT-DAG: {{^}}__device__ void Field::outside(float *p, int n) noexcept {

template <class F> __global__ void apply(F f, float *p) { p[0] = f(p[0]); }

struct Field {
  float *x;
  void inside(float by) {
    float *p = x;
    apply<<<1, 1>>>([=] __device__(float v) { return v * by + p[1]; }, x);
  }
  template <int N> static void templated(float *p) {
    apply<<<1, 1>>>([] __device__(float v) { return v * N; }, p);
  }
  static void outside(float *p, int n) noexcept;
  void capturesThis() {
    apply<<<1, 1>>>([=] __device__(float v) { return v + x[0]; }, x);
  }
  Field(float *p) : x(p) {
    apply<<<1, 1>>>([] __device__(float v) { return v + 2; }, p);
  }
  virtual void virtually() {
    apply<<<1, 1>>>([] __device__(float v) { return v + 3; }, x);
  }
};
void Field::outside(float *p, int n) noexcept {
  apply<<<1, 1>>>([n] __device__(float v) { return v + n; }, p);
}

namespace ns {
struct Outer {
  struct Inner {
    int half(float *p) const;
  };
};
int Outer::Inner::half(float *p) const {
  constexpr float Half = 0.5f;
  auto f = [] __device__(float v) { return v * Half; };
  apply<<<1, 1>>>(f, p);
  return 0;
}
} // namespace ns

template <class T> struct Typed {
  void run(float *p) {
    apply<<<1, 1>>>([] __device__(float v) { return v + T(4); }, p);
  }
};

struct Used {
  float by;
  void run(float *p) {
    Used copy = *this;
    apply<<<1, 1>>>([copy] __device__(float v) { return v * copy.by; }, p);
  }
};

struct Pair {
  float a, b;
};
void bindings(float *p, Pair pair) {
  auto [a, b] = pair;
  apply<<<1, 1>>>([a = a, b] __device__(float v) { return v + a + b; }, p);
}

static auto global = [] __device__(float v) { return v - 1; };

void host(float *p) {
  Field(p).inside(2);
  Field::templated<3>(p);
  Typed<int>().run(p);
  [p] { apply<<<1, 1>>>([] __device__(float v) { return v + 5; }, p); }();
  apply<<<1, 1>>>(global, p);
  // A function at namespace level, as ever.
  apply<<<1, 1>>>([p] __device__(float v) { return v + p[2]; }, p);
}
