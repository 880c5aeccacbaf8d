import { AsyncLocalStorage } from "node:async_hooks";
import type { Trace } from "./trace.ts";

/* The trace of the running code, and the port for recording spans, which infra/telemetry implements. */

const current = new AsyncLocalStorage<Trace | undefined>();

/** The trace of the running code. Promises, timers and callbacks inherit it from the code that created them. */
export const currentTrace = (): Trace | undefined => current.getStore();

/** Runs work as part of a trace, or of none. Work from a queue or another process needs this, or it inherits an unrelated trace. */
export const withTrace = <T>(trace: Trace | undefined, work: () => T): T => current.run(trace, work);

/** Ids, counts and constants. Never put text of a person, a secret or an error message here. */
export type Attributes = Record<string, string | number | boolean | string[]>;
export interface SpanOptions {
  /** `server` and `consumer` spans handle a call from another system, `client` spans call one. */
  kind?: "internal" | "server" | "client" | "consumer";
  attributes?: Attributes;
}

/** A span that has started and not ended. */
export interface OpenSpan {
  /** The parent of spans that start within this one. */
  trace: Trace;
  set(attributes: Attributes): void;
  /** `failure`: the name of the error, if the work failed. */
  end(failure?: string): void;
}
export type SpanRecorder = (name: string, options: SpanOptions, parent: Trace | undefined) => OpenSpan;

let recorder: SpanRecorder | undefined;

/** Sets the recorder of this process. Returns a function that removes it. */
export function setSpanRecorder(next: SpanRecorder): () => void {
  recorder = next;
  return () => {
    if (recorder === next) recorder = undefined;
  };
}

/** Opens a span that the caller must end; undefined if the process records no spans. */
export const openSpan = (name: string, options: SpanOptions, parent = currentTrace()): OpenSpan | undefined =>
  recorder?.(name, options, parent);

const failureName = (error: unknown): string => (error instanceof Error ? error.name : "error");

/** Runs work in its own span, or without one if the process records no spans. `note` adds attributes to the span. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (note: (attributes: Attributes) => void) => Promise<T>,
): Promise<T> {
  const span = openSpan(name, options);
  if (!span) return work(() => {});
  try {
    const result = await withTrace(span.trace, () => work(span.set));
    span.end();
    return result;
  } catch (error) {
    span.end(failureName(error));
    throw error;
  }
}
