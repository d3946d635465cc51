// Lambdas as template arguments of kernels: in which functions their slices can be made again, and why not in others.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && cupilot extract %s --slices=%t --json=%t.json -- -O2 -std=c++20 > /dev/null 2> %t.said; FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// CHECK-DAG: apply<(lambda 1 of Field::Field)>{{.*}} has no slice: a template argument of it is a lambda that no other file can hold: it is in a constructor, an operator or a virtual function
// CHECK-DAG: apply<(lambda 1 of Field::virtually)>{{.*}}: it is in a constructor, an operator or a virtual function
// CHECK-DAG: apply<(lambda 1 of Typed<int>::run)>{{.*}}: it is in a member function of a class template or a union
// CHECK-DAG: apply<(lambda 1 of (lambda 1 of host))>{{.*}}: it is in a generic lambda
// CHECK-DAG: apply<(lambda 1 of bindings)>{{.*}}: it captures a structured binding
// CHECK-DAG: apply<(lambda)>{{.*}}: it is outside of functions
// CHECK: cupilot extract: 21 kernel(s), 15 slice(s)
// The slices have the identities of the unit: extraction compares them.
// JSON-COUNT-15: "slice": "{{apply|both}}
// JSON-NOT: "slice":

// Of one, as text.
// RUN: cat %t/*.cu | FileCheck %s --check-prefix=TEXT
// TEXT-DAG: {{^}}__device__ void inside(float by) {
// TEXT-DAG: {{^}}static __device__ {{ *}}void{{ +}}outside(float *p, int n) noexcept;
// TEXT-DAG: {{^}}__device__ void Field::outside(float *p, int n) noexcept {
// A class that the slice has anyway; lambdas in lambdas, with as many before them as count.
// TEXT-DAG: {{^}}  __device__ void capturesThis() {
// TEXT-DAG: {{^}}  __device__ __attribute__ ( ( host ) ) void again(float *p) {
// TEXT-DAG: {{^}}  {{\[\[nodiscard\]\]}} __device__ int part(float *p) const noexcept;
// TEXT-DAG: {{^}}__device__ int Outer::Inner::part(float *p) const noexcept {
// TEXT-DAG: {{^}}  (void)[](int) {};
// TEXT-DAG: {{^}}  auto cupilotLambdaAround0 = [&, twice = three * 2](int m) mutable {
// TEXT-DAG: {{^}}    auto cupilotLambdaAround1 = [=]() -> int {
// TEXT-DAG: {{^}}      float last = *(float *)nullptr;

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

template <class F, class G> __global__ void both(F f, G g, float *p) { p[0] = f(p[0]) + g(p[1]); }
#define FN(...) [__VA_ARGS__] __device__(float v)
struct Base { float base = 1; __device__ float more(float x) const { return x * base; } };
namespace members {
class Outer : public Base {
public:
  struct Inner {
    float k;
    [[nodiscard]] int part(float *p) const noexcept;
    template <int N> void templated(float *p) {
      apply<<<1, 1>>>([this] __device__(float v) { return v * k + N; }, p);
    }
  };
  Inner inner;
private:
  float *x = nullptr;
  float scale = 2;
  typedef float Number;
  Number hidden(float *p) {
    apply<<<1, 1>>>([*this] __device__(float v) { return more(v) * scale + x[0]; }, p);
    return 0;
  }
  static int plain(Outer *o, float *p) {
    apply<<<1, 1>>>([o] __device__(float v) { return v * o->scale; }, p);
    return 1;
  }
  __host__ void again(float *p) {
    float by = 3;
    auto run = [=, this](int n) {
      float local = n;
      apply<<<1, n>>>([=, *this] __device__(float v) { return v * scale + by + local; }, p);
      apply<<<1, n>>>(FN(=) { return v + scale + by; }, p);
    };
    run(1);
  }
  friend void go(Outer &o, float *p);
};
int Outer::Inner::part(float *p) const noexcept {
  apply<<<1, 1>>>([=] __device__(float v) { return v * k; }, p);
  return 0;
}
void go(Outer &o, float *p) {
  o.hidden(p); Outer::plain(&o, p); o.again(p); (void)o.inner.part(p); o.inner.templated<4>(p);
}
}
template <class T> void deep(T *p, int n) {
  constexpr T Half = T(0.5);
  T three = 3;
  auto unused = [](int) {};
  auto outer = [&, twice = three * 2](int m) mutable {
    auto other = [](float v) { return v; };
    int here = m + 1;
    auto middle = [=]() -> int {
      T last = 7;
      auto f = [=] __device__(float v) { return v * Half + twice + last; };
      apply<<<1, 1>>>(f, p);
      both<<<1, 1>>>(f, [here, three] __device__(float v) { return v + here + three; }, p);
      return 0;
    };
    return middle() + other(1);
  };
  outer(n);
}

static auto global = [] __device__(float v) { return v - 1; };

void host(float *p) {
  Field(p).inside(2);
  Field::templated<3>(p);
  Typed<int>().run(p);
  auto generic = [p](auto n) { apply<<<1, 1>>>([n] __device__(float v) { return v + n; }, p); };
  generic(1);
  deep<float>(p, 1);
  apply<<<1, 1>>>(global, p);
  // A function at namespace level, as ever.
  apply<<<1, 1>>>([p] __device__(float v) { return v + p[2]; }, p);
}
