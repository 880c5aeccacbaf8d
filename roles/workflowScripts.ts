import { serveWorkflows } from "#infra/scripts/workflows/serve.ts";

/* The program of a process that runs workflows; infra/scripts/workflows starts it. */
serveWorkflows(process.argv[2] === "ticks" ? "ticks" : "steps", Number(process.argv[3]));
