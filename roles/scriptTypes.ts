import { serveTypes } from "#infra/sandbox/types/serveTypes.ts";

/* The program of a process that checks the types of scripts, which infra/sandbox starts. */
serveTypes();
