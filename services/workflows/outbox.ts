import type { RunPart, StepEntry } from "#events/runParts.ts";
import { advanceRun } from "../deciders/run.ts";
import type { ReadJson } from "./history.ts";
import type { OpenRun } from "./openRun.ts";

/**
 * Milliseconds a part may wait to share a commit with others. A step without effects on the platform may run again after a crash,
 * so it need not be recorded before the next one starts (ADR 19).
 */
const MAX_DELAY_MS = 25;

export interface Outbox {
  /** Applies a part to the run and records it within MAX_DELAY_MS. False if it changes nothing. */
  enqueue(part: RunPart, epoch: number, readJson: ReadJson): boolean;
  /** Resolves when everything enqueued so far is recorded or has failed (`hasFailed`). */
  flush(): Promise<void>;
  /** Number of parts that are not recorded. */
  size(): number;
  /** Whether the optimistic history may differ from the log. */
  hasFailed(): boolean;
  /** Empties the outbox after a failure. Returns the finished attempts that may not be recorded. */
  takeUnrecorded(): StepEntry[];
  /** Waits for the append in flight and drops the rest. */
  close(): Promise<void>;
  /** Resolves with the first part, that is, after the first tick. */
  hasPart: Promise<void>;
  /** Resolves at the first `flush`, when an effect waits for the run to be recorded. */
  flushRequested: Promise<void>;
  /** Hands the parts to the command that creates or resumes the run, which records them in its commit. */
  handOver(carrier: string): RunPart[];
}

interface OutboxOptions {
  send(data: { epoch: number; seen: number; parts: RunPart[] }): Promise<unknown>;
  onFailed(error?: unknown): void;
  /** For a run whose command is in flight: nothing is sent before `handOver`. Resolves when the command was handled. */
  creation?: Promise<void> | undefined;
}

interface State extends OutboxOptions {
  run: OpenRun;
  waiting: RunPart[];
  inFlight: RunPart[];
  epoch: number;
  hasFailed: boolean;
  sending: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
  hasPart: PromiseWithResolvers<void>;
  flushRequested: PromiseWithResolvers<void>;
  handedOver: PromiseWithResolvers<void>;
}

function stopTimer(outbox: State): void {
  clearTimeout(outbox.timer);
  outbox.timer = undefined;
}

function fail(outbox: State, error?: unknown): void {
  outbox.hasFailed = true;
  outbox.onFailed(error);
}

function drop(outbox: State): void {
  stopTimer(outbox);
  Object.assign(outbox, { waiting: [], inFlight: [], hasFailed: false });
}

/** Moves the waiting parts into flight. Returns the version that their commit will reach. */
function beginAppend(outbox: State, carrier?: string): number {
  stopTimer(outbox);
  const end = outbox.run.history.version;
  outbox.inFlight = outbox.waiting.splice(0);
  outbox.run.expectCommit(end, carrier);
  return end;
}

function endAppend(outbox: State, end: number): void {
  if (outbox.run.recorded() < end) fail(outbox);
  else outbox.inFlight = [];
}

async function sendWaiting(outbox: State): Promise<void> {
  const seen = outbox.run.recorded();
  const end = beginAppend(outbox);
  try {
    await outbox.send({ epoch: outbox.epoch, seen, parts: outbox.inFlight });
  } catch (error) {
    return fail(outbox, error);
  }
  endAppend(outbox, end);
}

async function flush(outbox: State): Promise<void> {
  const { run } = outbox;
  const end = run.history.version;
  outbox.flushRequested.resolve();
  await outbox.handedOver.promise;
  while (!outbox.hasFailed && (outbox.sending || outbox.waiting.length > 0) && run.recorded() < end)
    await (outbox.sending ??= sendWaiting(outbox).finally(() => (outbox.sending = undefined)));
}

function enqueue(outbox: State, part: RunPart, epoch: number, readJson: ReadJson): boolean {
  const { history, applyOptimistically } = outbox.run;
  const data = { run_id: history.created.run_id, epoch, seen: history.version, parts: [part] };
  const events = advanceRun(data, history.state);
  if (events.length === 0) return false;
  applyOptimistically(events, readJson);
  outbox.epoch = epoch;
  outbox.waiting.push(part);
  outbox.hasPart.resolve();
  outbox.timer ??= setTimeout(() => void flush(outbox), MAX_DELAY_MS);
  return true;
}

function handOver(outbox: State, carrier: string): RunPart[] {
  const end = beginAppend(outbox, carrier);
  const handled = async (): Promise<void> => {
    await outbox.creation;
    endAppend(outbox, end);
  };
  outbox.sending = handled().finally(() => (outbox.sending = undefined));
  outbox.handedOver.resolve();
  return outbox.inFlight;
}

/** Appends the parts of one run to the log, one commit at a time. Parts that arrive meanwhile share the next one. */
export function createOutbox(run: OpenRun, options: OutboxOptions): Outbox {
  const outbox: State = {
    ...options,
    run,
    waiting: [],
    inFlight: [],
    epoch: 0,
    hasFailed: false,
    sending: undefined,
    timer: undefined,
    hasPart: Promise.withResolvers(),
    flushRequested: Promise.withResolvers(),
    handedOver: Promise.withResolvers(),
  };
  if (!options.creation) outbox.handedOver.resolve();
  return {
    enqueue: (part, epoch, readJson) => enqueue(outbox, part, epoch, readJson),
    flush: () => flush(outbox),
    size: () => outbox.inFlight.length + outbox.waiting.length,
    hasFailed: () => outbox.hasFailed,
    takeUnrecorded() {
      const entries = [...outbox.inFlight, ...outbox.waiting].flatMap((part) => part.entries);
      drop(outbox);
      // An attempt whose start was not recorded has not started.
      return entries.filter(({ type }) => type !== "step_started");
    },
    async close() {
      await outbox.sending;
      drop(outbox);
    },
    hasPart: outbox.hasPart.promise,
    flushRequested: outbox.flushRequested.promise,
    handOver: (carrier) => handOver(outbox, carrier),
  };
}
