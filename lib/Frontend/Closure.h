//===- Closure.h - What a kernel uses -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
// Walks from a kernel over everything that its device code uses: instantiated
// bodies for what names really mean, and the text of templates for what must be
// declared. Members of classes that are not used are not followed.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_CLOSURE_H
#define CUPILOT_LIB_FRONTEND_CLOSURE_H

#include "Pieces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <set>

namespace clang {
class CXXRecordDecl;
class ClassTemplateDecl;
class EnumDecl;
class Expr;
class NamedDecl;
class QualType;
class NamespaceDecl;
class TypedefNameDecl;
class VarDecl;
} // namespace clang

namespace cupilot {

struct KernelLambdas;

/// How much of a declaration is needed.
enum class Need { No, Declaration, Definition };

class Closure {
public:
  Closure(ParsedUnit &Unit, const PieceTable &Pieces)
      : Unit(Unit), Pieces(Pieces) {}

  /// Collects what \p Kernel and its \p Lambdas use; a finding says why there
  /// can be no slice. An instance serves one kernel.
  llvm::Error collect(const clang::FunctionDecl *Kernel,
                      const KernelLambdas &Lambdas);

  /// What is needed of \p D, a declaration as written.
  Need needOf(const clang::Decl *D) const;
  const std::set<unsigned> &pieces() const { return NeededPieces; }
  const std::set<const IncludeDirective *> &includes() const {
    return Includes;
  }
  /// Namespaces that are named, or that hold something needed.
  bool isNeeded(const clang::NamespaceDecl *N) const;
  /// Variables of internal linkage that host code of the unit writes.
  llvm::ArrayRef<const clang::VarDecl *> hostVariables() const {
    return HostVariables.getArrayRef();
  }
  /// Variables of internal linkage that other device code of the unit uses.
  llvm::ArrayRef<const clang::VarDecl *> sharedVariables() const {
    return SharedVariables.getArrayRef();
  }
  /// For each entity that was visited, a digest of what its names mean.
  const std::set<std::string> &meanings() const { return Meanings; }
  /// Namespaces that `using namespace` inside needed text names.
  llvm::ArrayRef<const clang::NamespaceDecl *> namedNamespaces() const {
    return NamedNamespaces.getArrayRef();
  }
  bool usesStandardLibrary() const { return StandardLibrary; }
  bool hasPackedRecord() const { return PackedRecord; }
  /// The member function around the kernel's lambdas, where the slice has its
  /// class; else null.
  const clang::FunctionDecl *lambdaMember() const { return LambdaMember; }
  /// What stands in place of that function's body; empty until it is known.
  const std::string &lambdaBody() const { return LambdaBody; }
  void setLambdaBody(std::string Text) { LambdaBody = std::move(Text); }

  // For the visitor.
  void mark(const clang::NamedDecl *D, Need N = Need::Definition);
  void refuse(const llvm::Twine &Why) {
    if (!Refusal)
      Refusal = Why.str();
  }
  void noteDependentName(llvm::StringRef Name) {
    DependentNames.insert(Name.str());
  }
  void noteCandidates(std::vector<const clang::NamedDecl *> Candidates) {
    Unresolved.push_back(std::move(Candidates));
  }
  void noteDeduction(const clang::ClassTemplateDecl *Template);
  ParsedUnit &Unit;

private:
  struct Item {
    const clang::NamedDecl *D;
    Need N;
  };
  /// Collects the meaning of the names in one part of an entity.
  class Part;
  void collectLambdas(const KernelLambdas &L);
  void process(const Item &I);
  void processFunction(const clang::FunctionDecl *F, Need N);
  void processRecord(const clang::CXXRecordDecl *R, Need N);
  void processWrittenRecord(const clang::CXXRecordDecl *R);
  void processVariable(const clang::VarDecl *V);
  void processEnum(const clang::EnumDecl *E);
  void processOther(const clang::NamedDecl *D);
  void needWritten(const clang::NamedDecl *D, Need N);
  void needPiecesOf(const clang::Decl *D);
  void needParent(const clang::Decl *D);
  void needInclude(const clang::NamedDecl *D);
  bool resolveLeftovers();
  bool needLambdaClass(const KernelLambdas &L);
  void findSharedVariables();

  const PieceTable &Pieces;
  std::vector<Item> Queue;
  llvm::DenseMap<const clang::Decl *, Need> Visited, Written;
  std::set<unsigned> NeededPieces;
  std::set<const IncludeDirective *> Includes;
  llvm::SmallPtrSet<const clang::NamespaceDecl *, 8> Namespaces;
  llvm::SetVector<const clang::NamespaceDecl *> NamedNamespaces;
  llvm::SetVector<const clang::VarDecl *> HostVariables, InternalVariables,
      SharedVariables;
  llvm::SetVector<const clang::CXXRecordDecl *> WrittenRecords;
  std::set<std::string> Meanings, DependentNames;
  std::vector<std::vector<const clang::NamedDecl *>> Unresolved;
  std::string *Names = nullptr; ///< Of the part at work.
  std::optional<std::string> Refusal;
  const clang::FunctionDecl *LambdaMember = nullptr;
  std::string LambdaBody;
  bool StandardLibrary = false, PackedRecord = false;
};

/// True when device code may call \p F.
bool isDeviceCallable(const clang::FunctionDecl *F);

/// Constructors, destructors, assignments and virtual functions decide about
/// the class, also when nobody calls them.
bool shapesClass(const clang::FunctionDecl *Method);

/// \p D for people and identities: qualified, with template arguments and type.
std::string describe(const clang::NamedDecl *D);

// The walks, each over a part of a declaration; they call C.mark().
void walkFunctionDeclaration(Closure &C, const clang::FunctionDecl *F,
                             bool WithQualifier = true);
void walkFunctionBody(Closure &C, const clang::FunctionDecl *F);
void walkTemplateArguments(Closure &C, const clang::Decl *D);
void walkTemplateParameters(Closure &C, const clang::Decl *D);
void walkBasesAndAttributes(Closure &C, const clang::CXXRecordDecl *R);
/// An expression or a type that is no part of a declaration.
void walkExpression(Closure &C, const clang::Expr *E);
void walkType(Closure &C, clang::QualType T);
/// A field, variable, enumeration, type alias or the like, as a whole.
void walkDeclaration(Closure &C, const clang::Decl *D);

/// Calls \p Use for each variable at namespace level or of a class that the
/// body of a function of the user refers to.
void forEachVariableUse(ParsedUnit &Unit,
                        llvm::function_ref<void(const clang::FunctionDecl *,
                                                const clang::VarDecl *)>
                            Use);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_CLOSURE_H
