import { parentPort } from "node:worker_threads";
import type { SchemaViolation } from "#events/schemaChecker.ts";
import { findViolation } from "./findViolation.ts";

/* The thread for checks that could block the event loop. */

export interface CheckRequest {
  id: number;
  /** JSON text, so that the thread does the parsing. */
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
