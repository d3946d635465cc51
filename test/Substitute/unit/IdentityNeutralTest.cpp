//===- IdentityNeutralTest.cpp - What identities do not tell apart --------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes that cannot change what a kernel does keep its identity, alone and
// together.
//
//===----------------------------------------------------------------------===//

#include "IdentityModule.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include <random>

using namespace cupilot;
using namespace llvm;

namespace {
/// Changes that no kernel can notice.
const std::pair<StringRef, void (*)(Module &, std::mt19937_64 &)> Neutral[] = {
    {"rename values",
     [](Module &M, std::mt19937_64 &R) {
       for (Function &F : M) {
         if (F.isDeclaration())
           continue;
         for (Argument &A : F.args())
           A.setName("v" + Twine(R()));
         for (BasicBlock &BB : F)
           BB.setName(R() % 2 ? "b" + Twine(R()) : Twine());
         for (Instruction &I : instructions(F))
           if (!I.getType()->isVoidTy())
             I.setName(R() % 2 ? "v" + Twine(R()) : Twine());
       }
     }},
    {"rename functions",
     [](Module &M, std::mt19937_64 &R) {
       for (Function &F : M)
         if (!F.isDeclaration())
           F.setName("f" + Twine(R()));
     }},
    {"rename constants and types",
     [](Module &M, std::mt19937_64 &R) {
       for (GlobalVariable &G : M.globals())
         if (!isDeviceVariable(G))
           G.setName("g" + Twine(R()));
       for (StructType *T : M.getIdentifiedStructTypes())
         T->setName(("t" + Twine(R())).str());
     }},
    {"reorder",
     [](Module &M, std::mt19937_64 &R) {
       for (unsigned K = 0; K < 8; ++K) {
         auto &Functions = M.getFunctionList();
         auto F = std::next(Functions.begin(), R() % Functions.size());
         Functions.splice(Functions.begin(), Functions, F);
         auto G = std::next(M.global_begin(), R() % M.global_size());
         GlobalVariable *Moved = &*G;
         M.removeGlobalVariable(Moved);
         M.insertGlobalVariable(R() % 2 ? M.global_begin() : M.global_end(),
                                Moved);
       }
     }},
    {"add the unrelated",
     [](Module &M, std::mt19937_64 &R) {
       IRBuilder<> B(M.getContext());
       auto *Type = FunctionType::get(B.getVoidTy(), false);
       auto *G = new GlobalVariable(
           M, B.getInt32Ty(), false, GlobalValue::ExternalLinkage,
           B.getInt32(static_cast<uint32_t>(R())), "other" + Twine(R()),
           nullptr, GlobalValue::NotThreadLocal, 1);
       auto *F = Function::Create(Type, GlobalValue::ExternalLinkage,
                                  "other" + Twine(R()), M);
       if (R() % 2)
         F->setCallingConv(CallingConv::PTX_Kernel);
       B.SetInsertPoint(BasicBlock::Create(M.getContext(), "", F));
       B.CreateStore(B.getInt32(1), G);
       B.CreateRetVoid();
     }},
    {"add debug information",
     [](Module &M, std::mt19937_64 &R) {
       if (!M.getModuleFlag("Debug Info Version"))
         M.addModuleFlag(Module::Warning, "Debug Info Version", 3);
       DIBuilder D(M);
       DIFile *File = D.createFile("f" + std::to_string(R()), "/");
       D.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_C_plus_plus),
                           File, "", false, "", 0);
       auto *Type = D.createSubroutineType(D.getOrCreateTypeArray({}));
       for (Function &F : M) {
         if (F.isDeclaration())
           continue;
         DISubprogram *S =
             D.createFunction(File, F.getName(), "", File, 1, Type, 1,
                              DINode::FlagZero, DISubprogram::SPFlagDefinition);
         F.setSubprogram(S);
         for (Instruction &I : instructions(F))
           I.setDebugLoc(DILocation::get(M.getContext(), R() % 999 + 1, 1, S));
       }
       D.finalize();
     }},
    {"add TBAA",
     [](Module &M, std::mt19937_64 &R) {
       MDBuilder B(M.getContext());
       MDNode *Type = B.createTBAAScalarTypeNode("t" + std::to_string(R()),
                                                 B.createTBAARoot("root"));
       for (Function &F : M)
         for (Instruction &I : instructions(F))
           if (isa<LoadInst, StoreInst>(I) && R() % 2)
             I.setMetadata(LLVMContext::MD_tbaa,
                           B.createTBAAStructTagNode(Type, Type, 0));
     }},
    {"lifetime markers",
     [](Module &M, std::mt19937_64 &) {
       for (Function &F : M)
         for (Instruction &I : make_early_inc_range(instructions(F)))
           if (I.isLifetimeStartOrEnd())
             I.eraseFromParent();
           else if (auto *A = dyn_cast<AllocaInst>(&I))
             IRBuilder<>(A->getNextNode()).CreateLifetimeStart(A);
     }},
    {"inlining attributes",
     [](Module &M, std::mt19937_64 &R) {
       for (Function &F : M)
         if (!F.isDeclaration()) {
           F.removeFnAttr(Attribute::AlwaysInline);
           F.removeFnAttr(Attribute::NoInline);
           F.addFnAttr(R() % 2 ? Attribute::AlwaysInline : Attribute::NoInline);
           if (R() % 2)
             F.addFnAttr(Attribute::InlineHint);
         }
     }},
    {"source file", [](Module &M, std::mt19937_64 &R) {
       M.setSourceFileName(std::to_string(R()) + ".cu");
       M.setModuleIdentifier(std::to_string(R()));
     }}};

TEST(IdentityProperty, NamesOrderAndHintsDoNotCount) {
  const std::string Before = identityOf(Source);
  // Each alone, then some together.
  for (unsigned Seed = 0; Seed < 400; ++Seed) {
    std::mt19937_64 Random(Seed);
    Parsed P(Source);
    ASSERT_TRUE(P.M);
    Function *Kernel = P.M->getFunction("kernel");
    std::string What;
    for (unsigned K = 0, E = Seed < 50 ? 1 : 2 + Seed % 6; K < E; ++K) {
      auto [Name, Change] = Neutral[E == 1 ? Seed % std::size(Neutral)
                                           : Random() % std::size(Neutral)];
      Change(*P.M, Random);
      What += Name.str() + "; ";
    }
    ASSERT_EQ(identityOf(Kernel), Before) << "seed " << Seed << ": " << What;
  }
}
} // namespace
