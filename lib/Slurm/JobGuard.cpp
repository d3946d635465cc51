//===- JobGuard.cpp - Jobs that end with this process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobGuard.h"
#include "cupilot/Support/Error.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char **environ;

using namespace llvm;

namespace cupilot {

// In the background, so that nobody has to wait for it: reads names until the
// other end is closed, then cancels. An sbatch may still
// be under way then, and slurmctld may be away for a while: hence twice, and
// again.
static const char Script[] = R"(
exec 3<&0
(
trap '' INT TERM HUP QUIT
names=
while read -r n; do
  [ "$n" != . ] || exit 0
  names="$names $n"
done
tries=0 good=0
while [ $tries -lt 30 ] && [ $good -lt 2 ]; do
  bad=0
  for n in $names; do
    scancel --me --name="$n" || bad=1
  done
  [ $bad -eq 1 ] || good=$((good + 1))
  tries=$((tries + 1))
  sleep 1
done
) <&3 3<&- &
)";

Expected<JobGuard> JobGuard::create() {
  // Not a pipe: a write to a guard that is gone must not raise SIGPIPE.
  int Ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends) != 0)
    return resourceError(Twine("no connection to another process: ") +
                         std::strerror(errno));
  posix_spawn_file_actions_t Actions;
  ::posix_spawn_file_actions_init(&Actions);
  ::posix_spawn_file_actions_adddup2(&Actions, Ends[1], 0);
  ::posix_spawn_file_actions_addopen(&Actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&Actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t Attributes;
  ::posix_spawnattr_init(&Attributes);
  ::posix_spawnattr_setflags(&Attributes, POSIX_SPAWN_SETSID);
  std::string Shell = "sh", Flag = "-c", Text = Script;
  char *Arguments[] = {Shell.data(), Flag.data(), Text.data(), nullptr};
  pid_t Pid;
  int Failed =
      ::posix_spawn(&Pid, "/bin/sh", &Actions, &Attributes, Arguments, environ);
  ::posix_spawnattr_destroy(&Attributes);
  ::posix_spawn_file_actions_destroy(&Actions);
  ::close(Ends[1]);
  int Status = 0;
  if (!Failed)
    while (::waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
      ;
  if (Failed) {
    ::close(Ends[0]);
    return resourceError(Twine("cannot run '/bin/sh': ") +
                         std::strerror(Failed));
  }
  return JobGuard(Ends[0]);
}

JobGuard::~JobGuard() {
  if (FD >= 0)
    ::close(FD);
}

void JobGuard::write(StringRef Line) {
  std::string Text = (Line + "\n").str();
  (void)::send(FD, Text.data(), Text.size(), MSG_NOSIGNAL);
}

void JobGuard::add(StringRef Job) { write(Job); }

void JobGuard::release() { write("."); }

} // namespace cupilot
