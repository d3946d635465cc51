//===- TextTest.cpp - Texts as tokens, storage, names ---===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Judge.h"
#include "cupilot/Admission/CompileText.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

using namespace cupilot;

/// What is found before a compiler opens anything: "include@2".
static std::string atOnce(const std::string &Text,
                          const std::string &Folder = "") {
  std::set<std::string> Found;
  for (const AdmissionFinding &F : checkText(Text, Folder))
    Found.insert(F.Rule + "@" + std::to_string(F.Line));
  return llvm::join(Found, "+");
}

static std::string times(unsigned N, const std::string &Text) {
  std::string All;
  for (unsigned I = 0; I < N; ++I)
    All += Text;
  return All;
}

TEST(AdmissionText, IncludesAreDecidedBeforeTheyAreOpened) {
  for (const char *Text : {
           "\n#include \"/etc/passwd\"",
           "\n#include <../x>",
           "\n#include <cuda/../../x>",
           "\n%:include <cuda_fp16.h>",
           "\n#include_next <cuda_fp16.h>",
           "\n#import <cuda_fp16.h>",
           "#define H <cuda_fp16.h>\n#include H",
           "\n#include <cuda_fp16.h> extra",
           "\n#include L\"cuda_fp16.h\"",
           "\n#include",
           "#if 0\n#include \"x\"\n#endif",
           "#define ID(x) x ID(\n/* */ # /* */ include <pwd.h>\n)",
           "// \xff\n#include <pwd.h>",
           "\n#include <cuda_\\\nfp16.h/../../x>",
           "\r#include \"/etc/passwd\"\n#include <pwd.h>",
       })
    EXPECT_NE(atOnce(Text).find("include@"), std::string::npos) << Text;
  EXPECT_EQ(atOnce("#include <cuda_fp16.h>\n#include \"cuda_runtime.h\" // x\n"
                   " # include /* */ <cub/cub.cuh>\n"),
            "");
}

TEST(AdmissionText, OtherRequests) {
  EXPECT_EQ(atOnce("\n#embed \"x\""), "embed@2");
  EXPECT_EQ(atOnce("#if __has_include(<x>)\n#endif"), "environment@1");
  EXPECT_EQ(atOnce("#define A __has_embed"), "embed@1");
  EXPECT_EQ(atOnce("\n# 1 \"/etc/passwd\" 1"), "line@2");
  EXPECT_EQ(atOnce("#line 3"), "line@1");
  EXPECT_EQ(atOnce("#pragma clang __debug crash"), "pragma@1");
  EXPECT_EQ(atOnce("#pragma\n#ident \"x\""), "pragma@1+pragma@2");
  EXPECT_EQ(atOnce("#pragma unroll 4\n%:pragma once\n"), "");
  EXPECT_EQ(atOnce("const char *s = \"#include </etc/passwd>\"; // #embed\n"
                   "const char *r = R\"(\n#include <x>\n)\";"),
            "");
}

TEST(AdmissionText, Bytes) {
  EXPECT_EQ(atOnce(std::string("int x;\0", 7)), "spelling@1");
  EXPECT_EQ(atOnce("\n// what ?\?/\n"), "spelling@2");
  EXPECT_EQ(atOnce("int x = a ? ?b : c; // really??"), "");
  EXPECT_EQ(atOnce(std::string((256 << 10) + 1, ' ')), "size@1");
  EXPECT_EQ(atOnce(std::string(256 << 10, ' ')), "");
}

TEST(AdmissionText, Nesting) {
  EXPECT_EQ(atOnce(times(257, "(")), "nesting@1");
  EXPECT_EQ(atOnce(times(256, "[") + times(256, "]")), "");
  EXPECT_EQ(atOnce("int x = " + times(20000, "!") + "1;"), "nesting@1");
  EXPECT_EQ(atOnce("int x = 1" + times(10000, "+1") + ";"), "nesting@1");
  EXPECT_EQ(atOnce(times(20000, "x = 1;\n")), "");
  EXPECT_EQ(atOnce("float t[] = {" + times(20000, "1,") + "};"), "");
  EXPECT_EQ(atOnce("f(" + times(20000, "1,") + "1);"), "nesting@1");
}

TEST(AdmissionText, FilesBesideTheText) {
  EXPECT_EQ(atOnce("#include \"math.h\"\n", "/usr/include"), "include@1");
  EXPECT_EQ(atOnce("#include <math.h>\n", "/usr/include"), "");
  EXPECT_EQ(atOnce("#include \"math.h\"\n", "/nowhere"), "");
}

TEST(AdmissionRules, NamesOfOthers) {
  clang::tooling::FileContentMappings Header = {
      {"/usr/include/cuda/names.h",
       "extern \"C\" int take(int);\n"
       "template <class T> int cudaMalloc(T **, unsigned long);\n"}};
  const std::string Include = "#include <cuda/names.h>\n";
  for (const char *Text : {
           "__host__ __device__ inline int take(int, int) { return 0; }",
           "constexpr int take(int, int) { return 0; }",
           "namespace { __host__ __device__ int take(char) { return 0; } }",
           "__host__ __device__ int cudaMalloc(void **, int = 0);",
           "__device__ int cudaMalloc(void **, int) { return 0; }",
           "template <class T> __host__ __device__ T take(T x) { return x; }",
           "__host__ __device__ inline void *memcpy(void *a, int) { return a; "
           "}",
           "__global__ void cudaFree(int) {}",
       })
    EXPECT_EQ(judge(Include + Text, Header), "overload") << Text;
  for (const char *Text : {
           "__device__ int take(int, int) { return 0; }",
           "namespace own { constexpr int take(int, int) { return 0; } }",
           "struct S { __host__ __device__ int take(int x) { return x; } };",
           "__host__ __device__ int mine(int x) { return x; }",
           "__device__ int cuda_sum(int x) { return x; }",
       })
    EXPECT_EQ(judge(Include + Text, Header), "") << Text;
  EXPECT_EQ(judge("#undef cudaMalloc\n"), "macro");
  EXPECT_EQ(judge("#define cudaFree(x)\n"), "macro");
}

TEST(AdmissionRules, DeviceMemory) {
  for (const char *Text : {
           "__device__ float a[262145];",
           "__constant__ char a[1 << 19]; __device__ char b[(1 << 19) + 1];",
           "template <int N> __device__ char a[N];\n"
           "__device__ char *f() { return a<2000000>; }",
           "template <int N> struct S { static __device__ char a[N]; };\n"
           "template <int N> __device__ char S<N>::a[N];\n"
           "__device__ int f() { return S<2000000>::a[3]; }",
           "__device__ int f(int i) { static const char t[2000000] = {1};\n"
           "  return t[i]; }",
           "__device__ float a[1ull << 33];",
       })
    EXPECT_EQ(judge(Text), "device-memory") << Text;
  EXPECT_EQ(judge("__device__ float a[262144]; __shared__ float b[262144];\n"
                  "template <int N> __device__ char c[N];\n"
                  "__device__ int f() { return sizeof(c<2000000>); }\n"
                  "extern __constant__ float d[];\n"),
            "");
}

/// The rules that the module breaks beside an original that has \p Known.
static std::string inCode(const std::string &Body,
                          const OriginalCode &Known = {}) {
  llvm::LLVMContext Context;
  llvm::SMDiagnostic Error;
  std::unique_ptr<llvm::Module> M = llvm::parseAssemblyString(
      "@v = addrspace(1) externally_initialized global [4 x i32] "
      "zeroinitializer\n"
      "@c = addrspace(1) constant i32 1\n"
      "@s = internal addrspace(3) global i32 undef\n"
      "@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr "
      "addrspace(1) @v to ptr)]\n"
      "declare void @far(ptr)\ndeclare i32 @vprintf(ptr, ptr)\n"
      "define internal void @put(ptr %p) {\n  store i32 1, ptr %p\n  ret void\n"
      "}\ndefine void @k(ptr %out, i64 %i) {\n" +
          Body + "\n  ret void\n}\n",
      Error, Context);
  EXPECT_TRUE(M) << Error.getMessage().str();
  if (!M)
    return "";
  std::vector<TextVariable> Variables = {{"v", "v", 7, 16}};
  AdmissionOptions Options;
  Options.Original = &Known;
  Options.Variables = &Variables;
  std::set<std::string> Found;
  for (const AdmissionFinding &F : checkCode(*M, Options))
    Found.insert(F.Rule + "@" + std::to_string(F.Line));
  return llvm::join(Found, "+");
}

TEST(AdmissionCode, WritesToDeviceVariables) {
  const std::string Generic = "addrspacecast (ptr addrspace(1) @v to ptr)";
  for (const std::string &Body : std::initializer_list<std::string>{
           "store i32 1, ptr addrspace(1) @v", "store i32 1, ptr " + Generic,
           "%g = getelementptr i32, ptr addrspace(1) @v, i64 %i\n"
           "%x = atomicrmw add ptr addrspace(1) %g, i32 1 seq_cst",
           "call void @put(ptr " + Generic + ")",
           "call void @far(ptr " + Generic + ")",
           "store ptr " + Generic + ", ptr %out",
           "%x = ptrtoint ptr addrspace(1) @v to i64\nstore i64 %x, ptr %out",
           "%s = select i1 true, ptr " + Generic +
               ", ptr %out\n"
               "store i32 1, ptr %s",
           "call void asm sideeffect \"red.global.add.u32 [$0], 1;\", "
           "\"l\"(ptr " +
               Generic + ")"})
    EXPECT_EQ(inCode(Body), "state@7") << Body;
  OriginalCode Known;
  Known.Variables = {"v"};
  EXPECT_EQ(inCode("store i32 1, ptr addrspace(1) @v", Known), "");
  EXPECT_EQ(inCode("%x = load i32, ptr addrspace(1) @v\n"
                   "%y = load i32, ptr addrspace(1) @c\n"
                   "store i32 %x, ptr %out\nstore i32 %y, ptr addrspace(3) @s"),
            "");
}

TEST(AdmissionCode, Output) {
  const char *Print = "%x = call i32 @vprintf(ptr null, ptr null)";
  EXPECT_EQ(inCode(Print), "output@1");
  OriginalCode Known;
  Known.Prints = true;
  EXPECT_EQ(inCode(Print, Known), "");
}
