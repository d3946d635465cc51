//===- DomainFormsTest.cpp - Gate, build and source decide alike ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random domains and launches: contains(), the IR of a build, the operations of
// an MLIR module, and the ejected C++, compiled once, must all say what exact
// arithmetic says.
//
//===----------------------------------------------------------------------===//

#include "ExactDomain.h"
#include "MlirConditions.h"
#include "Text.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Substitute/EmitGuard.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"
#include <fstream>
#include <random>

using namespace cupilot;
using namespace llvm;
using exact::Args;
using K = Expr::Kind;

namespace {
/// Bytes of the arguments, and what lies in them.
const unsigned ArgBytes[] = {8, 8, 4, 8, 32, 2, 4, 8};
const std::vector<ScalarRef> Scalars = {{2, 0, 32, true},  {3, 0, 64, true},
                                        {4, 0, 32, false}, {4, 4, 8, true},
                                        {4, 8, 64, false}, {5, 0, 16, true}};
const std::vector<PointerRef> Pointers = {{0, 0}, {1, 0}, {4, 16}};
const FloatRef Floats[] = {{6, 0, FloatRef::Format::Float},
                           {7, 0, FloatRef::Format::Double},
                           {4, 24, FloatRef::Format::Half},
                           {4, 26, FloatRef::Format::BFloat}};

struct Launched {
  LaunchShape Shape;
  Args A;
  Bindings B;
};

class Random {
public:
  explicit Random(uint64_t Seed) : Engine(Seed) {}
  uint64_t below(uint64_t N) { return Engine() % N; }
  bool chance(unsigned Percent) { return below(100) < Percent; }
  int64_t number() {
    static const int64_t Special[] = {
        0,         1,         -1,        2,         31,           32,
        33,        1024,      65536,     INT32_MAX, INT32_MIN,    1ll << 31,
        1ll << 32, INT64_MAX, INT64_MIN, 1ll << 62, INT64_MAX - 7};
    switch (below(5)) {
    case 0:
      return Special[below(std::size(Special))];
    case 1:
      return int64_t(Engine());
    default:
      return int64_t(below(300)) - 40;
    }
  }
  Expr expr(unsigned Depth) {
    if (Depth == 0 || chance(40)) {
      if (chance(20))
        return Expr::constant(number());
      return chance(30) ? Expr::dim(below(NumLaunchDims))
                        : Expr::symbol(below(Scalars.size()));
    }
    static const K Kinds[] = {K::Add, K::Mul,      K::Mul,
                              K::Mod, K::FloorDiv, K::CeilDiv};
    return Expr::binary(Kinds[below(6)], expr(Depth - 1), expr(Depth - 1));
  }
  Launched launch() {
    Launched L;
    for (unsigned I = 0; I < 3; ++I) {
      L.Shape.Grid[I] = chance(90) ? 1 + below(100) : 1 + below(65535);
      L.Shape.Block[I] = 1 + below(I ? 4 : 256);
    }
    L.Shape.Shared = below(4096);
    for (unsigned Bytes : ArgBytes) {
      std::vector<uint8_t> Arg(Bytes);
      for (unsigned At = 0; At < Bytes; At += 8) {
        uint64_t Value = uint64_t(number());
        std::memcpy(Arg.data() + At, &Value, std::min(8u, Bytes - At));
      }
      L.A.push_back(std::move(Arg));
    }
    // Buffers that lie near each other, at the ends of the address space, null.
    uint64_t Base = chance(85) ? 0x7f0000000000 + below(64) * 4
                               : uint64_t(0) - 1 - below(200);
    for (const PointerRef &P : Pointers) {
      uint64_t Address = chance(12) ? 0 : Base + below(400) - 200;
      std::memcpy(L.A[P.Param].data() + P.Offset, &Address, 8);
    }
    static const float Known[] = {0.0f, -0.0f, 1.0f, -1.0f, 1e-42f};
    if (chance(60))
      std::memcpy(L.A[6].data(), &Known[below(5)], 4);
    L.B = cantFail(bindLaunch(L.Shape, Scalars, L.A));
    return L;
  }
  /// In order and apart; \p Near lies in one of them, most of the time.
  std::vector<Interval> intervals(int64_t Near, int64_t Least, int64_t Most) {
    std::vector<int64_t> Ends;
    for (unsigned I = 2 * (1 + below(3)); I > 0; --I)
      Ends.push_back(std::clamp(number(), Least, Most));
    if (chance(90)) {
      int64_t By = int64_t(below(3) ? below(100) : 0);
      Ends = {Near < Least + By ? Least : Near - By,
              Near > Most - By ? Most : Near + By};
      if (chance(20))
        Ends.front() = Least;
      if (chance(20))
        Ends.back() = Most;
    }
    llvm::sort(Ends);
    std::vector<Interval> In;
    for (size_t I = 0; I + 1 < Ends.size(); I += 2)
      if (In.empty() || In.back().Most < Ends[I])
        In.push_back({Ends[I], Ends[I + 1]});
    return In;
  }
  Extents extents() {
    Extents E;
    if (chance(25))
      E.Begin = Expr::constant(int64_t(below(64)) - 40);
    E.End = chance(60)
                ? Expr::binary(K::Mul, Expr::dim(below(3)), Expr::constant(4))
                : expr(1);
    return E;
  }
  /// A box that \p Near lies in, most of the time.
  DomainBox box(const Launched &Near) {
    DomainBox Box;
    if (chance(20))
      Box.Seen = DomainBox::By::Gpu;
    for (unsigned I = below(5); I > 0; --I) {
      Expr E = expr(2);
      int64_t V = evaluate(E, Near.B).value_or(0);
      Box.Ranges.push_back({E, intervals(V, INT64_MIN, INT64_MAX)});
    }
    for (unsigned I = below(3); I > 0; --I) {
      ResidueClause C{
          expr(1), 1 + int64_t(below(chance(80) ? 70 : 1u << 30)), {}};
      int64_t V = evaluate(C.E, Near.B).value_or(0) % C.Modulus;
      std::vector<int64_t> In = {V < 0 ? V + C.Modulus : V};
      for (unsigned J = below(4); J > 0; --J)
        In.push_back(int64_t(below(uint64_t(C.Modulus))));
      llvm::sort(In);
      In.erase(llvm::unique(In), In.end());
      C.In = std::move(In);
      Box.Residues.push_back(std::move(C));
    }
    for (unsigned I = below(3); I > 0; --I) {
      const FloatRef &F = Floats[below(4)];
      int64_t Top = F.bits() == 64 ? INT64_MAX : (1ll << (F.bits() - 1)) - 1;
      int64_t Key =
          floatKey(exact::bits(Near.A, F.Param, F.Offset, F.bits()), F.bits());
      Box.Floats.push_back({F, intervals(Key, -Top - 1, Top)});
    }
    for (const PointerRef &P : Pointers) {
      uint64_t Address = exact::bits(Near.A, P.Param, P.Offset, 64);
      if (chance(30))
        Box.Nulls.push_back({P, chance(90) == (Address == 0)});
      if (chance(20))
        Box.Alignments.push_back({P, 1u << below(chance(90) ? 3 : 32)});
    }
    for (auto [I, J] : {std::pair(0, 1), {0, 2}, {2, 1}})
      if (chance(30))
        Box.Pairs.push_back({Pointers[size_t(I)], Pointers[size_t(J)],
                             chance(10), extents(), extents()});
    return Box;
  }
  Domain domain(ArrayRef<Launched> Near) {
    Domain D;
    for (const Launched &L : Near)
      D.Boxes.push_back(box(L));
    // What several boxes share is looked at once.
    const DomainBox First = D.Boxes.front();
    for (DomainBox &Box : drop_begin(D.Boxes))
      if (chance(50)) {
        Box.Ranges.insert(Box.Ranges.end(), First.Ranges.begin(),
                          First.Ranges.end());
        Box.Nulls = First.Nulls;
        Box.Pairs = First.Pairs;
      }
    return D;
  }

private:
  std::mt19937_64 Engine;
};

/// Both forms of many domains as functions.
class Forms {
public:
  explicit Forms(ArrayRef<Domain> All);
  bool emitted(size_t I, Launched L) const { return call(Emitted[I], L); }
  bool mlir(size_t I, Launched L) const { return call(InMlir[I], L); }
  /// The place of the clause; -1 inside.
  int outside(size_t I, Launched L) const { return call(Outside[I], L); }
  bool ejected(size_t I, Launched L) const {
    std::vector<void *> Raw = addresses(L);
    unsigned Dims[6];
    for (unsigned D = 0; D < 3; ++D) {
      Dims[D] = unsigned(L.Shape.Grid[D]);
      Dims[D + 3] = unsigned(L.Shape.Block[D]);
    }
    return Ejected[I](Dims, L.Shape.Shared, Raw.data());
  }

private:
  using Jitted = int (*)(const int64_t *, void **);
  using Native = bool (*)(const unsigned *, size_t, void **);
  static std::vector<void *> addresses(Launched &L) {
    std::vector<void *> Raw;
    for (std::vector<uint8_t> &Arg : L.A)
      Raw.push_back(Arg.data());
    return Raw;
  }
  static int call(Jitted F, Launched &L) {
    std::vector<void *> Raw = addresses(L);
    return F(L.B.Dims.data(), Raw.data());
  }
  void emit(ArrayRef<Domain> All);
  void emitMlir(ArrayRef<Domain> All);
  void eject(ArrayRef<Domain> All);

  std::unique_ptr<orc::LLJIT> Jit;
  std::vector<Jitted> Emitted, Outside, InMlir;
  std::vector<Native> Ejected;
};
} // namespace

Forms::Forms(ArrayRef<Domain> All) {
  emit(All);
  emitMlir(All);
  eject(All);
}

void Forms::emit(ArrayRef<Domain> All) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  // It is compiled for one run.
  orc::JITTargetMachineBuilder Machine =
      cantFail(orc::JITTargetMachineBuilder::detectHost());
  Machine.setCodeGenOptLevel(CodeGenOptLevel::None);
  Jit = cantFail(
      orc::LLJITBuilder().setJITTargetMachineBuilder(Machine).create());
  auto Context = std::make_unique<LLVMContext>();
  auto M = std::make_unique<Module>("domains", *Context);
  M->setDataLayout(Jit->getDataLayout());
  LaunchPlan Plan;
  Plan.Launches.emplace_back();
  for (Expr &Side : Plan.Launches.front().Grid)
    Side = Expr::constant(1);
  Plan.Launches.front().Block = Plan.Launches.front().Grid;
  for (auto [I, D] : enumerate(All))
    for (StringRef What : {"f", "g"}) {
      IRBuilder<> B(*Context);
      auto *F = Function::Create(
          FunctionType::get(B.getInt32Ty(), {B.getPtrTy(), B.getPtrTy()},
                            false),
          Function::ExternalLinkage, What + Twine(I), *M);
      B.SetInsertPoint(BasicBlock::Create(*Context, "", F));
      LaunchValues Values;
      for (unsigned Dim = 0; Dim < NumLaunchDims; ++Dim)
        Values.Dims[Dim] = B.CreateLoad(
            B.getInt64Ty(),
            B.CreateConstGEP1_64(B.getInt64Ty(), F->getArg(0), Dim));
      Values.Args = F->getArg(1);
      EmittedPlan Out;
      B.CreateRet(What == "f" ? B.CreateZExt(emitGuard(B, Guard(), &D, Plan,
                                                       Scalars, Values, Out),
                                             B.getInt32Ty())
                              : emitOutside(B, D, Scalars, Values));
    }
  EXPECT_FALSE(verifyModule(*M, &errs()));
  cantFail(Jit->addIRModule(
      orc::ThreadSafeModule(std::move(M), std::move(Context))));
  for (size_t I = 0; I < All.size(); ++I) {
    Emitted.push_back(
        cantFail(Jit->lookup(("f" + Twine(I)).str())).toPtr<Jitted>());
    Outside.push_back(
        cantFail(Jit->lookup(("g" + Twine(I)).str())).toPtr<Jitted>());
  }
}

/// Launches in MLIR have no fields: each number here is a parameter of its own.
static unsigned slotOf(unsigned Param, unsigned Offset) {
  return 64 * Param + Offset;
}

namespace {
/// Numbers from where Forms::call passes them.
class LoadedNumbers final : public LaunchNumbers {
public:
  explicit LoadedNumbers(mlir::LLVM::LLVMFuncOp F) : F(F) {}

  mlir::Value dim(mlir::ImplicitLocOpBuilder &B, LaunchDim D) const override {
    return load(B, F.getArgument(0), 8 * D, B.getI64Type());
  }
  mlir::Value argument(mlir::ImplicitLocOpBuilder &B,
                       unsigned Slot) const override {
    mlir::Value Address =
        load(B, F.getArgument(1), 8 * (Slot / 64),
             mlir::LLVM::LLVMPointerType::get(B.getContext()));
    return load(B, Address, Slot % 64, typeOf(B, Slot));
  }

private:
  static mlir::Value load(mlir::ImplicitLocOpBuilder &B, mlir::Value From,
                          unsigned Offset, mlir::Type T) {
    mlir::Value At = mlir::LLVM::GEPOp::create(
        B, From.getType(), B.getI8Type(), From,
        ArrayRef<mlir::LLVM::GEPArg>{int32_t(Offset)});
    return mlir::LLVM::LoadOp::create(B, T, At, /*alignment=*/1);
  }
  static mlir::Type typeOf(mlir::ImplicitLocOpBuilder &B, unsigned Slot) {
    for (const ScalarRef &S : Scalars)
      if (slotOf(S.Param, S.Offset) == Slot)
        return B.getIntegerType(S.Bits);
    for (const FloatRef &N : Floats)
      if (slotOf(N.Param, N.Offset) == Slot)
        return N.Type == FloatRef::Format::Half     ? mlir::Type(B.getF16Type())
               : N.Type == FloatRef::Format::BFloat ? B.getBF16Type()
               : N.Type == FloatRef::Format::Float  ? B.getF32Type()
                                                    : B.getF64Type();
    return B.getI64Type();
  }

  mutable mlir::LLVM::LLVMFuncOp F;
};
} // namespace

/// \p D over the parameters of LoadedNumbers.
static Domain withoutFields(Domain D) {
  auto Move = [](auto &Ref) { Ref = {slotOf(Ref.Param, Ref.Offset), 0}; };
  for (DomainBox &Box : D.Boxes) {
    for (FloatClause &C : Box.Floats)
      C.Number = {slotOf(C.Number.Param, C.Number.Offset), 0, C.Number.Type};
    for (NullClause &C : Box.Nulls)
      Move(C.Pointer);
    for (Alignment &C : Box.Alignments)
      Move(C.Pointer);
    for (PairClause &C : Box.Pairs) {
      Move(C.A);
      Move(C.B);
    }
  }
  return D;
}

void Forms::emitMlir(ArrayRef<Domain> All) {
  mlir::DialectRegistry Registry;
  mlir::registerAllToLLVMIRTranslations(Registry);
  mlir::MLIRContext C(Registry);
  C.loadDialect<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                mlir::LLVM::LLVMDialect, mlir::scf::SCFDialect>();
  mlir::ImplicitLocOpBuilder B(mlir::UnknownLoc::get(&C), &C);
  mlir::OwningOpRef<mlir::ModuleOp> M = mlir::ModuleOp::create(B.getLoc());
  std::vector<ScalarRef> Own;
  for (const ScalarRef &S : Scalars)
    Own.push_back({slotOf(S.Param, S.Offset), 0, S.Bits, S.Signed});
  auto Pointer = mlir::LLVM::LLVMPointerType::get(&C);
  for (auto [I, D] : enumerate(All)) {
    B.setInsertionPointToEnd(M->getBody());
    auto F = mlir::LLVM::LLVMFuncOp::create(
        B, "m" + std::to_string(I),
        mlir::LLVM::LLVMFunctionType::get(B.getI32Type(), {Pointer, Pointer}));
    B.setInsertionPointToStart(F.addEntryBlock(B));
    BuildVariant V;
    V.Where = withoutFields(D);
    mlir::Value In = emitConditions(B, V, Own, LoadedNumbers(F)).Admitted;
    mlir::LLVM::ReturnOp::create(
        B, mlir::arith::ExtUIOp::create(B, B.getI32Type(), In).getResult());
  }
  mlir::PassManager Passes(&C);
  Passes.addPass(mlir::createSCFToControlFlowPass());
  Passes.addPass(mlir::createArithToLLVMConversionPass());
  Passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  ASSERT_TRUE(mlir::succeeded(Passes.run(*M)));
  auto Context = std::make_unique<LLVMContext>();
  std::unique_ptr<Module> IR = mlir::translateModuleToLLVMIR(*M, *Context);
  ASSERT_TRUE(IR);
  IR->setDataLayout(Jit->getDataLayout());
  cantFail(Jit->addIRModule(
      orc::ThreadSafeModule(std::move(IR), std::move(Context))));
  for (size_t I = 0; I < All.size(); ++I)
    InMlir.push_back(
        cantFail(Jit->lookup(("m" + Twine(I)).str())).toPtr<Jitted>());
}

/// The text of a source that is embedded in Eject.
static std::string printed(StringRef Name) {
  std::ifstream File(CUPILOT_SOURCE_DIR "/lib/Eject/Printed/" + Name.str());
  return {std::istreambuf_iterator<char>(File), {}};
}

void Forms::eject(ArrayRef<Domain> All) {
  EjectKernel Kernel;
  EjectHost Host;
  Host.Of = &Kernel;
  for (unsigned I = 0; I < std::size(ArgBytes); ++I) {
    Kernel.K.Params.emplace_back();
    Kernel.K.Params.back().Name = "p" + std::to_string(I);
    Kernel.K.Params.back().Size = ArgBytes[I];
  }
  Kernel.K.Scalars = Scalars;
  Kernel.K.Pointers = Pointers;
  auto Field = [](const std::string &Type, unsigned Param, unsigned Offset) {
    return "fieldAt<" + Type + ">(p" + std::to_string(Param) + ", " +
           std::to_string(Offset) + ")";
  };
  for (const ScalarRef &S : Scalars)
    Host.Scalars.push_back(Field(ejectType(S), S.Param, S.Offset));
  for (const PointerRef &P : Pointers)
    Host.Pointers.push_back(Field("void *", P.Param, P.Offset));
  for (const FloatRef &F : Floats)
    Host.Floats.emplace_back(F, Field(F.bits() == 64   ? "double"
                                      : F.bits() == 32 ? "float"
                                                       : "short",
                                      F.Param, F.Offset));
  std::string Text = "#include <cstddef>\nstruct dim3 { unsigned x, y, z; };\n"
                     "template <int N> struct Arg { char bytes[N]; };\n";
  for (StringRef Name : {"Checked.inc", "Domain.inc", "FieldAt.inc"})
    Text += printed(Name);
  for (auto [I, D] : enumerate(All)) {
    Text += formatv("extern \"C\" bool f{0}(const unsigned *dims, size_t "
                    "shared, void **args) {{\n"
                    "  dim3 grid{{dims[0], dims[1], dims[2]}, "
                    "block{{dims[3], dims[4], dims[5]};\n"
                    "  (void)grid, (void)block, (void)shared;\n",
                    I)
                .str();
    for (unsigned P = 0; P < std::size(ArgBytes); ++P)
      Text += formatv("  const auto &p{0} = *static_cast<Arg<{1}> *>(args[{0}])"
                      ";\n  (void)p{0};\n",
                      P, ArgBytes[P])
                  .str();
    Text += domainText(Host, D) + "  return true;\n}\n";
  }
  TemporaryDirectory Dir =
      cantFail(TemporaryDirectory::create("cupilot-domains"));
  cantFail(writeFileAtomic(Dir.file("domains.cpp"), Text));
  ProcessResult Made = cantFail(runProcess(
      {CUPILOT_HOST_CXX, "-std=c++17", "-O0", "-w", "-shared", "-fPIC",
       Dir.file("domains.cpp"), "-o", Dir.file("domains.so")}));
  ASSERT_EQ(Made.Status, 0) << StringRef(Made.Err).take_front(4000).str();
  std::string Why;
  auto Library = sys::DynamicLibrary::getPermanentLibrary(
      Dir.file("domains.so").c_str(), &Why);
  ASSERT_TRUE(Library.isValid()) << Why;
  for (size_t I = 0; I < All.size(); ++I) {
    Ejected.push_back(reinterpret_cast<Native>(
        Library.getAddressOfSymbol(("f" + std::to_string(I)).c_str())));
    ASSERT_TRUE(Ejected.back());
  }
}

TEST(DomainForms, AllSayWhatExactArithmeticSays) {
  Random R(1117);
  std::vector<Domain> All;
  std::vector<std::vector<Launched>> Near;
  for (unsigned I = 0; I < 160; ++I) {
    std::vector<Launched> &Anchors = Near.emplace_back();
    for (uint64_t Boxes = 1 + R.below(R.chance(60) ? 1 : 8); Boxes > 0; --Boxes)
      Anchors.push_back(R.launch());
    All.push_back(R.domain(Anchors));
  }
  Forms Made(All);
  if (HasFatalFailure())
    return;
  unsigned Inside = 0, Refused = 0;
  for (size_t I = 0; I < All.size(); ++I)
    for (unsigned Try = 0; Try < 60; ++Try) {
      Launched L = R.launch();
      // Near an anchor: one argument, or the shape, is another.
      if (Try % 3) {
        Launched Other = std::move(L);
        L = Near[I][R.below(Near[I].size())];
        if (Try % 3 == 2) {
          size_t Arg = R.below(std::size(ArgBytes) + 1);
          if (Arg < L.A.size())
            L.A[Arg] = Other.A[Arg];
          else
            L.Shape = Other.Shape;
        }
        L.B = cantFail(bindLaunch(L.Shape, Scalars, L.A));
      }
      const bool Right = exact::contains(All[I], L.B, L.A);
      std::string What = formatv("domain {0}: {1}\n", I, toJSON(All[I])).str();
      for (int64_t V : L.B.Dims)
        What += std::to_string(V) + " ";
      for (int64_t V : L.B.Symbols)
        What += "; s " + std::to_string(V);
      for (const PointerRef &P : Pointers)
        What += "; p " + utohexstr(exact::bits(L.A, P.Param, P.Offset, 64));
      ASSERT_EQ(contains(All[I], L.B, L.A), Right) << What;
      ASSERT_EQ(Made.emitted(I, L), Right) << What;
      ASSERT_EQ(Made.mlir(I, L), Right) << What;
      ASSERT_EQ(Made.ejected(I, L), Right) << What;
      // The clause that keeps it out, as the statistics name it.
      std::optional<ClauseRef> Why = clauseOutside(All[I], L.B, L.A);
      ASSERT_EQ(Why.has_value(), !Right) << What;
      int Place = -1;
      if (Why) {
        Place = int(Why->Clause);
        for (size_t Box = 0; Box < Why->Box; ++Box)
          Place += int(All[I].Boxes[Box].size());
      }
      ASSERT_EQ(Made.outside(I, L), Place) << What;
      ++(Right ? Inside : Refused);
    }
  // A test in which nearly all is refused would compare little.
  EXPECT_GT(Inside, 1000u);
  EXPECT_GT(Refused, 3000u);
}
