// The official SDK's client against the server: node sdk.mjs 2026-07-28|2025-11-25 DIR ARGS...
// It checks each message, and each result against its tool's schema.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [revision, modules, ...args] = process.argv.slice(2);
const resolve = createRequire(modules + "/package.json").resolve;
const load = (name) => import(pathToFileURL(resolve(name)));
const { Client } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

// Without negotiation it is a client of before 2026-07-28.
const options = revision === "2026-07-28" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "sdk", version: "1" }, options);
await client.connect(new StdioClientTransport({ command: "cupilot", args: ["mcp", ...args], env: process.env }));
console.log(client.getServerVersion().name, client.getNegotiatedProtocolVersion());
const { tools } = await client.listTools();
console.log("tools", tools.length);
const { resources } = await client.listResources();
await client.readResource({ uri: resources[0].uri });
const { prompts } = await client.listPrompts();
await client.getPrompt({ name: "agent-review" });

const source = `__global__ void scale(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = 2.0f * p[i];
}
`;
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  const content = result.structuredContent;
  console.log(name, result.isError ? "error" : "ok", content?.state ?? "");
  return content;
};
const until = async (work) => {
  while (work && ["queued", "running"].includes(work.state))
    work = (await client.callTool({ name: "result", arguments: { handle: work.handle, wait_seconds: 20 } })).structuredContent;
  console.log("  ", work?.state, work?.result?.outcome);
  return work;
};
await call("kernels", {});
await call("kernel", { kernel: "scale" });
await call("tried", { kernel: "scale" });
await call("knowledge", { query: "shared memory" });
const compiled = await until(await call("compile", { kernel: "scale", source }));
await call("variant", { kernel: "scale", name: compiled.handle });
await until(await call("judge", { kernel: "scale", source, depth: "quick" }));
await until(await call("time", { kernel: "scale", source }));
await until(await call("profile", { kernel: "scale" }));
const tunables = [{ name: "FACTOR", value: 1, values: [1, 2], strategy: "unroll", param: "factor" }];
await until(await call("tune", { kernel: "scale", source, tunables }));
const submitted = await call("submit", { kernel: "scale", source });
await call("status", { handle: submitted.handle });
await call("result", { handle: submitted.handle });
await call("cancel", { handle: submitted.handle });
await call("kernel", { kernel: 7 });
try {
  await client.callTool({ name: "rm", arguments: {} });
} catch (error) {
  console.log("unknown tool", error.code);
}
await client.close();
