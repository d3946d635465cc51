//===- Enumerate.cpp - The list of faults -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;

namespace cupilot {

std::string Mutation::str() const {
  std::string Text;
  raw_string_ostream(Text) << File << ":" << Line << ":" << Column << " "
                           << (OfText ? "text: " : "") << Operator << ": "
                           << Before << " -> " << After;
  return Text;
}

Mutation *Sites::add(const Instruction &I, StringRef Operator,
                     const Twine &Before, const Twine &After,
                     std::function<void()> Apply) {
  const DebugLoc &At = I.getDebugLoc();
  if (!At || At.getLine() == 0)
    return nullptr;
  Mutation M;
  M.Index = All.size();
  M.File = sys::path::filename(At->getFilename()).str();
  M.Line = At.getLine();
  M.Column = At.getCol();
  std::string &Name = Names[I.getFunction()];
  if (Name.empty())
    Name = demangle(I.getFunction()->getName());
  M.Function = Name;
  M.Operator = Operator.str();
  M.Before = Before.str();
  M.After = After.str();
  All.push_back({std::move(M), std::move(Apply)});
  return &All.back().M;
}

std::string calleeSignature(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee ? demangle(Callee->getName()) : "";
}

std::string calleeName(const CallInst &Call) {
  std::string Signature = calleeSignature(Call);
  if (StringRef(Signature).starts_with("llvm."))
    return Signature;
  // Cut what is in brackets, then take the last word.
  std::string Plain;
  int Depth = 0;
  for (char C : Signature) {
    Depth += C == '<';
    if (Depth == 0 && C == '(')
      break;
    if (Depth == 0)
      Plain += C;
    Depth -= C == '>';
  }
  StringRef Name = Plain;
  Name = Name.rtrim();
  if (size_t Space = Name.rfind(' '); Space != StringRef::npos)
    Name = Name.substr(Space + 1);
  if (size_t Colon = Name.rfind(':'); Colon != StringRef::npos)
    Name = Name.substr(Colon + 1);
  return Name.str();
}

const AllocaInst *localVariable(const Value *Pointer) {
  return dyn_cast<AllocaInst>(Pointer->stripPointerCasts());
}

static std::string folderOf(const DIFile &File) {
  SmallString<128> Path(File.getFilename());
  if (!sys::path::is_absolute(Path)) {
    Path = File.getDirectory();
    sys::path::append(Path, File.getFilename());
  }
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return sys::path::parent_path(Path).str();
}

/// Functions of the toolkit's and the compiler's headers are not the kernel's.
static bool isOwn(const Function &F) {
  const DISubprogram *Program = F.getSubprogram();
  if (!Program || !Program->getUnit() || F.isDeclaration())
    return false;
  std::string Folder = folderOf(*Program->getFile());
  std::string Unit = folderOf(*Program->getUnit()->getFile());
  return Folder == Unit || StringRef(Folder).starts_with(Unit + "/");
}

static std::vector<Function *> reachable(Function &Kernel) {
  std::vector<Function *> Found = {&Kernel};
  std::set<Function *> Seen = {&Kernel};
  for (size_t I = 0; I < Found.size(); ++I)
    for (Instruction &Inst : instructions(*Found[I]))
      if (auto *Call = dyn_cast<CallInst>(&Inst))
        if (Function *Callee = Call->getCalledFunction();
            Callee && isOwn(*Callee) && Seen.insert(Callee).second)
          Found.push_back(Callee);
  return Found;
}

static Expected<Sites> sitesOf(Module &M, StringRef Symbol,
                               ArrayRef<Workload> Recorded) {
  Function *Kernel = M.getFunction(Symbol);
  if (!Kernel || Kernel->isDeclaration())
    return usageError("the device code has no kernel '" + Symbol + "'");
  if (!Kernel->getSubprogram())
    return usageError("the device code of '" + Symbol + "' has no lines",
                      "compile it with -gline-tables-only");
  Sites S;
  for (Function *F : reachable(*Kernel)) {
    for (Instruction &I : instructions(*F)) {
      addArithmetic(I, S);
      addConstants(I, S);
      addPrecision(I, S);
      addConditions(I, S);
      addMemory(I, S);
      addWidths(I, S);
      addAtomics(I, S);
      if (auto *Call = dyn_cast<CallInst>(&I))
        addCalls(*Call, Recorded, S);
    }
    addLoops(*F, S);
  }
  addRecorded(*Kernel, Recorded, S);
  return S;
}

Expected<std::vector<Mutation>> listMutations(StringRef Bitcode,
                                              StringRef Symbol,
                                              ArrayRef<Workload> Recorded) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  Expected<Sites> S = sitesOf(**M, Symbol, Recorded);
  if (!S)
    return S.takeError();
  std::vector<Mutation> Result;
  for (const Site &One : S->All)
    Result.push_back(One.M);
  return Result;
}

Expected<std::string> applyMutation(StringRef Bitcode, StringRef Symbol,
                                    unsigned Index,
                                    ArrayRef<Workload> Recorded) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  Expected<Sites> S = sitesOf(**M, Symbol, Recorded);
  if (!S)
    return S.takeError();
  if (Index >= S->All.size())
    return usageError("'" + Symbol + "' has " + Twine(S->All.size()) +
                      " mutations, but no number " + Twine(Index));
  S->All[Index].Apply();
  std::string Complaint;
  raw_string_ostream OS(Complaint);
  if (verifyModule(**M, &OS))
    return findingError("mutation " + S->All[Index].M.str() +
                        " generates invalid code: " + Complaint);
  std::string Result;
  raw_string_ostream Out(Result);
  WriteBitcodeToFile(**M, Out);
  return Result;
}

Expected<std::string> printModule(StringRef Bitcode) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  std::string Text;
  raw_string_ostream OS(Text);
  (*M)->print(OS, nullptr);
  return Text;
}

} // namespace cupilot
