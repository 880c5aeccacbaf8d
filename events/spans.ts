import { AsyncLocalStorage } from "node:async_hooks";
import type { Trace } from "./trace.ts";

/* Which trace the running code belongs to, and the port to whatever records spans; infra/telemetry implements it. */

const current = new AsyncLocalStorage<Trace | undefined>();

/** The trace that the running code works for. It follows promises, timers and callbacks from where it was set. */
export const currentTrace = (): Trace | undefined => current.getStore();

/** Runs work as part of a trace, or of none. What a queue or another process brings needs this: it runs in the wrong one. */
export const withTrace = <T>(trace: Trace | undefined, work: () => T): T => current.run(trace, work);

/** Ids, counts and words of ours; never a word of a person, a secret or the message of an error. */
export type Attributes = Record<string, string | number | boolean | string[]>;
export interface SpanOptions {
  /** `server` and `consumer` begin at others, `client` ends at others. */
  kind?: "internal" | "server" | "client" | "consumer";
  attributes?: Attributes;
}

/** A span that is under way. */
export interface OpenSpan {
  /** What happens within it has this as its parent. */
  trace: Trace;
  set(attributes: Attributes): void;
  /** `failure`: why it failed, in a word. */
  end(failure?: string): void;
}
export type SpanRecorder = (name: string, options: SpanOptions, parent: Trace | undefined) => OpenSpan;

let recorder: SpanRecorder | undefined;

/** Has the spans of this process recorded, until what it answers is called. */
export function recordSpans(by: SpanRecorder): () => void {
  recorder = by;
  return () => {
    if (recorder === by) recorder = undefined;
  };
}

/** A span that ends elsewhere; undefined where nobody records. */
export const openSpan = (name: string, options: SpanOptions, parent = currentTrace()): OpenSpan | undefined =>
  recorder?.(name, options, parent);

const failureOf = (error: unknown): string => (error instanceof Error ? error.name : "error");

/** Does work in a span of its own; where nobody records it is done as it is. `note` adds attributes. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (note: (attributes: Attributes) => void) => Promise<T>,
): Promise<T> {
  const span = openSpan(name, options);
  if (!span) return work(() => {});
  try {
    const done = await withTrace(span.trace, () => work(span.set));
    span.end();
    return done;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
}
