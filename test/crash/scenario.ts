import type { RecordedEvent } from "#events/envelope.ts";
import { checkJournal } from "../../dev/crash/check/checkAll.ts";
import { grouped, operationOf, turnsOf, type Evidence } from "../../dev/crash/check/evidence.ts";
import type { Attempt, Effect, Facts, InjectedFault, Operation, OperationKind } from "../../dev/crash/journal.ts";

/** A client's journal and the log, for tests of the checker. Everything went well unless a test changes it. */
export function newScenario() {
  const events: RecordedEvent<any>[] = [];
  const operations: Operation[] = [];
  const attempts: Attempt[] = [];
  const effects: Effect[] = [];
  const faults: InjectedFault[] = [];
  let clock = 0;

  const evidence = (): Evidence => ({
    operations,
    attempts: grouped(attempts, ({ operation }) => operation),
    faults,
    readiness: [],
    events,
    eventsOf: grouped(events, ({ meta }) => operationOf(meta.request_id)),
    turns: turnsOf(events),
    effects,
    feed: [],
    feedEnd: undefined,
    values: new Map(),
  });

  return {
    /** An event that the nth try of an operation led to. */
    event(type: string, stream: string, operation: string, data: Facts = {}, personal?: Facts, attempt = 0) {
      events.push({
        position: events.length + 1,
        stream,
        version: events.filter((event) => event.stream === stream).length + 1,
        organization_id: "o",
        type,
        data,
        personal,
        command_id: `${type} ${operation} ${data["turn_id"] ?? ""}`,
        recorded_at: new Date(0),
        meta: { principal: "system", request_id: `${operation}.${attempt}` },
      });
    },
    /** An operation with the statuses of its tries; the last one is its answer. */
    operation(what: OperationKind, id: string, more: Partial<Operation> = {}, statuses: (number | null)[] = [200]) {
      const start = clock++;
      for (const status of statuses)
        attempts.push({
          kind: "attempt",
          operation: id,
          port: 1,
          start,
          end: clock++,
          status,
          code: null,
          request_id: null,
          retry_after: true,
        });
      operations.push({
        kind: "operation",
        id,
        client: 0,
        what,
        start,
        end: clock++,
        outcome: "done",
        status: statuses.at(-1)!,
        code: null,
        attempts: statuses.length,
        keyed: true,
        asked: {},
        got: {},
        ...more,
      });
    },
    /** A fault that lasts until the end of the next operation. */
    fault(target: string, what = "kill") {
      faults.push({ kind: "fault", what, target, at: clock++, until: clock + 1 });
    },
    /** What an attempt at a step did outside. */
    effect(effect: Pick<Effect, "run_id" | "key" | "step"> & Partial<Effect>) {
      effects.push({
        kind: "effect",
        part: "only",
        attempt: 1,
        nth: 1,
        has_secret: false,
        start: clock++,
        end: clock++,
        ...effect,
      });
    },
    /** As it may be changed by a test. */
    events,
    evidence,
    findings: () => checkJournal(evidence()).map(({ kind, rule }) => `${kind} ${rule}`),
  };
}

export const THREAD = "thread-t";

/** A whole turn in the log. */
export function turn(of: ReturnType<typeof newScenario>, id: string, operation: string, text = id, attempt = 0): void {
  of.event("TurnStarted", THREAD, operation, { turn_id: id }, { input: { prompt: { messages: [] } } }, attempt);
  of.event("TurnCompleted", THREAD, operation, { turn_id: id }, { said: { text } }, attempt);
}

/** What its client received. */
export const heard = (id: string, text = id) => ({
  asked: { files: [] },
  got: { thread_id: "t", ids: [`chatcmpl-${id}`], text, finishes: 1, done: true },
});
