import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import { tickCallFor, HOST, moduleWithRun, stepCallFor } from "../sandbox/workflowCalls.ts";

/* A process that ticks a run and runs an endless step, and reports when both of its processes run. The test kills it. */
const runner = openWorkflows({ processes: 1, cpu_ms: 600_000 });
await runner.tick(tickCallFor(moduleWithRun("return 1")));
await runner.step(
  stepCallFor("await ctx.secrets.get('x'); 'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')", {
    timeout_ms: 600_000,
    host: {
      ...HOST,
      secret: async () => {
        process.send?.("running");
        return "";
      },
    },
  }),
);
