//===- TextServer.cpp - Where texts are compiled -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cupilot-compile has one thread, reads what is the same for many texts
// (flags, parsed headers) once, and makes a copy of itself for each text. The
// copy has limits and dies with its text.
//
//===----------------------------------------------------------------------===//

#include "Parcel.h"
#include "Parse.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Compile/Prefix.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Compile/TextFiles.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fcntl.h>
#include <map>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

/// Exit status of a copy that got no more memory.
static constexpr int OutOfMemory = 86;

namespace {
/// What is the same for all texts with the same flags.
struct Prepared {
  std::string Path; ///< Of the text.
  std::shared_ptr<clang::CompilerInvocation> Invocation;
  std::optional<ParsedPrefix> Prefix;
};

class TextServer {
public:
  int run();

private:
  Expected<const Prepared *> prepared(const TextRequest &Text);
  Parcel answer(const TextRequest &Text, const TextLimits &Limits);
  std::optional<Parcel> answerOnce(const Prepared &P, const TextRequest &Text,
                                   const TextLimits &Limits,
                                   std::string &Disturbed);

  /// By folder and name, architecture, flags.
  std::map<std::tuple<std::string, std::string, std::vector<std::string>>,
           Prepared>
      Known;
};
} // namespace

Expected<const Prepared *> TextServer::prepared(const TextRequest &Text) {
  std::string Path =
      (sys::path::parent_path(TextPath) + "/" + sys::path::filename(Text.Name))
          .str();
  auto [It, New] = Known.try_emplace({Path, Text.Arch, Text.Flags});
  if (!New)
    return &It->second;
  auto Files = withText(vfs::getRealFileSystem(), Path, "");
  std::vector<std::string> Flags =
      withoutArchitectures(variantFlags(Text.Flags));
  std::string Arch = "--cuda-gpu-arch=" + Text.Arch;
  std::vector<StringRef> Output = bitcodeOutput().vec();
  append_range(Output,
               ArrayRef<StringRef>({"--cuda-device-only", StringRef(Arch)}));
  auto Code = cudaInvocation(Path, Flags, Output, Files);
  // As for compileDeviceBitcode, so that both have one prefix.
  auto Parse = cudaInvocation(
      Path, Flags, {"--cuda-device-only", StringRef(Arch), "-fsyntax-only"},
      Files);
  if (!Code || !Parse) {
    Known.erase(It);
    return joinErrors(Code.takeError(), Parse.takeError());
  }
  It->second = {Path, std::move(*Code), parsedPrefix(**Parse)};
  // The driver lets processes end without freeing; so does this one.
  return &It->second;
}

/// In the copy: no way back.
static CompiledText compileHere(const Prepared &P, const TextRequest &Text) {
  CompiledText Result;
  Result.Findings = checkText(Text.Source);
  if (!Result.Findings.empty()) {
    Result.Fate = TextFate::Inadmissible;
    return Result;
  }
  std::vector<TextVariable> Variables;
  unsigned PrintLine = 0;
  AdmissionOptions Options{&Text.Original, &Variables, &PrintLine};
  const ParsedPrefix *Prefixes[] = {P.Prefix ? &*P.Prefix : nullptr, nullptr};
  for (const ParsedPrefix *Prefix : ArrayRef(Prefixes).drop_front(!P.Prefix)) {
    Variables.clear();
    PrintLine = 0;
    Result = emitText(*P.Invocation, P.Path, Text.Source, Prefix, Options,
                      vfs::getRealFileSystem());
    // No text fails, and no message is another one, for what was kept.
    if (Result.Fate == TextFate::Compiles || Result.Fate == TextFate::Crashes)
      break;
  }
  if (Result.Fate != TextFate::Compiles)
    return Result;
  Expected<std::string> Ptx =
      generatePtx(Result.Bitcode, Text.Arch, [&](const llvm::Module &M) {
        Result.Findings = checkCode(M, Options);
      });
  if (!Ptx) {
    Result.Fate = TextFate::DoesNotCompile;
    Result.Message = toString(Ptx.takeError());
  } else if (!Result.Findings.empty()) {
    Result.Fate = TextFate::Inadmissible;
  } else {
    Result.Ptx = std::move(*Ptx);
  }
  return Result;
}

static void limit(int What, uint64_t Soft, uint64_t Hard) {
  rlimit L{rlim_t(Soft), rlim_t(Hard)};
  ::setrlimit(__rlimit_resource_t(What), &L);
}

static void restrictSelf(const TextLimits &Limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CPU, Limits.CpuSeconds, Limits.CpuSeconds + 2);
  limit(RLIMIT_AS, Limits.AddressBytes, Limits.AddressBytes);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_FSIZE, 0, 0); // It writes to its pipe only.
  std::set_new_handler([] { ::_exit(OutOfMemory); });
  remove_bad_alloc_error_handler();
  install_bad_alloc_error_handler(
      [](void *, const char *, bool) { ::_exit(OutOfMemory); });
}

static double processorSeconds(const rusage &Used) {
  auto Seconds = [](const timeval &T) {
    return double(T.tv_sec) + double(T.tv_usec) / 1e6;
  };
  return Seconds(Used.ru_utime) + Seconds(Used.ru_stime);
}

static bool isKilled(int Status) {
  return WIFSIGNALED(Status) && WTERMSIG(Status) == SIGKILL;
}

static CompiledText fateOf(int Status, const TextLimits &Limits) {
  CompiledText Text;
  bool Time =
      isKilled(Status) || (WIFSIGNALED(Status) && WTERMSIG(Status) == SIGXCPU);
  if (Time || (WIFEXITED(Status) && WEXITSTATUS(Status) == OutOfMemory)) {
    Text.Fate = TextFate::BeyondLimits;
    Text.Message = Time ? "the compiler was still busy with it after " +
                              utostr(Limits.CpuSeconds) + " s of processor time"
                        : "the compiler needs more than " +
                              utostr(Limits.AddressBytes >> 20) + " MiB for it";
  } else {
    Text.Fate = TextFate::Crashes;
  }
  return Text;
}

/// A message for a machine that cannot do it; no verdict.
static Parcel fault(const Twine &Why, const Twine &Hint = "") {
  return {"fault", Why.str(), Hint.str()};
}

/// Nothing if the machine kept the copy from its work, which says nothing of
/// the text: \p Disturbed then says how.
std::optional<Parcel> TextServer::answerOnce(const Prepared &P,
                                             const TextRequest &Text,
                                             const TextLimits &Limits,
                                             std::string &Disturbed) {
  int Ends[2];
  if (::pipe2(Ends, O_CLOEXEC))
    return fault("no pipe for a process that compiles");
  pid_t Copy = ::fork();
  if (Copy == 0) {
    ::close(Ends[0]);
    restrictSelf(Limits);
    bool Sent = sendParcel(Ends[1], toParcel(compileHere(P, Text)));
    ::_exit(Sent ? 0 : 1);
  }
  ::close(Ends[1]);
  if (Copy < 0) {
    ::close(Ends[0]);
    return fault("no process to compile in");
  }
  const unsigned Wall =
      Limits.WallSeconds ? Limits.WallSeconds : Limits.CpuSeconds * 10 + 60;
  Parcel Received;
  ParcelEnd End = receiveParcel(Ends[0], Received, Wall);
  ::close(Ends[0]);
  if (End == ParcelEnd::Late)
    ::kill(Copy, SIGKILL);
  int Status = 0;
  rusage Used{};
  while (::wait4(Copy, &Status, 0, &Used) < 0 && errno == EINTR)
    ;
  if (End == ParcelEnd::Whole && answerFrom(Received))
    return Received;
  // A copy that used its time up is the text's doing, whoever ended it.
  const double Seconds = processorSeconds(Used);
  if ((End == ParcelEnd::Late || isKilled(Status)) &&
      Seconds < Limits.CpuSeconds) {
    raw_string_ostream Says(Disturbed);
    if (End == ParcelEnd::Late)
      Says << format("got %.1f s of processor time in %u s", Seconds, Wall);
    else
      Says << format("was killed after %.1f s of processor time", Seconds);
    return std::nullopt;
  }
  return toParcel(fateOf(Status, Limits));
}

Parcel TextServer::answer(const TextRequest &Text, const TextLimits &Limits) {
  Expected<const Prepared *> P = prepared(Text);
  if (!P)
    return fault(toString(P.takeError()));
  std::string First, Second;
  for (std::string *Disturbed : {&First, &Second})
    if (std::optional<Parcel> Answer =
            answerOnce(**P, Text, Limits, *Disturbed))
      return std::move(*Answer);
  return fault("a process that compiles a text " + First +
                   ", and when it was tried again, " + Second,
               "this machine has too much to do, or too little memory; end "
               "other programs, and run the command again");
}

int TextServer::run() {
  ::signal(SIGPIPE, SIG_IGN);
  Parcel Request;
  while (receiveParcel(STDIN_FILENO, Request, 0) == ParcelEnd::Whole) {
    TextLimits Limits;
    std::optional<TextRequest> Text = requestFrom(Request, Limits);
    if (!Text)
      return int(ExitCode::Usage);
    if (!sendParcel(STDOUT_FILENO, answer(*Text, Limits)))
      break;
  }
  return int(ExitCode::Done);
}

int serveTexts() { return TextServer().run(); }

} // namespace cupilot
