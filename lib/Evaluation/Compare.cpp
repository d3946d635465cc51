//===- Compare.cpp - A variant's results next to the original's -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "Errors.h"
#include "Placement.h"
#include "cupilot/CpuDevice/HostCode.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

GateFinding makeFinding(GateReason Reason, StringRef Workload,
                        const Twine &Evidence) {
  return {Reason, Workload.str(), Evidence.str()};
}

Expected<GateFinding> findingOf(Error E, StringRef Workload, GateReason Usage) {
  GateFinding Found;
  if (Error Other = handleErrors(
          std::move(E), [&](std::unique_ptr<ToolError> T) -> Error {
            if (T->code() == ExitCode::Resource)
              return Error(std::move(T));
            GateReason Reason =
                T->code() == ExitCode::Usage ? Usage : GateReason::CannotRun;
            if (T->isA(HostCodeError::classID()))
              Reason = static_cast<HostCodeError &>(*T).kind() ==
                               HostCodeError::Kind::Crash
                           ? GateReason::CompilerCrash
                           : GateReason::CompilerLimits;
            Found = makeFinding(Reason, Workload, T->message());
            return Error::success();
          }))
    return std::move(Other);
  return Found;
}

std::string evidenceOf(DeviceFault F) {
  if (!Placement::decides(F.Address))
    F.Address = 0;
  return F.str();
}

static std::string number(double Value) {
  std::string Text;
  raw_string_ostream(Text) << format("%.3g", Value);
  return Text;
}

static std::string exactNumber(double Value) {
  std::string Text;
  raw_string_ostream(Text) << format("%.9g", Value);
  return Text;
}

/// What of a pure output was not written, or too much.
static std::optional<GateFinding>
compareWritten(const JudgedCase &J, size_t I, const Bytes &G, const Bytes &O) {
  // Half a number may hold the fill, a whole one hardly does.
  ArrayRef<LayoutField> Fields = J.Case.Layouts[I].Fields;
  const bool IsDouble = !Fields.empty() && all_of(Fields, [](const auto &F) {
    return F.Kind == ElementKind::Double;
  });
  uint64_t Width = IsDouble ? 8 : 4;
  for (const LayoutField &F : Fields)
    Width = std::min<uint64_t>(Width, sizeOf(F.Kind));
  size_t Missing = 0, Extra = 0, FirstMissing = 0, FirstExtra = 0;
  for (size_t At = 0; At + Width <= G.size(); At += Width) {
    auto Untouched = [&](const Bytes &B) {
      return std::all_of(B.begin() + At, B.begin() + At + Width,
                         [&](uint8_t V) { return V == J.Fill; });
    };
    bool Mine = Untouched(G), Own = Untouched(O);
    if (Mine && !Own && Missing++ == 0)
      FirstMissing = At;
    if (!Mine && Own && Extra++ == 0)
      FirstExtra = At;
  }
  auto Text = [&](size_t Count, size_t First, StringRef What) {
    return (Twine(Count) + " words of buffer " + Twine(I) + " are " + What +
            ", the first at byte " + Twine(First) + " of " + Twine(G.size()))
        .str();
  };
  if (Missing)
    return GateFinding{GateReason::UnwrittenOutput, J.Case.Name,
                       Text(Missing, FirstMissing, "not written")};
  if (Extra)
    return GateFinding{GateReason::ExtraOutput, J.Case.Name,
                       Text(Extra, FirstExtra, "written that should not")};
  return std::nullopt;
}

static std::optional<GateFinding>
compareGlobals(const JudgedCase &J, const RunResult &Got,
               ArrayRef<std::pair<std::string, Bytes>> Before) {
  for (auto &[Name, Content] : J.Original.Globals) {
    const Bytes *Mine = nullptr;
    for (auto &[Other, Its] : Got.Globals)
      if (Other == Name)
        Mine = &Its;
    for (auto &[Other, Its] : Before)
      if (!Mine && Other == Name)
        Mine = &Its; // A variant that does not know it leaves it alone.
    if (Mine && *Mine != Content)
      return makeFinding(GateReason::DeviceVariable, J.Case.Name,
                         "the device variable '" + Name +
                             "' ends with another content");
  }
  return std::nullopt;
}

std::optional<GateFinding> compareRuns(const JudgedCase &J,
                                       const RunResult &Got,
                                       const PrecisionContract &Contract,
                                       ErrorRange &Errors) {
  auto Fail = [&](GateReason Reason, const Twine &Evidence) {
    return makeFinding(Reason, J.Case.Name, Evidence);
  };
  // What a kernel does when malloc fails follows from that.
  if (std::optional<GateFinding> Wrong = compareMemory(J, Got))
    return Wrong;
  if (Got.Fault)
    return Fail(reasonOf(Got.Fault->Kind), evidenceOf(*Got.Fault));
  if (Got.BandsTouched)
    return Fail(GateReason::GuardBand,
                "memory outside of every buffer was written");
  if (J.Original.Printed.empty() && !Got.Printed.empty())
    return Fail(GateReason::Mismatch,
                "device code prints '" +
                    StringRef(Got.Printed).take_front(60).rtrim() +
                    "'; the original prints nothing");
  if (Got.HeapLeft > J.Original.HeapLeft)
    return Fail(GateReason::Leak, Twine(Got.HeapLeft) +
                                      " bytes of device memory are not freed, "
                                      "allocated at " +
                                      Got.HeapOrigin);
  if (auto Wrong = compareGlobals(J, Got, J.Case.Globals))
    return Wrong;
  static const PrecisionContract Same;
  const PrecisionContract &Allowed = J.AsExact ? Same : Contract;
  for (size_t I = 0; I < Got.Buffers.size(); ++I) {
    const Bytes &G = Got.Buffers[I], &O = J.Original.Buffers[I];
    if (G == O)
      continue;
    bool Pure = !J.Case.PureOutput.empty() && J.Case.PureOutput[I];
    if (!Pure && O == J.Case.Buffers[I])
      return Fail(GateReason::InputChanged,
                  "buffer " + Twine(I) + ", which the original leaves alone");
    if (Pure)
      if (auto Wrong = compareWritten(J, I, G, O))
        return Wrong;
    if (std::optional<BufferMismatch> M = compareBuffer(
            G, J.Reference[I], O, J.Case.Layouts[I],
            {Allowed,
             J.Sensitivity.empty() ? ArrayRef<double>()
                                   : ArrayRef(J.Sensitivity[I]),
             J.Case.Probe ? 256.0 : 16.0,
             J.Shaken.empty() ? ArrayRef<double>() : ArrayRef(J.Shaken[I]),
             // As captured, whole or reduced.
             !J.Case.Doubtful && !J.Case.Probe,
             J.Lean.empty() || Contract.Biased ? std::nullopt
                                               : std::optional(J.Lean[I]),
             J.Case.OnlyFinite, J.OwnPrecision},
            Errors)) {
      if (M->Bitwise)
        return Fail(GateReason::Mismatch,
                    "buffer " + Twine(I) + ", byte " + Twine(M->At) +
                        " differs, and must be equal bit by bit");
      if (M->Norm)
        return Fail(GateReason::Mismatch,
                    "buffer " + Twine(I) + ": |out - ref| / |ref| is " +
                        number(M->Mine) + " against float64, the original's " +
                        number(M->Own) + ", allowed is " + number(M->Term) +
                        " beyond that");
      if (M->Leans)
        return Fail(GateReason::Mismatch,
                    "buffer " + Twine(I) +
                        ": errors lean to one side, sum((out - ref) * ref) / "
                        "sum(ref^2) is " +
                        number(M->Mine) + " against float64, the original's " +
                        number(M->Own) + ", chance explains " +
                        number(M->Term) +
                        "; round operands to nearest, or grant 'biased'");
      if (J.OwnPrecision)
        return Fail(GateReason::Mismatch,
                    "buffer " + Twine(I) + ": error " + number(M->Mine) +
                        " against the original, allowed is " + number(M->Term) +
                        "; " + Twine(M->Wrong) +
                        " elements have more, the first at byte " +
                        Twine(M->At) + ": " + exactNumber(M->Got) +
                        ", original " + exactNumber(M->Original));
      return Fail(GateReason::Mismatch,
                  "buffer " + Twine(I) + ": error " + number(M->Mine) +
                      " against float64, the original's own is " +
                      number(M->Own) + ", allowed is " + number(M->Term) +
                      " beyond each element's; " + Twine(M->Wrong) +
                      " elements have more, the first at byte " + Twine(M->At) +
                      ": " + exactNumber(M->Got) + ", original " +
                      exactNumber(M->Original) + ", float64 " +
                      exactNumber(M->Reference) +
                      (J.AsExact ? "; rounding operands of products changes "
                                   "nothing here"
                                 : ""));
    }
  }
  return std::nullopt;
}

} // namespace cupilot
