//===- Precision.cpp - Arithmetic that device code does -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results alone do not show narrower arithmetic where the inputs happen to suit
// it. The instructions do, wherever they come from: operators, CUDA's half
// types, tensor cores, inline PTX.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Precision.h"
#include "Arithmetic.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/SROA.h"

using namespace llvm;

namespace cupilot {

static StringRef nameOf(Format F) {
  static constexpr StringLiteral Names[] = {
      "none", "4-bit float", "6-bit float",           "f8",  "bf16",
      "f16",  "tf32",        "f32 (mantissa masked)", "f32", "f64"};
  return Names[static_cast<unsigned>(F)];
}

/// Inlines what is not libdevice and makes values of local variables, so that
/// an operation stands beside its operands.
static void simplify(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    StringRef Name = F.getName(); // __nv_float_as_int is a bit cast.
    bool Library = Name.starts_with("__nv_") && !Name.contains("_as_");
    F.removeFnAttr(Library ? Attribute::AlwaysInline : Attribute::NoInline);
    F.removeFnAttr(Attribute::OptimizeNone);
    F.addFnAttr(Library ? Attribute::NoInline : Attribute::AlwaysInline);
  }
  ModulePassManager Passes;
  Passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  FunctionPassManager Each;
  Each.addPass(SROAPass(SROAOptions::PreserveCFG));
  Each.addPass(InstCombinePass());
  Passes.addPass(createModuleToFunctionPassAdaptor(std::move(Each)));
  Pipeline().run(std::move(Passes), M);
}

static Format narrowest(const std::map<Format, ArithmeticUse> &Uses) {
  Format Least = Format::F64;
  for (const auto &[F, U] : Uses)
    Least = std::min(Least, F);
  return Least;
}

std::string NarrowerArithmetic::str() const {
  std::string Text = Instruction + " in " + Function;
  if (!Location.empty())
    Text += " at " + Location;
  return Text + " computes in " + Format + "; the original's narrowest is " +
         Original;
}

Expected<DeviceArithmetic> DeviceArithmetic::of(StringRef Bitcode,
                                                ArrayRef<StringRef> Kernels) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  simplify(**M);
  Expected<Arithmetic> Found = collectArithmetic(**M, Kernels);
  if (!Found)
    return Found.takeError();
  return DeviceArithmetic(
      std::make_shared<const Arithmetic>(std::move(*Found)));
}

static NarrowerArithmetic finding(const ArithmeticUse &U, StringRef Name,
                                  Format Least) {
  return {Name.str(), U.Instruction, U.Function, U.Location,
          nameOf(Least).str()};
}

std::optional<NarrowerArithmetic>
findApproximateArithmetic(const DeviceArithmetic &Original,
                          const DeviceArithmetic &Variant) {
  const Arithmetic &Mine = Original.found();
  for (const auto &[Name, U] : Variant.found().Approximate)
    if (!Mine.Approximate.contains(Name))
      return finding(U, (nameOf(Format::F32) + " (approximate)").str(),
                     Mine.Computed.empty() ? Format::F32
                                           : narrowest(Mine.Computed));
  return std::nullopt;
}

std::optional<NarrowerArithmetic>
findNarrowerFormats(const DeviceArithmetic &Original,
                    const DeviceArithmetic &Variant) {
  const Arithmetic *Mine = &Original.found(), *Theirs = &Variant.found();
  Format Computes = narrowest(Mine->Computed);
  Format Holds =
      std::min({Computes, narrowest(Mine->Rounded), narrowest(Mine->Read)});
  // Data is only moved: what floats are is not known here.
  if (Mine->Computed.empty())
    Computes = Holds = std::min(Holds, Format::F32);
  for (const auto &[F, U] : Theirs->Computed)
    if (F < Computes)
      return finding(U, nameOf(F), Computes);
  for (const auto &[F, U] : Theirs->Rounded)
    if (F < Holds)
      return finding(U, nameOf(F), Holds);
  return std::nullopt;
}

} // namespace cupilot
