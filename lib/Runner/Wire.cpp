//===- Wire.cpp - Messages between the runner and its workers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Wire.h"
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cupilot::runner {

using Clock = std::chrono::steady_clock;

bool sendMessage(int FD, const nlohmann::json &Message) {
  std::string Text = Message.dump();
  uint32_t Size = uint32_t(Text.size());
  Text.insert(0, reinterpret_cast<const char *>(&Size), sizeof(Size));
  for (size_t At = 0; At < Text.size();) {
    ssize_t N = ::send(FD, Text.data() + At, Text.size() - At, MSG_NOSIGNAL);
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return false;
    At += size_t(N);
  }
  return true;
}

/// Milliseconds that are left; -1 for ever.
static int leftUntil(const std::optional<Clock::time_point> &End) {
  if (!End)
    return -1;
  auto Left = std::chrono::duration_cast<std::chrono::milliseconds>(
      *End - Clock::now());
  return int(std::max<int64_t>(0, std::min<int64_t>(Left.count(), 1 << 30)));
}

static Received receiveBytes(int FD, char *To, size_t Size,
                             const std::optional<Clock::time_point> &End) {
  for (size_t At = 0; At < Size;) {
    pollfd P{FD, POLLIN, 0};
    int Ready = ::poll(&P, 1, leftUntil(End));
    if (Ready < 0 && errno == EINTR)
      continue;
    if (Ready == 0)
      return Received::Late;
    ssize_t N = ::recv(FD, To + At, Size - At, 0);
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return Received::Closed;
    At += size_t(N);
  }
  return Received::Message;
}

Received receiveMessage(int FD, nlohmann::json &Message, int64_t TimeoutMs) {
  std::optional<Clock::time_point> End;
  if (TimeoutMs >= 0)
    End = Clock::now() + std::chrono::milliseconds(TimeoutMs);
  uint32_t Size = 0;
  Received R =
      receiveBytes(FD, reinterpret_cast<char *>(&Size), sizeof(Size), End);
  if (R != Received::Message)
    return R;
  if (Size > uint32_t(256) << 20) // No message is that long: it is damaged.
    return Received::Closed;
  std::string Text(Size, 0);
  R = receiveBytes(FD, Text.data(), Size, End);
  if (R != Received::Message)
    return R;
  Message = nlohmann::json::parse(Text, nullptr, /*allow_exceptions=*/false);
  return Message.is_object() ? Received::Message : Received::Closed;
}

} // namespace cupilot::runner
