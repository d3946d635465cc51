//===- PrefixTest.cpp - With and without a parsed prefix ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Admission/Parcel.h"
#include "Admission/Parse.h"
#include "Judge.h"
#include "PrefixFixture.h"
#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace cupilot;
namespace fs = llvm::sys::fs;

namespace {
class AdmissionPrefix : public PrefixFixture {
protected:
  /// The rules that the text breaks.
  static std::string rules(llvm::Expected<std::vector<AdmissionFinding>> F) {
    if (!F) {
      llvm::consumeError(F.takeError());
      return "does not parse";
    }
    return joined(*F);
  }
  std::string admitted(const std::string &Text,
                       std::vector<std::string> *Constants = nullptr) {
    return rules(admit(Text, Flags, Constants));
  }

  std::vector<std::string> Flags = {"-std=c++17"};
};

constexpr char Plain[] = "__global__ void k(float *p) { *p = sqrtf(*p); }\n";
} // namespace

TEST_F(AdmissionPrefix, TheVerdictIsTheSame) {
  const std::string Kernel = Plain;
  std::string Texts[] = {
      Kernel,
      "#include <cmath>\n#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n"
      "#include <cooperative_groups.h>\n#include <cstdint>\n" +
          Kernel,
      "__constant__ const float t[2] = {1, 2};\n"
      "namespace a { __device__ const int u[] = {3}; }\n"
      "__global__ void k(float *p, int i) { p[i] = t[i] + a::u[0]; }\n",
      "template <class T> __device__ T twice(T x) { return x + x; }\n"
      "__global__ void k(double *p) { *p = twice(fmax(*p, 0.)); }\n",
      "#include <type_traits>\n#include <limits>\n__global__ void k(float *p) {"
      " *p = std::numeric_limits<float>::max(); }\n",
      "int host() { return 1; }\n" + Kernel,
      "int variable;\n" + Kernel,
      "#include <vector>\n" + Kernel,
      "#define __syncthreads() 0\n" + Kernel,
      "#undef __CUDACC__\n" + Kernel,
      "#define min max\n" + Kernel,
      "#define min max\n#include <cuda_fp16.h>\n" + Kernel,
      "#ifdef __CUDA_ARCH__\n__device__ int x;\n#endif\n" + Kernel,
      "#ifdef CUDART_VERSION\n#endif\n" + Kernel,
      "#if defined(INT_MAX) || defined(NULL)\n#endif\n" + Kernel,
      "__device__ int elsewhere(int);\n"
      "__global__ void k(int *p) { *p = elsewhere(1); }\n",
      "__global__ void k(long long *p) { *p = clock64(); }\n",
      "__global__ void k(unsigned *p) { *p = __nvvm_read_ptx_sreg_smid(); }\n",
      "__global__ void k(int *p) { cudaDeviceSynchronize(); }\n",
      "__global__ void k(int *p) { static int n; *p = n++; }\n",
      "__global__ void k(int *p) { asm(\"discard.global.L2 [%0], 128;\" :: "
      "\"l\"(p)); }\n",
      "__global__ void k(int *p) { *p = __LINE__ + __FILE__[0]; }\n",
      "__attribute__((constructor)) __device__ void f() {}\n" + Kernel,
      "namespace std { __device__ int f() { return 1; } }\n" + Kernel,
      "extern \"C\" { __device__ int g() { return 1; } int h() { return 2; } "
      "}" +
          Kernel,
      "__global__ void k(int *p) { *p = missing; }\n",
      "__global__ void k(int *p) { *p = ::rand(); }\n",
  };
  unsigned Admitted = 0;
  for (const std::string &Text : Texts) {
    auto Invocation = llvm::cantFail(textInvocation(Flags, Text));
    std::optional<ParsedPrefix> Prefix = parsedPrefix(*Invocation);
    ASSERT_TRUE(Prefix.has_value());
    std::vector<std::string> With, Without;
    std::string Rules = rules(judgeText(*Invocation, Text, &*Prefix, &With));
    EXPECT_EQ(Rules, rules(judgeText(*Invocation, Text, nullptr, &Without)))
        << Text;
    EXPECT_EQ(With, Without) << Text;
    Admitted += Rules.empty();
  }
  EXPECT_EQ(Admitted, 8u);
  EXPECT_EQ(kept().size(), 1u);
}

TEST_F(AdmissionPrefix, TextsAreLookedAtEveryTime) {
  const std::string Text = "__constant__ const int t[1] = {1};\n"
                           "__global__ void k(int *p) { *p = t[0]; }\n";
  std::vector<std::string> Constants;
  for (unsigned I = 0; I < 2; ++I) {
    Constants.clear();
    EXPECT_EQ(admitted(Text, &Constants), "");
    EXPECT_EQ(Constants, std::vector<std::string>{"t"});
  }
  std::string Other = Text;
  Other.replace(Other.find("*p = t"), 1, "n"); // An undeclared "np".
  EXPECT_EQ(admitted(Other), "does not parse");
  EXPECT_EQ(admitted(Text + "int host;"), "host-variable");
  EXPECT_EQ(admitted(Text), "");
}

TEST_F(AdmissionPrefix, DamageIsReplaced) {
  ASSERT_EQ(admitted(Plain), "");
  ASSERT_EQ(kept().size(), 1u);
  std::string Path = kept().front(), Whole = llvm::cantFail(readFile(Path));
  for (const std::string &Bytes :
       {std::string(), Whole.substr(0, Whole.size() / 2),
        std::string(Whole).replace(Whole.size() / 2, 1, 1,
                                   Whole[Whole.size() / 2] ^ 1)}) {
    llvm::cantFail(writeFileAtomic(Path, Bytes));
    EXPECT_EQ(admitted(Plain), "");
    EXPECT_EQ(admitted("int host;\n"), "host-variable");
    EXPECT_EQ(llvm::cantFail(readFile(Path)).size(), Whole.size());
  }
}

TEST_F(AdmissionPrefix, WhatClangCannotReadIsLeftOut) {
  ASSERT_EQ(admitted(Plain), "");
  std::string Path = kept().front(), Whole = llvm::cantFail(readFile(Path));
  std::string Manifest = Path.substr(0, Path.size() - 4) + ".files";
  // As if another clang wrote it, and well digested.
  std::string Other = Whole;
  Other[0] = 'X';
  std::string Lines = llvm::cantFail(readFile(Manifest));
  Lines.erase(Lines.rfind("\ndigest "));
  llvm::cantFail(writeFileAtomic(Path, Other));
  llvm::cantFail(writeFileAtomic(
      Manifest, Lines + "\ndigest " +
                    DigestBuilder().add(Lines).add(Other).str() + "\n"));
  EXPECT_EQ(admitted("int host;\n"), "host-variable");
  EXPECT_EQ(admitted(Plain), "");
  EXPECT_TRUE(kept().empty()) << "the next text shall get another one";
  EXPECT_EQ(admitted(Plain), "");
  EXPECT_EQ(llvm::cantFail(readFile(Path)).size(), Whole.size());
}

TEST_F(AdmissionPrefix, ChangedHeadersAreSeen) {
  std::string Root = Dir.file("cuda"),
              Header = Root + "/include/vector_types.h";
  ASSERT_FALSE(fs::create_directories(Root + "/include"));
  auto Link = [&](const std::string &Folder) {
    std::error_code EC;
    for (fs::directory_iterator It(Cuda + Folder, EC), End; !EC && It != End;
         It.increment(EC)) {
      llvm::StringRef Name = llvm::sys::path::filename(It->path());
      if (Name != "include" && Name != "vector_types.h")
        ASSERT_FALSE(
            fs::create_link(It->path(), (Root + Folder + "/" + Name).str()));
    }
  };
  Link("");
  Link("/include");
  std::string Text = llvm::cantFail(readFile(Cuda + "/include/vector_types.h"));
  llvm::cantFail(writeFileAtomic(Header, Text));
  Flags.push_back("--cuda-path=" + Root);
  const std::string Uses = "__global__ void k(Added *p) { p->x = 1; }\n";
  EXPECT_EQ(admitted(Plain), "");
  EXPECT_EQ(admitted(Uses), "does not parse");
  EXPECT_EQ(kept().size(), 1u);
  llvm::cantFail(writeFileAtomic(
      Header, Text + "\n#pragma once\nstruct Added { int x; };\n"));
  EXPECT_EQ(admitted(Uses), "");
  EXPECT_EQ(kept().size(), 1u);
  llvm::cantFail(writeFileAtomic(Header, Text));
  EXPECT_EQ(admitted(Uses), "does not parse");
}

TEST_F(AdmissionPrefix, WithoutACacheToo) {
  llvm::cantFail(writeFileAtomic(Dir.file("file"), ""));
  for (const std::string &Folder : {std::string(), Dir.file("file/below")}) {
    use(Folder);
    EXPECT_EQ(admitted(Plain), "");
    EXPECT_EQ(admitted("int host;\n"), "host-variable");
  }
  EXPECT_TRUE(kept().empty());
}

TEST_F(AdmissionPrefix, OneForEachSetOfFlags) {
  for (const char *Flag :
       {"-std=c++17", "-std=c++20", "--cuda-gpu-arch=sm_80"}) {
    Flags = {Flag};
    for (unsigned I = 0; I < 2; ++I)
      EXPECT_EQ(admitted(Plain), "");
  }
  EXPECT_EQ(kept().size(), 3u);
}

namespace {
/// As cupilot-compile, whose copies for each text have the limits.
class TextServerTest : public AdmissionPrefix {
protected:
  void SetUp() override {
    AdmissionPrefix::SetUp();
    if (IsSkipped())
      return;
    int To[2], From[2];
    ASSERT_FALSE(::pipe(To) || ::pipe(From));
    Server = ::fork();
    ASSERT_GE(Server, 0);
    if (Server == 0) {
      ::dup2(To[0], STDIN_FILENO);
      ::dup2(From[1], STDOUT_FILENO);
      for (int End : {To[0], To[1], From[0], From[1]})
        ::close(End);
      ::_exit(serveTexts());
    }
    ::close(To[0]);
    ::close(From[1]);
    In = To[1];
    Out = From[0];
  }
  void TearDown() override {
    if (Server > 0) {
      ::close(In);
      ::close(Out);
      EXPECT_EQ(::waitpid(Server, nullptr, 0), Server);
    }
    AdmissionPrefix::TearDown();
  }
  Parcel answer(const std::string &Text, ProcessLimits Limits) {
    TextRequest Request;
    Request.Source = Text;
    Request.Arch = "sm_90";
    Request.Flags = Flags;
    Parcel Answer;
    EXPECT_TRUE(sendParcel(In, toParcel(Request, Limits)));
    EXPECT_EQ(receiveParcel(Out, Answer, 120), ParcelEnd::Whole);
    return Answer;
  }
  CompiledText compiled(const std::string &Text, ProcessLimits Limits) {
    return answerFrom(answer(Text, Limits)).value_or(CompiledText());
  }
  /// Of the server, or -1.
  pid_t copy() const {
    std::error_code EC;
    for (fs::directory_iterator It("/proc", EC), End; !EC && It != End;
         It.increment(EC)) {
      llvm::StringRef Name = llvm::sys::path::filename(It->path());
      pid_t Pid = 0, Parent = 0;
      auto Stat =
          Name.getAsInteger(10, Pid)
              ? nullptr
              : llvm::MemoryBuffer::getFileAsStream(It->path() + "/stat");
      // PID (NAME) STATE PARENT ...
      if (Stat && *Stat &&
          !(*Stat)
               ->getBuffer()
               .rsplit(") ")
               .second.drop_front(2)
               .split(' ')
               .first.getAsInteger(10, Parent) &&
          Parent == Server)
        return Pid;
    }
    return -1;
  }

  pid_t Server = -1;
  int In = -1, Out = -1;
};
} // namespace

TEST_F(TextServerTest, MemoryHasALimit) {
  // What clang evaluates takes 1.2 GB: 72 bytes for each element.
  const std::string Takes = "constexpr int last() {\n"
                            "  char a[1 << 14][1 << 10]{};\n"
                            "  for (int i = 0; i < 1 << 14; ++i)\n"
                            "    a[i][1023] = 1;\n"
                            "  return a[0][0];\n"
                            "}\n"
                            "__global__ void k(int *p) {\n"
                            "  constexpr int x = last();\n"
                            "  *p = x;\n"
                            "}\n";
  const ProcessLimits Limits{60, uint64_t(1) << 30};
  CompiledText Beyond = compiled(Takes, Limits);
  EXPECT_EQ(Beyond.Fate, TextFate::BeyondLimits);
  EXPECT_EQ(Beyond.Message, "the compiler needs more than 1024 MiB for it");
  // The next text finds a server.
  EXPECT_EQ(compiled(Plain, Limits).Fate, TextFate::Compiles);
}

// What the machine does to the compiler says nothing of the text.
TEST_F(TextServerTest, TriedAgainOnALoadedMachine) {
  auto Instances = [](const std::string &Depth) {
    return "template <int N, int M> struct T {\n"
           "  static constexpr int v =\n"
           "      (T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v) % 7;\n"
           "};\n"
           "template <int M> struct T<0, M> { static constexpr int v = M; };\n"
           "__global__ void k(int *p) { *p = T<" +
           Depth + ", 1>::v; }\n";
  };
  std::atomic<bool> Done = false;
  std::thread Killer([&] {
    for (bool Killed = false; !Killed && !Done; ::usleep(1000))
      if (pid_t Copy = copy(); Copy > 0)
        Killed = ::kill(Copy, SIGKILL) == 0;
  });
  EXPECT_EQ(compiled(Instances("13"), {}).Fate, TextFate::Compiles);
  Done = true;
  Killer.join();
  // Busy for longer than it may wait, and for less than it may take.
  const std::string Endless = Instances("26");
  ProcessLimits Limits;
  Limits.WallSeconds = 1;
  Parcel Fault = answer(Endless, Limits);
  ASSERT_EQ(Fault.size(), 3u);
  EXPECT_EQ(Fault[0], "fault");
  EXPECT_TRUE(llvm::Regex("^a process that compiles a text got [0-9.]+ s of "
                          "processor time in 1 s, and when it was tried again, "
                          "got [0-9.]+ s of processor time in 1 s$")
                  .match(Fault[1]))
      << Fault[1];
  EXPECT_TRUE(llvm::StringRef(Fault[2]).starts_with("this machine has"));
  // With no more than its time, it is the text's doing.
  Limits = {};
  Limits.CpuSeconds = 1;
  CompiledText Busy = compiled(Endless, Limits);
  EXPECT_EQ(Busy.Fate, TextFate::BeyondLimits);
  EXPECT_EQ(Busy.Message,
            "the compiler was still busy with it after 1 s of processor time");
}
