// A program whose words say what it does besides its launches.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"

int main(int argc, char **argv) {
  auto Has = [&](const char *Word) {
    for (int I = 1; I < argc; ++I)
      if (!strcmp(argv[I], Word))
        return true;
    return false;
  };
  const char *Mode = getenv("CUPILOT_RUNTIME");
  const bool Off = Mode && !strcmp(Mode, "off");
  const int N = 4096;
  static float Values[N];
  for (int I = 0; I < N; ++I)
    Values[I] = I % 17 + 1;
  float *P;
  cudaMalloc(&P, sizeof(Values));
  cudaMemcpy(P, Values, sizeof(Values), cudaMemcpyHostToDevice);
  for (int I = 0; I < 3; ++I)
    scale<<<N / 128, 128>>>(P, 2.0f, N);
  // The guard has multiples of four alone, and the domain no such factor.
  scale<<<N / 128, 128>>>(P, 2.0f, N - 1);
  scale<<<N / 128, 128>>>(P, 1e30f, 0);
  cudaMemcpy(Values, P, sizeof(Values), cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess)
    return 9;
  double Sum = 0;
  for (float Value : Values)
    Sum += Value;
  if (!Has("quiet"))
    printf("first %g\nsum %.1f\n", Values[0], Sum);
  if (Has("process"))
    printf("process %d\nlast\n", getpid());
  if (Has("mode"))
    printf("mode %s\n", Off ? "off" : "on");
  if (Has("more") && !Off)
    printf("one line more\n");
  if (Has("binary"))
    fwrite("a\0b\nc", 1, 5, stdout), putchar(Off ? 'x' : 'y');
  if (Has("echo"))
    for (int C; (C = getchar()) != EOF;)
      putchar(C);
  if (Has("steps")) { // As many lines as there were runs.
    int Runs = 0;
    if (FILE *F = fopen("runs", "r"))
      fscanf(F, "%d", &Runs), fclose(F);
    if (FILE *F = fopen("runs", "w"))
      fprintf(F, "%d", Runs + 1), fclose(F);
    for (int I = 0; I <= Runs; ++I)
      printf("step %d of %d\n", I, Runs);
    printf("end\n");
  }
  if (Has("file") || (Has("file-off") && Off))
    if (FILE *F = fopen("out.txt", "w")) {
      for (int I = 0; I < 20; ++I)
        fprintf(F, "%8.4f\n", Values[I]);
      fclose(F);
    }
  fflush(stdout);
  if (Has("fork")) {
    pid_t Child = fork();
    if (Child == 0)
      exit(0);
    waitpid(Child, nullptr, 0);
  }
  if (Has("crash") && !Off) {
    fprintf(stderr, "about to fail\n");
    abort();
  }
  if (Has("crash-always"))
    raise(SIGSEGV);
  if (Has("_exit"))
    _exit(0);
  return Has("status") ? 4 : Has("fail") && !Off ? 3 : 0;
}
