//===- Substitute.h - Variants into modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_SUBSTITUTE_H
#define CUPILOT_SUBSTITUTE_SUBSTITUTE_H

#include "cupilot/Store/BuildStore.h"
#include "cupilot/Substitute/BuildReason.h"
#include "cupilot/Substitute/PluginArguments.h"
#include <functional>

namespace llvm {
class CallBase;
class Module;
} // namespace llvm

namespace cupilot {

/// What became of a kernel or a unit; remarks have these names.
enum class SubstitutionResult {
  VariantApplied,
  VariantStale,
  NoVariant,
  NotChosen,
  Refused
};
/// "VariantApplied"
llvm::StringRef nameOf(SubstitutionResult R);

struct SubstitutionOutcome {
  std::string Kernel; ///< Mangled name; "" for the whole unit.
  SubstitutionResult Result = SubstitutionResult::Refused;
  BuildNote Why;
  std::string Variant{};    ///< The variant that is left out, if one is.
  std::string Function{};   ///< The function of the module that a remark is
                            ///< about; "" when it is the kernel itself.
  std::string Conditions{}; ///< When a variant runs, for people.

  bool isApplied() const {
    return Result == SubstitutionResult::VariantApplied;
  }
  /// An error for builds that demand what the store has. A kernel that has no
  /// identity has no variants either.
  bool isMissed() const {
    return Result == SubstitutionResult::VariantStale ||
           (Kernel.empty() && !isApplied());
  }
  std::string message() const; ///< A sentence.
};

/// One launch in a host module, and what became of it.
struct LaunchSite {
  std::string Function; ///< Mangled name of the function that it is in.
  std::string File;     ///< Where; "" and 0 without debug locations, which
  unsigned Line = 0;    ///< asking for remarks gives too.
  std::string Kernel;   ///< Mangled; "" when only the running program knows it.
  /// It, or one that it may be, has variants in this build.
  bool Known = false;
  BuildNote Why = BuildReason::Redirected;
  const llvm::CallBase *Call = nullptr; ///< While the module stays as it is.

  /// It reaches the variants, under their guards.
  bool isRedirected() const {
    return Why.Reason == BuildReason::Redirected ||
           Why.Reason == BuildReason::RedirectedWhereTaken;
  }
};

/// What a build asks of the evidence for variants.
struct EvidencePolicy {
  bool ProvedOnly = false;   ///< Where the gate saw them, and no GPU alone.
  bool TakeLegacy = false;   ///< Those without a domain, too.
  bool TakeModelled = false; ///< Those whose time nobody measured, too.
};

/// Why a build leaves \p V out for its domain or its basis, if it does. \p Root
/// is the store's folder.
std::optional<SubstitutionOutcome> whyNotBuilt(llvm::StringRef Kernel,
                                               const BuildVariant &V,
                                               const EvidencePolicy &P,
                                               llvm::StringRef Root);
/// The part of the domain of \p V, which is built, that \p P takes.
void restrictDomain(BuildVariant &V, const EvidencePolicy &P);
/// That \p V is in, with \p About in the place of its genome. A modelled one
/// says so.
BuildNote noteOfApplied(const BuildVariant &V, const std::string &About);
/// When \p V, of the record \p R, runs.
std::string conditionsOf(const BuildVariant &V, const BuildRecord &R);

struct SubstitutionOptions {
  const BuildStore *Store = nullptr;
  KernelFilter Filter;
  EvidencePolicy Evidence;
  unsigned Limit = ~0u;   ///< Variants at most.
  std::string Context;    ///< buildContext() of this compilation.
  bool CheckOnly = false; ///< Report, change nothing.
  /// Bitcode of a variant's source, for this compilation.
  std::function<llvm::Expected<std::string>(const BuildVariant &)> Provider;
  /// Gets the launches of the host module, when not null.
  std::vector<LaunchSite> *Sites = nullptr;
};

/// The text of \p V, whose source is \p Path. That it is not the text that was
/// proved is a BuildError.
llvm::Expected<std::string> readVariant(const BuildVariant &V,
                                        llvm::StringRef Path);

/// Puts variants into the device module \p M, at the start of the pipeline. The
/// code of all kernels stays as it is; variants come as further kernels. Errors
/// are those of the store; a variant that does not fit is an outcome.
llvm::Expected<std::vector<SubstitutionOutcome>>
substituteDevice(llvm::Module &M, const SubstitutionOptions &Options);

/// Makes the host module \p M launch the variants that its embedded GPU binary
/// holds, under their guards.
llvm::Expected<std::vector<SubstitutionOutcome>>
substituteHost(llvm::Module &M, const SubstitutionOptions &Options);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_SUBSTITUTE_H
