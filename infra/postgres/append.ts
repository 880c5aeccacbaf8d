import type pg from "pg";
import type { AppendResult } from "#events/ports.ts";
import type { EncodedAppend } from "./encode.ts";
import { isEventFault, asUnavailable } from "./errors.ts";
import { appendNew, requiresLogAppend } from "./appendNew.ts";
import type { AppendListener } from "./appendWatch.ts";

/** Maximum commands per call of log.append. Larger batches do not make a command cheaper. */
const MAX_BATCH = 64;
/** Concurrent calls. A second one would only wait for the head row's lock and gather fewer commands. */
const MAX_IN_FLIGHT = 1;

interface PendingAppend {
  encoded: EncodedAppend;
  resolve(appended: AppendResult): void;
  reject(error: unknown): void;
}

interface AppendRow {
  n: number;
  kind: AppendResult["kind"];
  first: number;
  last: number;
  at: Date;
  stored_position: number;
  stored_fingerprint: string | null;
  stored_rejection: string | null;
}

/** The parameters of log.append, as JSON. Rows refer to their command by its number in the batch. */
function parametersFor(batch: EncodedAppend[]): string[] {
  const rows = (name: "heads" | "keys" | "erasures" | "forgotten") =>
    batch.flatMap((encoded, command) => encoded[name].map((row) => ({ ...row, command })));
  const events = batch.flatMap((encoded, command) =>
    encoded.events.map(({ personal: _, sealed, ...event }) => ({
      ...event,
      sealed: sealed?.toString("base64") ?? null,
      command,
    })),
  );
  return [
    batch.map(({ command }, n) => ({ n, ...command })),
    events.map((event, n) => ({ n, ...event })),
    rows("heads"),
    rows("keys"),
    rows("erasures"),
    rows("forgotten"),
  ].map((value) => JSON.stringify(value));
}

function appendedFrom(row: AppendRow): AppendResult {
  switch (row.kind) {
    case "committed":
      return { kind: "committed", first: row.first ?? 0, last: row.last ?? 0, at: row.at };
    case "repeated":
      return {
        kind: "repeated",
        outcome: {
          position: row.stored_position,
          fingerprint: row.stored_fingerprint,
          rejection: row.stored_rejection === null ? null : JSON.parse(row.stored_rejection),
        },
      };
    case "conflict":
      return { kind: "conflict" };
  }
}

/** Appends commands, some of which may be repeated or conflict. */
async function appendAny(pool: pg.Pool, batch: EncodedAppend[]): Promise<AppendResult[]> {
  const unchanged = batch.flatMap((encoded) => encoded.unchanged);
  const plain = { name: "append", text: "select * from log.append($1, $2, $3, $4, $5, $6)" };
  const fenced = {
    name: "append unchanged",
    text: "select * from log.append_unchanged($1, $2, $3, $4, $5, $6, $7)",
  };
  const { rows } = await pool.query<AppendRow>(
    unchanged.length === 0
      ? { ...plain, values: parametersFor(batch) }
      : { ...fenced, values: [JSON.stringify(unchanged), ...parametersFor(batch)] },
  );
  return rows.sort((a, b) => a.n - b.n).map(appendedFrom);
}

/**
 * Group commit: the next call takes all commands that arrive during the current one (docs/adr/0001-one-lock-orders-the-log.md).
 * Unavailable means that the outcome is unknown: append the same command again, and its outcome row answers it.
 */
export function groupCommit(
  pool: pg.Pool,
  onAppend?: AppendListener,
): (encoded: EncodedAppend) => Promise<AppendResult> {
  const pending: PendingAppend[] = [];
  let inFlight = 0;
  let isScheduled = false;

  const write = async (batch: PendingAppend[]): Promise<void> => {
    onAppend?.onBegin();
    try {
      const encoded = batch.map((one) => one.encoded);
      const results = (await appendNew(pool, encoded)) ?? (await appendAny(pool, encoded));
      onAppend?.onEnd();
      for (const [n, { resolve }] of batch.entries()) resolve(results[n]!);
    } catch (error) {
      onAppend?.onEnd(error);
      if (batch.length === 1 || !isEventFault(error)) for (const { reject } of batch) reject(asUnavailable(error));
      // One bad command must not fail the rest of its batch.
      else for (const one of batch) await write([one]);
    }
  };

  const flush = () => {
    isScheduled = false;
    while (pending.length > 0 && inFlight < MAX_IN_FLIGHT) {
      inFlight++;
      void write(takeBatch(pending)).finally(() => {
        inFlight--;
        flush();
      });
    }
  };

  return (encoded) =>
    new Promise((resolve, reject) => {
      pending.push({ encoded, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    });
}

/** Whether a command writes a stream on which the other was decided. In one batch, neither would see the other. */
const collides = (one: EncodedAppend, other: EncodedAppend): boolean =>
  one.heads.some(({ stream }) => other.unchanged.some((read) => read.stream === stream));

/** Takes the next batch. Commands that require `log.append` get their own, because one of them keeps all others from `appendNew`. */
function takeBatch(pending: PendingAppend[]): PendingAppend[] {
  const isForLogAppend = requiresLogAppend(pending[0]!.encoded);
  const end = pending.findIndex(
    ({ encoded }, n) =>
      n === MAX_BATCH ||
      requiresLogAppend(encoded) !== isForLogAppend ||
      (isForLogAppend &&
        pending.slice(0, n).some((other) => collides(other.encoded, encoded) || collides(encoded, other.encoded))),
  );
  return pending.splice(0, end < 0 ? pending.length : end);
}
