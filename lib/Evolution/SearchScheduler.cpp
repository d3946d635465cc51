//===- SearchScheduler.cpp - Searches that run at once --------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/SearchScheduler.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <numeric>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

//===----------------------------------------------------------------------===//
// Whose turn it is
//===----------------------------------------------------------------------===//

FairTurns::FairTurns(std::optional<unsigned> Most, std::vector<double> Gains)
    : Most(Most), Gains(std::move(Gains)), Had(this->Gains.size(), 0) {
  const double Sum =
      std::accumulate(this->Gains.begin(), this->Gains.end(), 0.0);
  // Nobody waits for ever, and where nothing is known all are alike.
  const double Floor = Sum > 0 ? Sum / 1000 : 1;
  for (double &G : this->Gains)
    G = std::max(G, Floor);
}

/// A turn that has just begun counts as a second: many may begin at once.
double FairTurns::had(size_t Of, double Now) const {
  double Seconds = 0;
  for (const Asker &A : Askers)
    if (A.Of == Of && A.Since)
      Seconds += std::max(1.0, Now - *A.Since);
  return Had[Of] + Seconds / Gains[Of];
}

void FairTurns::ask(uint64_t Id, size_t Of, double Now) {
  if (none_of(Askers, [&](const Asker &A) { return A.Of == Of; }))
    Had[Of] = std::max(Had[Of], Least);
  Askers.push_back({Id, Of, std::nullopt});
}

void FairTurns::end(uint64_t Id, double Now) {
  auto At = find_if(Askers, [&](const Asker &A) { return A.Id == Id; });
  if (At == Askers.end())
    return;
  if (At->Since)
    Had[At->Of] += (Now - *At->Since) / Gains[At->Of];
  Askers.erase(At);
}

std::optional<uint64_t> FairTurns::next(double Now) {
  if (Most && size_t(count_if(Askers, [](const Asker &A) {
                return A.Since.has_value();
              })) >= *Most)
    return std::nullopt;
  Asker *Next = nullptr;
  for (Asker &A : Askers)
    if (!A.Since && (!Next || had(A.Of, Now) < had(Next->Of, Now)))
      Next = &A;
  if (!Next)
    return std::nullopt;
  Least = std::max(Least, Had[Next->Of]);
  Next->Since = Now;
  return Next->Id;
}

//===----------------------------------------------------------------------===//
// Between processes
//===----------------------------------------------------------------------===//
//
// Who wants a turn makes a pair of sockets and sends one end to the scheduler,
// with the resource, over the connection of its search, which threads and
// processes share. The scheduler answers when the turn begins; it has ended
// when the other end is closed, however that comes.

static void closeEnd(int &FD) {
  if (FD >= 0)
    ::close(std::exchange(FD, -1));
}

Turn::~Turn() { closeEnd(FD); }

namespace {
/// A message of one byte, the resource, with room for one end.
struct EndMessage {
  EndMessage() {
    Header.msg_iov = &Part;
    Header.msg_iovlen = 1;
    Header.msg_control = Space;
    Header.msg_controllen = sizeof(Space);
  }
  EndMessage(const EndMessage &) = delete; // It points into itself.
  EndMessage &operator=(const EndMessage &) = delete;

  unsigned char Resource = 0;
  msghdr Header = {};

private:
  iovec Part = {&Resource, 1};
  alignas(cmsghdr) char Space[CMSG_SPACE(sizeof(int))] = {};
};
} // namespace

static bool sendEnd(int Over, unsigned char Resource, int End) {
  EndMessage Message;
  Message.Resource = Resource;
  cmsghdr *Header = CMSG_FIRSTHDR(&Message.Header);
  Header->cmsg_level = SOL_SOCKET;
  Header->cmsg_type = SCM_RIGHTS;
  Header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(Header), &End, sizeof(int));
  ssize_t Sent;
  while ((Sent = ::sendmsg(Over, &Message.Header, MSG_NOSIGNAL)) < 0 &&
         errno == EINTR)
    ;
  return Sent == 1;
}

/// The end that was sent, and for what; -1 where nobody can send any more.
static int receiveEnd(int Over, unsigned char &Resource) {
  EndMessage Message;
  ssize_t Got;
  while ((Got = ::recvmsg(Over, &Message.Header, MSG_CMSG_CLOEXEC)) < 0 &&
         errno == EINTR)
    ;
  Resource = Message.Resource;
  cmsghdr *Header = Got == 1 ? CMSG_FIRSTHDR(&Message.Header) : nullptr;
  int End = -1;
  if (Header && Header->cmsg_type == SCM_RIGHTS)
    std::memcpy(&End, CMSG_DATA(Header), sizeof(int));
  return End;
}

/// Without a scheduler, whose end is the program's, nobody waits.
Turn SearchTurns::wait(SharedResource R) const {
  int Pair[2];
  if (FD < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Pair) != 0)
    return Turn();
  const bool Sent = sendEnd(FD, static_cast<unsigned char>(R), Pair[1]);
  ::close(Pair[1]);
  char Begins;
  if (Sent)
    while (::read(Pair[0], &Begins, 1) < 0 && errno == EINTR)
      ;
  return Turn(Pair[0]);
}

namespace {
/// Who asked, by the end that it sent.
struct OpenTurn {
  int End;
  size_t Resource;
};
} // namespace

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] static void serve(std::vector<int> Searches,
                               const SearchScheduler::Limits &Most,
                               const std::vector<double> &Gains) {
  std::vector<FairTurns> Fair;
  for (std::optional<unsigned> Each : Most)
    Fair.emplace_back(Each, Gains);
  std::vector<OpenTurn> Open;
  size_t Left = Searches.size();
  while (Left > 0 || !Open.empty()) {
    std::vector<pollfd> Polls;
    Polls.reserve(Searches.size() + Open.size());
    for (int Each : Searches) // poll passes over -1.
      Polls.push_back({Each, POLLIN, 0});
    for (const OpenTurn &T : Open)
      Polls.push_back({T.End, 0, 0});
    if (::poll(Polls.data(), Polls.size(), -1) < 0)
      continue;
    const double Now = now();
    for (size_t I = Open.size(); I-- > 0;) {
      if (!(Polls[Searches.size() + I].revents & (POLLHUP | POLLERR)))
        continue;
      Fair[Open[I].Resource].end(uint64_t(Open[I].End), Now);
      closeEnd(Open[I].End);
      Open.erase(Open.begin() + long(I));
    }
    for (size_t I = 0; I < Searches.size(); ++I) {
      if (Searches[I] < 0 || !Polls[I].revents)
        continue;
      unsigned char Resource = 0;
      const int End = receiveEnd(Searches[I], Resource);
      if (End < 0) {
        closeEnd(Searches[I]);
        --Left;
        continue;
      }
      Fair[Resource].ask(uint64_t(End), I, Now);
      Open.push_back({End, Resource});
    }
    for (FairTurns &Each : Fair)
      while (std::optional<uint64_t> Next = Each.next(Now))
        (void)::send(int(*Next), "", 1, MSG_NOSIGNAL); // Its end is heard of.
  }
  ::_exit(0);
}

Expected<std::unique_ptr<SearchScheduler>>
SearchScheduler::start(const Limits &Most, const std::vector<double> &Gains) {
  std::vector<int> Mine, Its;
  auto Fail = [&](const char *What) {
    const int Why = errno;
    for (std::vector<int> *Both : {&Mine, &Its})
      for (int &End : *Both)
        closeEnd(End);
    return resourceError(Twine(What) + ": " + std::strerror(Why));
  };
  for (size_t I = 0; I < Gains.size(); ++I) {
    int Pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, Pair) != 0)
      return Fail("cannot create a connection");
    Mine.push_back(Pair[0]);
    Its.push_back(Pair[1]);
  }
  outs().flush(); // Or the copy would write it again.
  const pid_t Parent = ::getpid();
  const pid_t Pid = ::fork();
  if (Pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != Parent)
      ::_exit(0);
    for (int &End : Mine)
      closeEnd(End);
    serve(std::move(Its), Most, Gains);
  }
  if (Pid < 0)
    return Fail("cannot create a process");
  for (int &End : Its)
    closeEnd(End);
  return std::unique_ptr<SearchScheduler>(
      new SearchScheduler(Pid, std::move(Mine)));
}

SearchScheduler::~SearchScheduler() {
  for (int &End : Ends)
    closeEnd(End);
  // Processes that a search left behind may keep their ends open.
  ::kill(Pid, SIGKILL);
  while (::waitpid(Pid, nullptr, 0) < 0 && errno == EINTR)
    ;
}

} // namespace cupilot
