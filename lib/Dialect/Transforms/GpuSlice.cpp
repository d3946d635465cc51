//===- GpuSlice.cpp - Kernels of MLIR modules as data and text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/GpuSlice.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

/// Of what launches pass: an index is a word of 64 bits.
static uint64_t launchBytes(Type T) {
  if (auto Vector = dyn_cast<VectorType>(T))
    return launchBytes(Vector.getElementType()) * Vector.getNumElements();
  return T.isIntOrFloat() ? (T.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

/// How CUDA C++ spells an element; "" for others.
static StringRef elementSpelling(Type T) {
  if (T.isF16())
    return "__half";
  if (T.isBF16())
    return "__nv_bfloat16";
  if (T.isF32())
    return "float";
  if (T.isF64())
    return "double";
  auto Int = dyn_cast<IntegerType>(T);
  switch (Int ? Int.getWidth() : 0) {
  case 8:
    return "signed char";
  case 16:
    return "short";
  case 32:
    return "int";
  case 64:
    return "long";
  default:
    return "";
  }
}

namespace {
/// Appends the parameters that launches have for one of the function.
class LaunchParams {
public:
  explicit LaunchParams(Kernel &K) : K(K) {}

  void add(const std::string &Name, Type T) {
    std::string Text;
    llvm::raw_string_ostream(Text) << T;
    if (auto M = dyn_cast<MemRefType>(T))
      return addMemRef(Name, Text, M);
    StringRef Dialect = T.getDialect().getNamespace();
    if (Dialect == "llvm" && StringRef(Text).starts_with("!llvm.ptr"))
      return addPointer(Name, Text, Type());
    if (auto Int = dyn_cast<IntegerType>(T);
        T.isIndex() || (Int && (Int.getWidth() == 8 || Int.getWidth() == 16 ||
                                Int.getWidth() == 32 || Int.getWidth() == 64)))
      return addInteger(Name, Text, 8 * unsigned(launchBytes(T)));
    K.Params.push_back(param(Name, Text, launchBytes(T)));
  }

private:
  static KernelParam param(const std::string &Name, const std::string &Type,
                           uint64_t Size) {
    KernelParam P;
    P.Name = Name;
    P.Type = Type;
    P.Size = Size;
    return P;
  }
  unsigned next() const { return unsigned(K.Params.size()); }
  void addInteger(const std::string &Name, const std::string &Type,
                  unsigned Bits) {
    K.Scalars.push_back({next(), 0, Bits, true});
    K.Params.push_back(param(Name, Type, Bits / 8));
  }
  void addPointer(const std::string &Name, const std::string &Type,
                  mlir::Type Element) {
    K.Pointers.push_back({next(), 0});
    KernelParam P = param(Name, Type, 8);
    P.IsPointer = true;
    if (Element && !elementSpelling(Element).empty()) {
      P.Pointee = elementSpelling(Element).str();
      P.PointeeSize = launchBytes(Element);
    }
    K.Params.push_back(std::move(P));
  }
  void addMemRef(const std::string &Name, const std::string &Text,
                 MemRefType M) {
    addPointer(Name + ".allocated", Text, M.getElementType());
    addPointer(Name, Text, M.getElementType());
    addInteger(Name + ".offset", "index", 64);
    for (const char *What : {".size", ".stride"})
      for (int64_t Dim = 0; Dim < M.getRank(); ++Dim)
        addInteger(Name + What + std::to_string(Dim), "index", 64);
  }

  Kernel &K;
};
} // namespace

Kernel describeGpuKernel(Operation *Op) {
  auto Function = cast<FunctionOpInterface>(Op);
  Kernel K;
  K.Symbol = Function.getName().str();
  K.Name = K.Symbol + "(";
  LaunchParams Lower(K);
  for (auto [Index, T] : llvm::enumerate(Function.getArgumentTypes())) {
    Lower.add("arg" + std::to_string(Index), T);
    std::string Text;
    llvm::raw_string_ostream(Text) << T;
    K.Name += (Index ? ", " : "") + Text;
    if (isa<UnrankedMemRefType>(T))
      K.Refusal = "parameter " + std::to_string(Index) +
                  " is a memref of dynamic rank; cast it to a ranked one "
                  "before the launch";
  }
  K.Name += ")";
  if (auto At = Op->getLoc()->findInstanceOf<FileLineColLoc>()) {
    K.File = At.getFilename().str();
    K.Line = At.getLine();
  }
  std::string Own;
  llvm::raw_string_ostream OS(Own);
  Op->print(OS, OpPrintingFlags().useLocalScope().printGenericOpForm());
  K.Digest = digest(Own);
  if (Expected<std::string> Closure = canonicalGpuText(Op))
    K.Digest = digest(*Closure);
  else
    K.Refusal = toString(Closure.takeError());
  return K;
}

std::vector<std::pair<Operation *, Kernel>>
describeGpuKernels(Operation *Module) {
  std::vector<std::pair<Operation *, Kernel>> All;
  llvm::StringMap<unsigned> Times;
  Module->walk([&](Operation *Op) {
    if (isGpuKernel(Op)) {
      All.emplace_back(Op, describeGpuKernel(Op));
      ++Times[All.back().second.Name];
    }
  });
  for (auto &[Op, K] : All)
    if (Times[K.Name] > 1)
      if (auto Name = Op->getParentOp()->getAttrOfType<StringAttr>(
              SymbolTable::getSymbolAttrName()))
        K.Name = (Name.getValue() + "::" + K.Name).str();
  return All;
}

Expected<std::string> gpuSlice(Operation *Op) {
  Expected<std::vector<Operation *>> Closure = gpuClosure(Op);
  if (!Closure)
    return Closure.takeError();
  Operation *Top = Op;
  while (Top->getParentOp())
    Top = Top->getParentOp();
  IRMapping Copies;
  OwningOpRef<Operation *> Copy(Top->clone(Copies));
  llvm::SmallPtrSet<Operation *, 16> Kept;
  for (Operation *Each : *Closure)
    for (Operation *At = Copies.lookupOrNull(Each); At; At = At->getParentOp())
      Kept.insert(At);
  // What other modules hold, too, goes: only symbols are used from outside.
  llvm::SmallVector<Operation *> Gone;
  Copy->walk<WalkOrder::PreOrder>([&](Operation *At) {
    if (At != *Copy && At->getParentOp()->hasTrait<OpTrait::SymbolTable>()) {
      if (!Kept.contains(At) && At->getName().getStringRef() != "llvm.comdat")
        Gone.push_back(At);
      return At->hasTrait<OpTrait::SymbolTable>() && Kept.contains(At)
                 ? WalkResult::advance()
                 : WalkResult::skip();
    }
    return WalkResult::advance();
  });
  for (Operation *At : Gone)
    At->erase();
  if (failed(verify(*Copy)))
    return findingError("what is left of its module without other code does "
                        "not verify");
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  Copy->print(OS);
  OS << "\n";
  return Text;
}

} // namespace cupilot
