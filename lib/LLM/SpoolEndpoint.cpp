//===- SpoolEndpoint.cpp - A folder that is carried to a model and back -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NAME.prompt.txt goes out, NAME.answer.txt comes back; NAME is made of the
// step and the request. A run that was killed finds the answers that came
// meanwhile.
//
//===----------------------------------------------------------------------===//

#include "Endpoint.h"
#include "cupilot/LLM/Quote.h"
#include "cupilot/LLM/Recording.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <thread>

using namespace llvm;

namespace cupilot {

namespace {
using Clock = std::chrono::steady_clock;

class SpoolEndpoint : public Endpoint {
public:
  SpoolEndpoint(const ProviderSpec &Spec, std::function<void(StringRef)> Notice)
      : Spec(Spec), Notice(std::move(Notice)) {}
  Expected<ChatAnswer> attempt(const ChatRequest &R, double Seconds) override;
  std::string describe(const ChatRequest &R) const override {
    return "prompt: " + file(R, ".prompt.txt") +
           "\nanswer: " + file(R, ".answer.txt") + "\n";
  }

private:
  std::string file(const ChatRequest &R, StringRef End) const {
    SmallString<128> Path(Spec.Where);
    sys::path::append(Path, stepFileName(R.Step, digestOf(R)) + End);
    return Path.str().str();
  }
  const ProviderSpec Spec;
  const std::function<void(StringRef)> Notice;
};
} // namespace

Expected<ChatAnswer> SpoolEndpoint::attempt(const ChatRequest &R,
                                            double Seconds) {
  std::string Prompt = file(R, ".prompt.txt"), Answer = file(R, ".answer.txt");
  // Else each resumed run would change the file's time.
  if (Error E = updateFile(Prompt, plainText(R)))
    return std::move(E);
  Clock::time_point Start = Clock::now();
  bool Told = false;
  std::optional<std::pair<uint64_t, sys::TimePoint<>>> Seen;
  Clock::time_point SeenSince = Start;
  for (;;) {
    sys::fs::file_status Status;
    if (!sys::fs::status(Answer, Status) && Status.getSize() > 0) {
      // One that is being written is new; one that was renamed there is whole
      // at once. Another machine's clock may be ahead of this one's: then what
      // stays as it is for a while is whole.
      std::pair Now(Status.getSize(), Status.getLastModificationTime());
      if (Seen != Now)
        SeenSince = Clock::now();
      Seen = Now;
      if (Now.second + std::chrono::seconds(1) <
              std::chrono::system_clock::now() ||
          Clock::now() - SeenSince > std::chrono::seconds(2)) {
        Expected<std::string> Text = readFile(Answer);
        if (!Text)
          return Text.takeError();
        if (Text->size() > Spec.MaxBytes)
          return providerError(
              ProviderFault::TooLarge,
              "'" + Answer + "' has more than " + Twine(Spec.MaxBytes) +
                  " bytes",
              "set a larger limit with max-bytes=N in --provider");
        ChatAnswer A;
        A.Text = json::fixUTF8(*Text);
        A.TokensEstimated = true;
        return A;
      }
    }
    double Waited = std::chrono::duration<double>(Clock::now() - Start).count();
    if (Waited >= Seconds)
      return providerError(ProviderFault::NoAnswer,
                           "there is no answer in '" + Answer + "' yet",
                           "put it there, and continue with --resume");
    if (!Told && Notice)
      Notice("waiting for '" + Answer + "', the answer to '" + Prompt + "'");
    Told = true;
    std::this_thread::sleep_for(
        std::chrono::duration<double>(std::min(0.25, Seconds - Waited)));
  }
}

std::unique_ptr<Endpoint>
makeSpoolEndpoint(const ProviderSpec &Spec,
                  std::function<void(StringRef)> Notice) {
  return std::make_unique<SpoolEndpoint>(Spec, std::move(Notice));
}

} // namespace cupilot
