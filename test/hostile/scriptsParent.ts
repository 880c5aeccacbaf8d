import { openScripts } from "#infra/sandbox/openScripts.ts";

/* A process that runs an endless script and reports when it runs. The test kills it. */
const runner = openScripts({ processes: 1, cpu_ms: 600_000 });
await runner.run({
  organization_id: "o1",
  js: "export async function execute(_, { fetch }) { fetch('x'); await null; Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1) }",
  args: {},
  meta: {},
  host: {
    fetch: async () => {
      process.send?.("running");
      return { status: 200, headers: [], body: "" };
    },
    secret: async () => "",
  },
  signal: new AbortController().signal,
});
