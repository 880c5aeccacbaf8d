import { openWorkflows } from "#infra/scripts/workflows/openWorkflows.ts";
import { callOf, HOST, runOf, stepOf } from "../scripts/ticking.ts";

/* A process that ticks a run and runs a step without end, to be killed. Says when both processes are there. */
const runner = openWorkflows({ processes: 1, cpu_ms: 600_000 });
await runner.tick(callOf(runOf("return 1")));
await runner.step(
  stepOf("await ctx.secrets.get('x'); 'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')", {
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
