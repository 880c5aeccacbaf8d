import type { Entry, Part } from "#events/runParts.ts";
import { advance } from "../deciders/run.ts";
import type { Json } from "./history.ts";
import type { OpenRun } from "./openRun.ts";

/**
 * How long what is noted may stay unrecorded. A step that has used nothing of the platform by then was seen by nobody: it could
 * be done again, and so need not be on record before the next one begins. In milliseconds.
 */
const SOON_MS = 25;

export interface Outbox {
  /** Folds in what this means for the run, to be recorded soon; false where it means nothing. */
  note(part: Part, epoch: number, json: Json): boolean;
  /** Resolves when all that was noted is recorded, or cannot be: then `failed` says so. */
  flush(): Promise<void>;
  /** Parts that are not recorded. */
  size(): number;
  /** What was noted is not what the log says, or whether it is is unknown. */
  failed(): boolean;
  /** Takes out what was told of steps and may not have been recorded; `failed` no more. */
  rescue(): Entry[];
  /** Drops what is not being recorded. */
  close(): Promise<void>;
  /** Resolves when something waits for what is noted to be on record. */
  wanted: Promise<void>;
  /** Gives what is noted of a run whose creation, or what it waited for, is on its way: it is recorded with that command. */
  handOver(carrier: string): Part[];
}

type Advance = (data: { epoch: number; seen: number; parts: Part[] }) => Promise<unknown>;

/**
 * What a coordinator has noted of a run and not yet recorded: one commit at a time, and what comes meanwhile goes with the next.
 * `creation`: of a run that is not in the log yet; resolves when it is, or is not going to be.
 */
export function createOutbox(
  run: OpenRun,
  {
    send,
    onFailed,
    creation,
  }: { send: Advance; onFailed(error?: unknown): void; creation?: Promise<void> | undefined },
): Outbox {
  const { history } = run;
  const wanted = Promise.withResolvers<void>();
  const handedOver = Promise.withResolvers<void>();
  if (!creation) handedOver.resolve();
  let waiting: Part[] = [];
  let sent: Part[] = [];
  let epochOfAll = 0;
  let hasFailed = false;
  let sending: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;

  function fail(error?: unknown): void {
    hasFailed = true;
    onFailed(error);
  }

  async function sendWaiting(): Promise<void> {
    clearTimeout(soon);
    soon = undefined;
    const [seen, end] = [run.recorded(), history.version];
    sent = waiting.splice(0);
    run.expect(end);
    try {
      await send({ epoch: epochOfAll, seen, parts: sent });
    } catch (error) {
      return fail(error);
    }
    if (run.recorded() < end) return fail();
    sent = [];
  }
  async function flush(): Promise<void> {
    const end = history.version;
    wanted.resolve();
    await handedOver.promise;
    while (!hasFailed && (sending || waiting.length > 0) && run.recorded() < end)
      await (sending ??= sendWaiting().finally(() => (sending = undefined)));
  }

  function drop(): void {
    clearTimeout(soon);
    soon = undefined;
    sent = [];
    waiting = [];
    hasFailed = false;
  }

  return {
    note(part, epoch, json) {
      const data = { run_id: history.created.run_id, epoch, seen: history.version, parts: [part] };
      const events = advance(data, history.state);
      if (events.length === 0) return false;
      run.foresee(events, json);
      epochOfAll = epoch;
      waiting.push(part);
      soon ??= setTimeout(() => void flush(), SOON_MS);
      return true;
    },
    flush,
    size: () => sent.length + waiting.length,
    failed: () => hasFailed,
    rescue() {
      const entries = [...sent, ...waiting].flatMap((part) => part.entries);
      drop();
      return entries.filter(({ type }) => type !== "step_started");
    },
    async close() {
      await sending;
      drop();
    },
    wanted: wanted.promise,
    handOver(carrier) {
      clearTimeout(soon);
      soon = undefined;
      const end = history.version;
      const parts = waiting.splice(0);
      sent = parts;
      run.expect(end, carrier);
      const created = async (): Promise<void> => {
        await creation;
        if (run.recorded() < end) return fail();
        sent = [];
      };
      sending = created().finally(() => (sending = undefined));
      handedOver.resolve();
      return parts;
    },
  };
}
