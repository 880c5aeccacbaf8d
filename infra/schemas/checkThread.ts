import { parentPort } from "node:worker_threads";
import type { SchemaViolation } from "#events/schemaChecker.ts";
import { findViolation } from "./findViolation.ts";

/* The program of the thread that checks values which could hold the event loop. */

export interface CheckRequest {
  id: number;
  /** JSON, so that the thread pays for parsing. */
  schema: string;
  value: string;
}

export interface CheckAnswer {
  id: number;
  violation: SchemaViolation | undefined;
}

parentPort!.on("message", ({ id, schema, value }: CheckRequest) => {
  const answer: CheckAnswer = { id, violation: findViolation(JSON.parse(schema), JSON.parse(value)) };
  parentPort!.postMessage(answer);
});
