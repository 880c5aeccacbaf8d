import { serveScripts } from "#infra/scripts/serve.ts";

/* The program of a process that runs scripts; infra/scripts starts it. */
serveScripts(Number(process.argv[2]));
