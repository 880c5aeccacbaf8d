import { serveScripts } from "#infra/sandbox/serveScripts.ts";

/* The program of a process that runs scripts, which infra/sandbox starts. */
serveScripts(Number(process.argv[2]));
