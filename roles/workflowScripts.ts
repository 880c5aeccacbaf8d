import { serveWorkflows } from "#infra/sandbox/workflows/serveWorkflows.ts";

/* The program of a process that runs ticks or steps, which infra/sandbox/workflows starts. */
serveWorkflows(process.argv[2] === "ticks" ? "ticks" : "steps", Number(process.argv[3]));
