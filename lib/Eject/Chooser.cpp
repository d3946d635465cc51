//===- Chooser.cpp - What ejected launches call -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

// Sources of helpers, by the build.
static constexpr char CheckedText[] = {
#include "Embedded/Checked.inc"
};
static constexpr char DomainText[] = {
#include "Embedded/Domain.inc"
};
static constexpr char FieldAtText[] = {
#include "Embedded/FieldAt.inc"
};
static constexpr char ChecksText[] = {
#include "Embedded/Checks.inc"
};
static constexpr char ClusterText[] = {
#include "Embedded/Cluster.inc"
};
static constexpr char ScratchText[] = {
#include "Embedded/Scratch.inc"
};
static constexpr char TensorMapDataText[] = {
#include "Embedded/TensorMapData.inc"
};
static constexpr char TensorMapText[] = {
#include "Embedded/TensorMap.inc"
};

/// A source without its banner.
static std::string textOf(ArrayRef<char> Source) {
  return "\n" +
         StringRef(Source.data(), Source.size()).split("\n\n").second.str();
}

std::string ejectParameters(const EjectParams &P, bool Defaults,
                            const std::string *Used) {
  static const char *const Own[][2] = {{"dim3", "grid"},
                                       {"dim3", "block"},
                                       {"size_t", "shared"},
                                       {"cudaStream_t", "stream"}};
  // What nothing reads has no name, for -Wunused-parameter.
  auto Reads = [&](StringRef Name) {
    size_t At = 0;
    while ((At = StringRef(*Used).find(Name, At)) != StringRef::npos) {
      char After =
          At + Name.size() < Used->size() ? (*Used)[At + Name.size()] : ' ';
      bool Begins =
          At == 0 || !(isAlnum((*Used)[At - 1]) || (*Used)[At - 1] == '_');
      if (Begins && !isAlnum(After) && After != '_')
        return true;
      At += Name.size();
    }
    return false;
  };
  std::vector<std::string> All;
  for (const auto &[Type, Name] : Own)
    All.push_back(std::string(Type) +
                  (!Used || Reads(Name) ? std::string(" ") + Name : ""));
  for (auto [Decl, Default] : zip_equal(P.Decls, P.Defaults))
    All.push_back(Decl + (Defaults && !Default.empty() ? " = " + Default : ""));
  return join(All, ", ");
}

namespace {
/// The functions of one group that launches call, for the template and for each
/// instance that has variants.
class ChooserWriter {
public:
  ChooserWriter(const EjectGroup &Group, ArrayRef<EjectMember> Members)
      : Group(Group), Members(Members) {}

  /// Declarations, or definitions.
  std::string all(ArrayRef<EjectForm> Forms, bool Define, bool Defaults) const {
    std::string Text;
    for (EjectForm Form : Forms)
      if (Group.Template.empty()) {
        Text += function(Form, Group.Params, Group.Callee, "", "static inline ",
                         Define ? &Members.front() : nullptr, Define, Defaults);
      } else {
        Text += function(Form, Group.Params, Group.Callee + Group.OwnArgs, "",
                         Group.Template + "\nstatic inline ", nullptr, Define,
                         Defaults);
        for (const EjectMember &M : Members)
          Text += function(Form, M.Host->Params, M.Host->Original, M.Host->Args,
                           "template <>\ninline ", &M, Define, false);
      }
    return Text;
  }

private:
  std::string function(EjectForm Form, const EjectParams &P,
                       const std::string &Original, const std::string &Args,
                       const std::string &Before, const EjectMember *M,
                       bool Define, bool Defaults) const;
  /// "launch_v_1a2b3c4d(...) || ...".
  std::string attempts(const EjectMember &M, StringRef Shape,
                       ArrayRef<std::string> Arguments) const {
    std::vector<std::string> Each;
    Each.reserve(M.Codes.size());
    for (const EjectCode &C : M.Codes)
      Each.push_back(
          Group.choice() + "::launch_" + C.Id + "(device, " + Shape.str() +
          (Arguments.empty() ? "" : ", " + join(Arguments, ", ")) + ")");
    return join(Each, " ||\n       ");
  }

  const EjectGroup &Group;
  ArrayRef<EjectMember> Members;
};
} // namespace

std::string ChooserWriter::function(EjectForm Form, const EjectParams &P,
                                    const std::string &Original,
                                    const std::string &Args,
                                    const std::string &Before,
                                    const EjectMember *M, bool Define,
                                    bool Defaults) const {
  bool Typed = Form == EjectForm::Chevrons || Form == EjectForm::TypedConfig;
  std::string Head, Shape, Body, Success;
  std::vector<std::string> Given = P.Arguments;
  std::string List = join(P.Arguments, ", ");
  if (!Typed) {
    Given.clear();
    for (auto [I, Type] : enumerate(P.Types))
      Given.push_back("*static_cast<" + Type + " *>(args[" + std::to_string(I) +
                      "])");
  }
  std::string Handle = "reinterpret_cast<const void *>(&" + Original + ")";
  std::string OfConfig = "config->gridDim, config->blockDim, "
                         "config->dynamicSmemBytes, config->stream";
  switch (Form) {
  case EjectForm::Chevrons:
    Head = "void " + Group.chooser() + Args + "(" +
           ejectParameters(P, Defaults) + ")";
    Shape = "grid, block, shared, stream";
    Success = "return;";
    Body =
        "  " + Original + "<<<grid, block, shared, stream>>>(" + List + ");\n";
    break;
  case EjectForm::Array:
    Head = "cudaError_t " + Group.launcher() + Args +
           "(dim3 grid, dim3 block, void **args, size_t shared" +
           (Defaults ? " = 0" : "") + ", cudaStream_t stream" +
           (Defaults ? " = 0" : "") + ")";
    Shape = "grid, block, shared, stream";
    Body = "  return cudaLaunchKernel(" + Handle +
           ", grid, block, args, shared, stream);\n";
    break;
  case EjectForm::Config:
    Head = "cudaError_t " + Group.launcher() + Args +
           "(const cudaLaunchConfig_t *config, void **args)";
    Shape = OfConfig;
    Body = "  return cudaLaunchKernelExC(config, " + Handle + ", args);\n";
    break;
  case EjectForm::TypedConfig: {
    std::string Decls = join(P.Decls, ", ");
    Head = "cudaError_t " + Group.launcher() + Args +
           "(const cudaLaunchConfig_t *config" +
           (Decls.empty() ? "" : ", " + Decls) + ")";
    Shape = OfConfig;
    Body = "  return cudaLaunchKernelEx(config, " + Original +
           (List.empty() ? "" : ", " + List) + ");\n";
    break;
  }
  }
  // Errors of a plan's later launches are still there.
  if (Success.empty())
    Success = "return cudaPeekAtLastError();";
  if (!Define)
    return Before + Head + ";\n";
  std::string Text = "\n";
  if (M) {
    Text += "// Launches a variant of " + Original + ", or the original.\n";
    std::string Choice = Group.choice() + "::",
                Legal = Choice + "cupilotIsLegal(" +
                        StringRef(Shape).rsplit(", ").first.str() + ")";
    if (Shape == OfConfig)
      Legal = "config->numAttrs == 0 && " + Legal;
    Body = "  const int device =\n      " + Legal + "\n          ? " + Choice +
           "cupilotDevice()\n          : -1;\n  if (device >= 0 &&\n      (" +
           attempts(*M, Shape, Given) + "))\n    " + Success + "\n" + Body;
  }
  return Text + Before + Head + " {\n" + Body + "}\n";
}

std::string chooserText(const EjectGroup &Group, ArrayRef<EjectMember> Members,
                        ArrayRef<EjectForm> Forms, bool Declared) {
  EjectHelpers Needs;
  std::string Attempts;
  for (const EjectMember &M : Members)
    for (const EjectCode &Code : M.Codes)
      Attempts += attemptText(Group, *M.Host, Code, Needs);
  std::string Text =
      "\nnamespace " + Group.choice() + " {\n" + textOf(ChecksText);
  if (Needs.Checked)
    Text += textOf(CheckedText);
  if (Needs.Domain)
    Text += textOf(DomainText);
  if (Needs.FieldAt)
    Text += textOf(FieldAtText);
  if (Needs.Cluster)
    Text += textOf(ClusterText);
  if (Needs.Scratch)
    Text += textOf(ScratchText);
  if (Needs.TensorMap)
    Text += textOf(TensorMapDataText) + textOf(TensorMapText);
  Text += Attempts + "\n} // namespace " + Group.choice() + "\n";
  return Text + ChooserWriter(Group, Members).all(Forms, true, !Declared);
}

std::string chooserDeclarations(const EjectGroup &Group,
                                ArrayRef<EjectMember> Members,
                                ArrayRef<EjectForm> Forms) {
  return ChooserWriter(Group, Members).all(Forms, false, true);
}

} // namespace cupilot
