//===- PluginArguments.cpp - cuPilot's arguments in builds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/PluginArguments.h"
#include "cupilot/Model/Basis.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <optional>

using namespace llvm;

namespace cupilot {

bool KernelFilter::takes(StringRef Name) const {
  return (Only.empty() || Regex(Only).match(Name)) &&
         (Skip.empty() || !Regex(Skip).match(Name));
}

bool PluginArguments::isOff() const {
  return How == Mode::Off || std::getenv("CUPILOT_DISABLE");
}

/// Whether \p Word is that of modelled evidence; nothing for no basis of a
/// build.
static std::optional<bool> isModelled(StringRef Word) {
  if (Word == wordOf(Basis::Modelled))
    return true;
  return Word == wordOf(Basis::Measured) ? std::optional(false) : std::nullopt;
}

Expected<bool> PluginArguments::takesModelled() const {
  if (UseModelled)
    return *UseModelled;
  const char *Env = std::getenv("CUPILOT_BASIS");
  if (!Env || !*Env)
    return false;
  if (std::optional<bool> Known = isModelled(Env))
    return *Known;
  return usageError(Twine("CUPILOT_BASIS is '") + Env +
                    "'; it is measured or modelled");
}

StringRef pluginArgumentsHelp() {
  return "  store=DIR    the project store (default: CUPILOT_STORE, or the "
         "nearest .cupilot)\n"
         "  mode=MODE    apply (default), check (report, change nothing), off\n"
         "  strict       a variant that is stale or refused is an error; "
         "variants run only\n"
         "               where they were proved, not where a GPU compared "
         "them\n"
         "  basis=BASIS  measured: variants whose time was measured; "
         "modelled: those whose time\n"
         "               was only modelled, too (default: CUPILOT_BASIS, or "
         "measured)\n"
         "  legacy=use   take variants of older stores, which have no domain, "
         "too\n"
         "  only=REGEX   only kernels whose name matches\n"
         "  skip=REGEX   no kernels whose name matches\n"
         "  limit=N      at most N variants in this unit\n"
         "  report=FILE  append a line for each unit to FILE ('-': standard "
         "error)\n"
         "  dump-dir=DIR write the modules after substitution to DIR\n"
         "  help, version\n";
}

static Error need(StringRef Key, StringRef Value, std::string &To) {
  if (Value.empty())
    return usageError("the argument '" + Key +
                      "' needs a value: -fplugin-arg-cupilot-" + Key +
                      "=VALUE");
  To = Value.str();
  return Error::success();
}

Error parsePluginArgument(StringRef Argument, PluginArguments &A) {
  auto [Key, Value] = Argument.split('=');
  if (Key == "store")
    return need(Key, Value, A.Store);
  if (Key == "report")
    return need(Key, Value, A.Report);
  if (Key == "dump-dir")
    return need(Key, Value, A.DumpDir);
  if (Key == "only" || Key == "skip") {
    std::string &To = Key == "only" ? A.Filter.Only : A.Filter.Skip;
    if (Error E = need(Key, Value, To))
      return E;
    std::string Why;
    if (!Regex(To).isValid(Why))
      return usageError("'" + Value + "' is not a regular expression: " + Why);
    return Error::success();
  }
  auto Mode = StringSwitch<std::optional<PluginArguments::Mode>>(Value)
                  .Case("apply", PluginArguments::Mode::Apply)
                  .Case("check", PluginArguments::Mode::Check)
                  .Case("off", PluginArguments::Mode::Off)
                  .Default(std::nullopt);
  if (Key == "strict" && (Value.empty() || Value == "1" || Value == "0"))
    A.Strict = Value != "0";
  else if (Key == "legacy" && Value == "use")
    A.UseLegacy = true;
  else if (Key == "basis" && isModelled(Value))
    A.UseModelled = isModelled(Value);
  else if (Key == "mode" && Mode)
    A.How = *Mode;
  else if (Key == "limit" && !Value.getAsInteger(10, A.Limit))
    ;
  else if (Key == "help")
    A.Help = true;
  else if (Key == "version")
    A.Version = true;
  else if (Key == "mode" || Key == "limit" || Key == "strict" ||
           Key == "legacy" || Key == "basis")
    return usageError("bad value '" + Value + "' for the argument '" + Key +
                      "'; -fplugin-arg-cupilot-help lists the arguments");
  else
    return usageError("unknown argument '" + Key +
                      "'; -fplugin-arg-cupilot-help lists the arguments");
  return Error::success();
}

void appendToLog(StringRef Line) {
  const char *Path = std::getenv("CUPILOT_LOG");
  if (!Path)
    return;
  std::error_code EC;
  raw_fd_ostream OS(Path, EC, sys::fs::OF_Append);
  if (EC)
    return;
  OS << Line << "\n";
  OS.flush();
  OS.clear_error();
}

Error appendToReport(StringRef Path, StringRef Line) {
  if (Path == "-")
    errs() << Line << "\n";
  if (Path == "-" || Path.empty())
    return Error::success();
  std::error_code EC;
  raw_fd_ostream File(Path, EC, sys::fs::OF_Append);
  if (!EC) {
    File << Line << "\n";
    File.flush();
    EC = File.error();
    File.clear_error();
  }
  if (EC)
    return resourceError("cannot write the report '" + Path +
                         "': " + EC.message());
  return Error::success();
}

} // namespace cupilot
