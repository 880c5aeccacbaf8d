import type { NewEvent } from "#events/define.ts";
import { newId, streamName } from "#events/ids.ts";
import { RunStarted, StepAttemptFailed, StepFailed, StepsScheduled, StepStarted } from "#events/run.ts";
import type { StoredValue } from "#events/runParts.ts";
import { RunLimits } from "#events/workflow.ts";
import { Unavailable } from "#events/ports.ts";
import { runCreated } from "#test/samples.ts";

/* A run whose log is a list in memory. */

export const RUN_ID = newId();
export const STREAM = streamName("run", RUN_ID);
export const AT = "2026-01-01T00:00:00.000Z";
export const keyOf = (letter: string): string => letter.repeat(22);
export const INLINE = (value: StoredValue): string => ("json" in value ? value.json : "");

export const CREATED = runCreated({
  run_id: RUN_ID,
  workflow_id: newId(),
  definition_id: newId(),
  expires_at: "2036-01-01T00:00:00.000Z",
  created_at: AT,
  worker: "w1",
});

/** A step that was asked for and has begun. */
export const scheduledAndBegun = (key: string): [NewEvent, NewEvent] => [
  StepsScheduled.of(
    {
      run_id: RUN_ID,
      at: AT,
      concurrency: null,
      on_error: "fail",
      steps: [{ key, name: "work", batch: null, index: null }],
    },
    { args: [{ json: "{}" }] },
  ),
  StepStarted.of({ run_id: RUN_ID, key, name: "work", attempt: 1, at: AT, worker: "w1" }),
];

const ITEMS = 1_000;
const ATTEMPTS = 3;

/** A run whose steps are all open at once: batches of a thousand steps that fail three times. Ten batches are the most that a run can have. */
export function manyAttempts(batches: number): NewEvent[] {
  const created = { ...CREATED, data: { ...CREATED.data, limits: RunLimits.parse({ max_steps: batches * ITEMS }) } };
  const events: NewEvent[] = [created, RunStarted.of({ run_id: RUN_ID, at: AT })];
  const keys: string[] = [];
  for (let n = 0; n < batches; n++) {
    const batch = `batch${n}`.padEnd(22, "_");
    const steps = Array.from({ length: ITEMS }, (_, index) => ({
      key: `key${n * ITEMS + index}`.padEnd(22, "_"),
      name: "work",
      batch,
      index,
    }));
    keys.push(...steps.map(({ key }) => key));
    const data = { run_id: RUN_ID, at: AT, concurrency: 50, on_error: "return" as const, steps };
    events.push(StepsScheduled.of(data, { args: steps.map(() => ({ json: "{}" })) }));
  }
  const failure = { error: { message: "no", line: null }, logs: [] };
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++)
    for (const key of keys) {
      const step = { run_id: RUN_ID, key, name: "work", attempt, at: AT };
      const failed = { ...step, duration_ms: 1, secrets: [], code: "step_error" };
      events.push(StepStarted.of({ ...step, worker: "w1" }));
      if (attempt < ATTEMPTS) events.push(StepAttemptFailed.of({ ...failed, retry_at: AT }, failure));
      else events.push(StepFailed.of(failed, failure));
    }
  return events;
}

/** Events per page. */
const PAGE = 1_000;

export function openMemoryLog(...all: NewEvent[]) {
  let broken = 0;
  const away = () => Promise.reject(new Error("not in this test"));
  return {
    deps: {
      vault: { findKey: async () => undefined, get: away, put: away },
      log: {
        async *pages(_: string, from = 1): AsyncGenerator<{ events: any[]; bytes: number }> {
          const found = all.map((event, n) => ({ ...event, version: n + 1 })).slice(from - 1);
          await Promise.resolve();
          if (broken > 0 && broken--) throw new Unavailable("The database is away.");
          for (let n = 0; n < found.length; n += PAGE) yield { events: found.slice(n, n + PAGE), bytes: 0 };
        },
      },
    },
    add: (...events: NewEvent[]): void => void all.push(...events),
    version: (): number => all.length,
    /** The next reads fail. */
    breaks: (times: number): void => void (broken = times),
  };
}
