//===- PtxRows.cpp - The cpu device's answers to rows -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: ptx-rows-on-cpu ANSWERS [PART/PARTS | ROW]   what differs from ANSWERS
//        ptx-rows-on-cpu --write NAMES                answers of the cpu device
//        ptx-rows-on-cpu --differences RAW MOST       tuples that differ from a
//                                                     GPU's .raw file
//        ptx-rows-on-cpu --tuples ROW BLOCK           operands and results
//
// benchmarks/ptx-rows has the rows; ANSWERS are a GPU's. Exit status 1: a row
// differs or cannot run.
//
//===----------------------------------------------------------------------===//

#include "../../benchmarks/ptx-rows/Row.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <fstream>
#include <map>

using namespace llvm;
using namespace cupilot;
using namespace ptxrows;

namespace {
/// Gets the words that each row left.
using Visitor = function_ref<void(const Row &, std::vector<uint64_t> &)>;

struct Failure {
  std::string Row, Why;
};
} // namespace

static Error runKernel(CpuModule &M, ArrayRef<Row> Rows, unsigned Kernel,
                       Visitor Visit) {
  std::vector<uint64_t> In, Out;
  size_t Words = 0;
  for (const Row &R : Rows) {
    std::vector<uint64_t> Own = operandsOf(R);
    In.insert(In.end(), Own.begin(), Own.end());
    Words += size_t(Tuples) * R.Outputs.size();
  }
  Out.resize(Words + 2);
  // Vectors of 16 bytes are aligned to that.
  auto Aligned = [](std::vector<uint64_t> &V) {
    return V.data() + (reinterpret_cast<uintptr_t>(V.data()) % 16 ? 1 : 0);
  };
  In.resize(In.size() + 2);
  uint64_t *From = Aligned(In), *Into = Aligned(Out);
  if (From != In.data())
    std::copy_backward(In.begin(), In.end() - 2, In.end() - 1);
  auto Memory = DeviceMemory::create();
  Memory->addBuffer(From, (In.size() - 2) * 8);
  Memory->addBuffer(Into, Words * 8);
  LaunchShape Shape;
  Shape.Grid = {Blocks, 1, 1};
  Shape.Block = {BlockTuples, 1, 1};
  const void *Args[] = {&From, &Into};
  Expected<LaunchResult> R =
      M.launch("rows" + std::to_string(Kernel), Shape, Args, *Memory);
  if (!R)
    return R.takeError();
  if (R->Fault)
    return createStringError(R->Fault->str());
  uint64_t *At = Into;
  for (const Row &Each : Rows) {
    uint64_t *End = At + size_t(Tuples) * Each.Outputs.size();
    std::vector<uint64_t> Own(At, End);
    Visit(Each, Own);
    At = End;
  }
  return Error::success();
}

/// Runs a part; rows that cannot run are added to \p Failures.
static Error runPart(const Part &P, Visitor Visit,
                     std::vector<Failure> &Failures) {
  CpuDeviceOptions O;
  O.CheckBounds = O.CheckDivergence = false;
  O.CanonicalNans = true;
  auto M = loadPtx(P.ptx(), O);
  if (!M)
    return M.takeError();
  for (size_t First = 0; First < P.Rows.size(); First += GroupRows) {
    ArrayRef<Row> Rows = ArrayRef(P.Rows).slice(First).take_front(GroupRows);
    Error E =
        runKernel(**M, Rows, static_cast<unsigned>(First / GroupRows), Visit);
    if (!E)
      continue;
    std::string Why = toString(std::move(E));
    if (P.Rows.size() == 1) {
      Failures.push_back({Rows[0].Name, Why});
      continue;
    }
    for (const Row &R : Rows) // One of them is the cause.
      if (Error Broken = runPart(Part{{R}}, Visit, Failures))
        return Broken;
  }
  return Error::success();
}

static Expected<std::vector<Answer>> readFrom(const std::string &Path) {
  std::ifstream File(Path);
  if (!File)
    return usageError("cannot read '" + Path + "'");
  return readAnswers(File);
}

static Error runRows(const std::vector<Row> &Rows, Visitor Visit,
                     std::vector<Failure> &Failures) {
  for (const Part &P : partsOf(Rows))
    if (Error E = runPart(P, Visit, Failures))
      return E;
  return Error::success();
}

static Expected<bool> compareWith(const std::string &Path, StringRef Only) {
  auto Answers = readFrom(Path);
  if (!Answers)
    return Answers.takeError();
  std::map<std::string, Answer> Expected;
  for (const Answer &A : *Answers)
    Expected[A.Row] = A;
  std::vector<Row> Rows = rowsNamed(*Answers);
  if (Rows.size() != Answers->size())
    return usageError("'" + Path + "' names a row that there is not, or twice");
  unsigned Number = 0, Of = 0;
  auto [First, Second] = Only.split('/');
  if (!First.getAsInteger(10, Number) && !Second.getAsInteger(10, Of) && Of) {
    // Parts as a whole, so that each is compiled once.
    std::vector<Row> Mine;
    for (auto [I, P] : enumerate(partsOf(Rows)))
      if (I % Of == Number)
        Mine.insert(Mine.end(), P.Rows.begin(), P.Rows.end());
    Rows = std::move(Mine);
  } else if (!Only.empty()) {
    llvm::erase_if(Rows, [&](const Row &R) { return R.Name != Only; });
  }
  std::vector<Failure> Failures;
  size_t Same = 0, Differ = 0;
  Error E = runRows(
      Rows,
      [&](const Row &R, std::vector<uint64_t> &Out) {
        Answer A = answerOf(R, Out);
        const Answer &Want = Expected[R.Name];
        if (A.Digests == Want.Digests) {
          ++Same;
          return;
        }
        ++Differ;
        outs() << R.Name << ": differs in blocks";
        for (unsigned B = 0; B < Blocks; ++B)
          if (B >= Want.Digests.size() || A.Digests[B] != Want.Digests[B])
            outs() << ' ' << B;
        outs() << "\n";
      },
      Failures);
  if (E)
    return std::move(E);
  for (const Failure &F : Failures)
    outs() << F.Row << ": cannot run: " << F.Why << "\n";
  outs() << Same << " rows of " << Tuples << " tuples are the same, " << Differ
         << " differ, " << Failures.size() << " cannot run\n";
  return Differ + Failures.size() > 0;
}

/// What \p Visit gets is written; rows that cannot run go to stderr.
static Expected<bool> writeAll(const std::string &Path, Visitor Visit) {
  auto Names = readFrom(Path);
  if (!Names)
    return Names.takeError();
  std::vector<Failure> Failures;
  if (Error E = runRows(rowsNamed(*Names), Visit, Failures))
    return std::move(E);
  for (const Failure &F : Failures)
    errs() << F.Row << ": cannot run: " << F.Why << "\n";
  return !Failures.empty();
}

/// The words of a row that a GPU left, from a .raw file: bytes of one
/// significance of all tuples together.
static bool readRaw(std::istream &In, const Row &R,
                    std::vector<uint64_t> &Words) {
  Words.assign(size_t(Tuples) * R.Outputs.size(), 0);
  std::vector<char> Plane(Tuples);
  for (auto [I, O] : enumerate(R.Outputs))
    for (unsigned Byte = 0; Byte < std::max(bitsOf(O.Of) / 8, 1u); ++Byte) {
      if (!In.read(Plane.data(), Tuples))
        return false;
      for (size_t T = 0; T < Tuples; ++T)
        Words[T * R.Outputs.size() + I] |=
            uint64_t(static_cast<uint8_t>(Plane[T])) << (8 * Byte);
    }
  return true;
}

static void printWords(const uint64_t *Words, size_t Count) {
  for (size_t I = 0; I < Count; ++I)
    outs() << format(" %llx", static_cast<unsigned long long>(Words[I]));
}

/// Prints up to \p Most tuples of each row of \p Path where the cpu device
/// differs from what the GPU left.
static Expected<bool> printDifferences(const std::string &Path,
                                       StringRef Most) {
  unsigned Limit = 0;
  std::ifstream File(Path, std::ios::binary);
  if (!File || Most.getAsInteger(10, Limit))
    return usageError("cannot read '" + Path + "', or no number");
  std::map<std::string, Row> Known;
  for (Row &R : allRows())
    Known[R.Name] = R;
  std::map<std::string, std::vector<uint64_t>> Gpu;
  std::vector<Answer> Names;
  for (std::string Name; std::getline(File, Name);) {
    if (!Known.count(Name) || !readRaw(File, Known[Name], Gpu[Name]))
      return usageError("'" + Path + "' is cut off, or has an unknown row '" +
                        Name + "'");
    Names.push_back({Name, {}});
  }
  std::vector<Failure> Failures;
  size_t Same = 0, Differ = 0;
  Error E = runRows(
      rowsNamed(Names),
      [&](const Row &R, std::vector<uint64_t> &Out) {
        std::vector<uint64_t> In = operandsOf(R), &Other = Gpu[R.Name];
        answerOf(R, Out); // What is open is masked.
        answerOf(R, Other);
        for (size_t I = 0; I < Out.size(); ++I)
          if (unsigned Bits = bitsOf(R.Outputs[I % R.Outputs.size()].Of);
              Bits < 64) // Raw files have no more.
            Out[I] &= (uint64_t(1) << Bits) - 1;
        unsigned Found = 0;
        const size_t Count = R.Outputs.size(), Sources = R.Inputs.size();
        for (size_t T = 0; T < Tuples; ++T) {
          if (std::equal(&Out[T * Count], &Out[T * Count] + Count,
                         &Other[T * Count]))
            continue;
          if (++Found > Limit)
            continue;
          outs() << R.Name << ": " << T << ":";
          printWords(&In[T * Sources], Sources);
          outs() << " -> GPU";
          printWords(&Other[T * Count], Count);
          outs() << ", cpu device";
          printWords(&Out[T * Count], Count);
          outs() << "\n";
        }
        Found ? ++Differ : ++Same;
        if (Found)
          outs() << R.Name << ": " << Found << " tuples differ\n";
      },
      Failures);
  if (E)
    return std::move(E);
  for (const Failure &F : Failures)
    outs() << F.Row << ": cannot run: " << F.Why << "\n";
  outs() << Same << " same, " << Differ << " differ, " << Failures.size()
         << " cannot run\n";
  return Differ + Failures.size() > 0;
}

static Expected<bool> printTuples(StringRef Name, StringRef Which) {
  unsigned Block = 0;
  if (Which.getAsInteger(10, Block) || Block >= Blocks)
    return usageError("there are " + Twine(Blocks) + " blocks");
  std::vector<Row> Rows = rowsNamed({{Name.str(), {}}});
  if (Rows.empty())
    return usageError("there is no row '" + Name + "'");
  const Row &R = Rows.front();
  outs() << R.Body << "\n";
  std::vector<uint64_t> In = operandsOf(R);
  std::vector<Failure> Failures;
  Error E = runRows(
      Rows,
      [&](const Row &, std::vector<uint64_t> &Out) {
        answerOf(R, Out);
        for (size_t T = Block * BlockTuples; T < (Block + 1) * BlockTuples;
             ++T) {
          outs() << T << ':';
          printWords(&In[T * R.Inputs.size()], R.Inputs.size());
          outs() << " ->";
          printWords(&Out[T * R.Outputs.size()], R.Outputs.size());
          outs() << "\n";
        }
      },
      Failures);
  if (E)
    return std::move(E);
  for (const Failure &F : Failures)
    errs() << F.Row << ": cannot run: " << F.Why << "\n";
  return !Failures.empty();
}

static Expected<bool> run(ArrayRef<std::string> Args) {
  if (Args.size() == 2 && Args[0] == "--write")
    return writeAll(Args[1], [](const Row &R, std::vector<uint64_t> &Out) {
      outs() << lineOf(answerOf(R, Out)) << "\n";
    });
  if (Args.size() == 3 && Args[0] == "--differences")
    return printDifferences(Args[1], Args[2]);
  if (Args.size() == 3 && Args[0] == "--tuples")
    return printTuples(Args[1], Args[2]);
  if ((Args.size() == 1 || Args.size() == 2) && Args[0][0] != '-')
    return compareWith(Args[0], Args.size() == 2 ? Args[1] : "");
  return usageError("the arguments are wrong; the source has them");
}

int main(int Argc, char **Argv) {
  Expected<bool> Bad = run(std::vector<std::string>(Argv + 1, Argv + Argc));
  if (!Bad)
    return reportError(Bad.takeError(), "ptx-rows-on-cpu");
  return *Bad ? 1 : 0;
}
