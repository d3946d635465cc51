//===- Http.cpp - One HTTP request under limits that bind -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// curl's own limits count whole seconds and averages; here the transfer is
// driven step by step, so that both limits are looked at between the steps.
//
//===----------------------------------------------------------------------===//

#include "Http.h"
#include "cupilot/LLM/Secrets.h"
#include "cupilot/Support/Config.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <curl/curl.h>
#include <mutex>

using namespace llvm;

namespace cupilot {

namespace {
using Clock = std::chrono::steady_clock;
constexpr size_t MaxHeaderBytes = 256 << 10;
constexpr size_t MaxErrorBytes = 64 << 10;

/// What curl's callbacks write to.
struct Transfer {
  CURL *Easy;
  const HttpLimits &Limits;
  HttpReply &Reply;
  function_ref<Expected<bool>(StringRef)> OnData;
  Clock::time_point LastActivity = Clock::now();
  size_t HeaderBytes = 0;
  bool Complete = false;
  std::optional<Error> Failure = std::nullopt;
};
} // namespace

static size_t onHeader(char *Data, size_t, size_t Size, void *User) {
  auto &T = *static_cast<Transfer *>(User);
  T.LastActivity = Clock::now();
  if ((T.HeaderBytes += Size) > MaxHeaderBytes)
    return 0;
  auto [Name, Value] = StringRef(Data, Size).split(':');
  Value = Value.trim();
  if (Name.equals_insensitive("content-type"))
    T.Reply.ContentType = Value.lower();
  else if (Name.equals_insensitive("retry-after"))
    T.Reply.RetryAfter = Value.str();
  else if (Name.equals_insensitive("location"))
    T.Reply.Location = Value.str();
  return Size;
}

static size_t onBody(char *Data, size_t, size_t Size, void *User) {
  auto &T = *static_cast<Transfer *>(User);
  T.LastActivity = Clock::now();
  T.Reply.Received += Size;
  curl_easy_getinfo(T.Easy, CURLINFO_RESPONSE_CODE, &T.Reply.Status);
  if (T.Reply.Status / 100 != 2) {
    // Of a refusal its beginning says enough.
    size_t Room = MaxErrorBytes - T.Reply.Body.size();
    T.Reply.Body.append(Data, std::min(Size, Room));
    T.Complete = Size >= Room;
    return T.Complete ? 0 : Size;
  }
  if (T.Reply.Received > T.Limits.MaxBytes)
    return 0;
  T.Reply.Body.append(Data, Size);
  Expected<bool> Done = T.OnData(StringRef(Data, Size));
  if (!Done) {
    T.Failure = Done.takeError();
    return 0;
  }
  T.Complete |= *Done;
  return T.Complete ? 0 : Size; // 0 ends the transfer.
}

static ProviderFault faultOf(CURLcode Code) {
  switch (Code) {
  case CURLE_URL_MALFORMAT:
  case CURLE_UNSUPPORTED_PROTOCOL:
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CACERT_BADFILE:
    return ProviderFault::Refused;
  default:
    return ProviderFault::Connection;
  }
}

static const char *wayOut(CURLcode Code) {
  switch (Code) {
  case CURLE_COULDNT_CONNECT:
    return "is the server running, and does it listen there?";
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY:
    return "check the name, and https_proxy and no_proxy in the environment";
  case CURLE_PEER_FAILED_VERIFICATION:
    return "install the certificate of its authority; certificates are always "
           "verified";
  default:
    return "";
  }
}

/// Drives the transfer until it ends or a limit is reached.
static Error drive(CURLM *Multi, Transfer &T, StringRef Host) {
  auto Seconds = [](double S) {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(S));
  };
  Clock::time_point End = Clock::now() + Seconds(T.Limits.Total);
  curl_off_t Sent = 0;
  for (;;) {
    int Running = 0;
    curl_multi_perform(Multi, &Running);
    if (!Running)
      return Error::success();
    curl_off_t NowSent = 0;
    curl_easy_getinfo(T.Easy, CURLINFO_SIZE_UPLOAD_T, &NowSent);
    Clock::time_point Now = Clock::now();
    if (NowSent != Sent) {
      Sent = NowSent;
      T.LastActivity = Now;
    }
    Clock::time_point Silent = T.LastActivity + Seconds(T.Limits.Inactivity);
    if (Now >= End)
      return providerError(
          ProviderFault::OutOfTime,
          formatv("{0} did not answer within {1:f1} s in all", Host,
                  T.Limits.Total),
          "set a larger limit with total=SECONDS in --provider");
    if (Now >= Silent)
      return providerError(
          ProviderFault::Inactive,
          formatv("{0} sent nothing for {1:f1} s", Host, T.Limits.Inactivity),
          "set a larger limit with inactivity=SECONDS in --provider");
    auto Wait = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::min(End, Silent) - Now);
    curl_multi_poll(Multi, nullptr, 0,
                    static_cast<int>(std::min<int64_t>(Wait.count() + 1, 1000)),
                    nullptr);
  }
}

Error httpPost(const std::string &Url, StringRef Host,
               ArrayRef<std::string> Headers, StringRef Body,
               const HttpLimits &Limits, HttpReply &Reply,
               function_ref<Expected<bool>(StringRef)> OnData) {
  Expected<ParsedUrl> Parsed = parseUrl(Url);
  if (!Parsed)
    return Parsed.takeError();
  static std::once_flag Once;
  std::call_once(Once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  CURL *Easy = curl_easy_init();
  CURLM *Multi = curl_multi_init();
  curl_slist *List = nullptr;
  scope_exit Cleanup([&] {
    curl_multi_remove_handle(Multi, Easy);
    curl_multi_cleanup(Multi);
    curl_easy_cleanup(Easy);
    curl_slist_free_all(List);
  });
  if (!Easy || !Multi)
    return resourceError("cannot initialise libcurl");
  for (const std::string &Header : Headers)
    List = curl_slist_append(List, Header.c_str());
  // Else curl waits a second for servers that do not know it.
  List = curl_slist_append(List, "Expect:");
  Transfer T{Easy, Limits, Reply, OnData};
  char Message[CURL_ERROR_SIZE] = "";
  auto Set = [&](CURLoption Option, auto Value) {
    return curl_easy_setopt(Easy, Option, Value) == CURLE_OK;
  };
  bool Ok =
      Set(CURLOPT_URL, Url.c_str()) && Set(CURLOPT_NOSIGNAL, 1L) &&
      Set(CURLOPT_PROTOCOLS_STR, "http,https") &&
      Set(CURLOPT_FOLLOWLOCATION, 0L) && Set(CURLOPT_SSL_VERIFYPEER, 1L) &&
      Set(CURLOPT_SSL_VERIFYHOST, 2L) &&
      // The key is for the server, not for a proxy before it.
      Set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE)) &&
      Set(CURLOPT_HTTPHEADER, List) &&
      Set(CURLOPT_USERAGENT, "cupilot/" CUPILOT_VERSION) &&
      Set(CURLOPT_POST, 1L) && Set(CURLOPT_POSTFIELDS, Body.data()) &&
      Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(Body.size())) &&
      Set(CURLOPT_CONNECTTIMEOUT_MS,
          static_cast<long>(Limits.Connect * 1000) + 1) &&
      Set(CURLOPT_HEADERFUNCTION, onHeader) && Set(CURLOPT_HEADERDATA, &T) &&
      Set(CURLOPT_WRITEFUNCTION, onBody) && Set(CURLOPT_WRITEDATA, &T) &&
      Set(CURLOPT_ERRORBUFFER, Message);
  if (Parsed->isLocal())
    Ok = Ok && Set(CURLOPT_NOPROXY, "*");
  if (!Ok)
    return resourceError(
        "this libcurl does not have all features that cuPilot needs",
        "install libcurl 7.85 or newer");
  curl_multi_add_handle(Multi, Easy);
  Error Limit = drive(Multi, T, Host);
  CURLcode Code = CURLE_OK;
  int Left = 0;
  while (CURLMsg *M = curl_multi_info_read(Multi, &Left))
    if (M->msg == CURLMSG_DONE)
      Code = M->data.result;
  curl_easy_getinfo(Easy, CURLINFO_RESPONSE_CODE, &Reply.Status);
  if (T.Failure || T.Complete) {
    consumeError(std::move(Limit));
    return T.Failure ? std::move(*T.Failure) : Error::success();
  }
  if (Limit)
    return Limit;
  if (Reply.Received > Limits.MaxBytes)
    return providerError(
        ProviderFault::TooLarge,
        formatv("{0} sent more than {1} bytes", Host, Limits.MaxBytes),
        "set a larger limit with max-bytes=N in --provider");
  if (T.HeaderBytes > MaxHeaderBytes)
    return providerError(ProviderFault::Malformed,
                         Host + " sent an endless header");
  if (Code != CURLE_OK && (Reply.Status / 100 == 2 || Reply.Status == 0))
    return providerError(
        faultOf(Code),
        (Reply.Status ? "the connection to " + Host + " broke"
                      : "cannot reach " + Host) +
            ": " + excerpt(*Message ? Message : curl_easy_strerror(Code)),
        wayOut(Code));
  return Error::success();
}

bool ParsedUrl::isLocal() const {
  return Host == "localhost" || Host == "[::1]" ||
         (StringRef(Host).starts_with("127.") &&
          StringRef(Host).find_first_not_of("0123456789.") == StringRef::npos);
}

Expected<ParsedUrl> parseUrl(StringRef Text) {
  auto Refuse = [](const Twine &Why) {
    return usageError("the endpoint of --provider " + Why,
                      "for example openai:https://host/v1,model=NAME");
  };
  ParsedUrl U;
  auto [Scheme, Rest] = Text.split("://");
  U.Scheme = Scheme.lower();
  if (Rest.empty() || (U.Scheme != "http" && U.Scheme != "https"))
    return Refuse("is not an http:// or https:// address");
  StringRef Authority =
      Rest.take_until([](char C) { return C == '/' || C == '?' || C == '#'; });
  if (Authority.contains('@'))
    return Refuse("contains a user name or a password; keys come from the "
                  "environment only");
  std::string Query = Rest.split('?').second.lower();
  for (StringRef Word : {"key=", "token=", "secret=", "password="})
    if (StringRef(Query).contains(Word))
      return Refuse("contains a key; keys come from the environment only");
  if (any_of(Text, [](char C) { return C <= ' ' || C == 0x7f; }))
    return Refuse("has spaces or bytes that are not ASCII in it");
  bool Bracketed = Authority.starts_with("[");
  StringRef Host = Bracketed
                       ? Authority.take_front(Authority.find(']') + 1)
                       : Authority.take_until([](char C) { return C == ':'; });
  if (Host.empty())
    return Refuse("does not name a host");
  U.Host = Host.lower();
  U.Text = Text.str();
  return U;
}

std::optional<double> parseRetryAfter(StringRef Header) {
  Header = Header.trim();
  double Seconds;
  if (!Header.empty() && isDigit(Header.front()) &&
      !Header.getAsDouble(Seconds))
    return Seconds;
  time_t When =
      Header.empty() ? -1 : curl_getdate(Header.str().c_str(), nullptr);
  if (When < 0)
    return std::nullopt;
  return std::max(0.0, std::difftime(When, std::time(nullptr)));
}

} // namespace cupilot
