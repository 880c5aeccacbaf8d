import type pg from "pg";
import type { Appended } from "#events/ports.ts";
import type { EncodedAppend } from "./encode.ts";
import { blamesEvent, unavailable } from "./trouble.ts";

/** Commands in one call of log.append; 64 is where the cost of a command stops falling. */
const BATCH = 64;
/** Calls under way at once: a second one would only wait for the head row, and gather fewer commands. */
const IN_FLIGHT = 1;

interface Waiting {
  encoded: EncodedAppend;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

interface AppendRow {
  n: number;
  kind: Appended["kind"];
  first: number;
  last: number;
  at: Date;
  stored_position: number;
  stored_fingerprint: string | null;
  stored_rejection: string | null;
}

const number = (rows: Record<string, unknown>[], command: number) => rows.map((row) => ({ ...row, command }));

function parameters(batch: Waiting[]): string[] {
  const part = (name: "events" | "heads" | "keys" | "erasures" | "forgotten") =>
    batch.flatMap(({ encoded }, command) => number(encoded[name], command));
  return [
    batch.map(({ encoded }, n) => ({ n, ...encoded.command })),
    part("events").map((event, n) => ({ n, ...event })),
    part("heads"),
    part("keys"),
    part("erasures"),
    part("forgotten"),
  ].map((value) => JSON.stringify(value));
}

function appendedFrom(row: AppendRow): Appended {
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

/**
 * Group commit: what arrives while a call is under way goes with the next one.
 * Unavailable means "unknown": the same command may be appended again and is then answered from its outcome row.
 */
export function groupCommit(pool: pg.Pool): (encoded: EncodedAppend) => Promise<Appended> {
  const waiting: Waiting[] = [];
  let inFlight = 0;
  let scheduled = false;

  const write = async (batch: Waiting[]): Promise<void> => {
    try {
      const { rows } = await pool.query<AppendRow>({
        name: "append",
        text: "select * from log.append($1, $2, $3, $4, $5, $6)",
        values: parameters(batch),
      });
      for (const row of rows) batch[row.n]!.resolve(appendedFrom(row));
    } catch (error) {
      if (batch.length === 1 || !blamesEvent(error)) for (const { reject } of batch) reject(unavailable(error));
      // One bad command must not fail those that travelled with it.
      else for (const alone of batch) await write([alone]);
    }
  };

  const flush = () => {
    scheduled = false;
    while (waiting.length > 0 && inFlight < IN_FLIGHT) {
      inFlight++;
      void write(waiting.splice(0, BATCH)).finally(() => {
        inFlight--;
        flush();
      });
    }
  };

  return (encoded) =>
    new Promise((resolve, reject) => {
      waiting.push({ encoded, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    });
}
