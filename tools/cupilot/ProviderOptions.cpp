//===- ProviderOptions.cpp - Options for language models ------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProviderOptions.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

ProviderOptions::ProviderOptions(cl::SubCommand &Sub, bool Resume,
                                 cl::OptionCategory &Group)
    : Providers("provider", cl::sub(Sub), cl::cat(Group),
                cl::value_desc("SPEC"),
                cl::desc("The model: [WEIGHT*]KIND[:WHERE][,model=NAME,...]; "
                         "may be repeated (docs/LLM.md)")),
      Record("record", cl::sub(Sub), cl::cat(Group), cl::value_desc("DIR"),
             cl::desc("Record each call in DIR; --provider replay:DIR replays "
                      "the recording")),
      Prices("prices", cl::sub(Sub), cl::cat(Group), cl::value_desc("FILE"),
             cl::desc("File with lines MODEL PROMPT ANSWER: prices of a "
                      "million tokens")),
      Prompts("prompts", cl::sub(Sub), cl::cat(Group), cl::value_desc("DIR"),
              cl::desc("Folder of your own prompts; each file replaces the "
                       "built-in prompt of its name")),
      Cost("max-cost", cl::sub(Sub), cl::cat(Group), cl::value_desc("N"),
           cl::desc("Stop before the calls cost more than this, in the unit of "
                    "the prices")),
      Tokens("max-tokens", cl::sub(Sub), cl::cat(Group), cl::value_desc("N"),
             cl::desc("Stop before the calls take more tokens than this")),
      Calls("max-calls", cl::sub(Sub), cl::cat(Group), cl::value_desc("N"),
            cl::desc("Stop after this many calls")) {
  if (Resume)
    ResumeFlag = std::make_unique<cl::opt<bool>>(
        "resume", cl::sub(Sub), cl::cat(Group),
        cl::desc("Reuse the answers in --record DIR instead of asking again"));
}

template <typename NumberT>
static Error readLimit(StringRef Option, StringRef Text,
                       std::optional<NumberT> &Limit) {
  if (Text.empty())
    return Error::success();
  NumberT Number;
  bool Bad;
  if constexpr (std::is_floating_point_v<NumberT>)
    Bad = Text.getAsDouble(Number) || !(Number >= 0) || Number > 1e18;
  else
    Bad = Text.getAsInteger(10, Number);
  if (Bad)
    return usageError(Option + "=" + Text + " is not a number");
  Limit = Number;
  return Error::success();
}

Expected<SessionOptions> ProviderOptions::session() const {
  SessionOptions Options;
  Options.Providers.assign(Providers.begin(), Providers.end());
  Options.Prices = Prices;
  Options.Record = Record;
  Options.Resume = ResumeFlag && *ResumeFlag;
  Options.Notice = [](StringRef Text) { errs() << Text << "\n"; };
  if (Error E = readLimit<double>("--max-cost", Cost, Options.Limits.Cost))
    return std::move(E);
  if (Error E =
          readLimit<uint64_t>("--max-tokens", Tokens, Options.Limits.Tokens))
    return std::move(E);
  if (Error E = readLimit<uint64_t>("--max-calls", Calls, Options.Limits.Calls))
    return std::move(E);
  if (Options.Resume && Record.empty())
    return usageError("--resume needs a recording", "add --record DIR");
  return Options;
}

Expected<PromptLibrary> ProviderOptions::prompts() const {
  return PromptLibrary::open(PromptLibrary::shippedFolder(), Prompts);
}

} // namespace cupilot
