import { claimStream } from "#events/ids.ts";
import type { LogReader } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";
import { batchLookups } from "./batchLookups.ts";

const findTimes = (db: Db) =>
  batchLookups<Date>(async (positions) => {
    const rows = await db.query<{ position: number; recorded_at: Date }>(
      "select position, recorded_at from log.events where position = any ($1::bigint[])",
      [positions],
    );
    return new Map(rows.map(({ position, recorded_at }) => [String(position), recorded_at]));
  });

const findHolders = (db: Db) =>
  batchLookups<string>(async (claims) => {
    const names = new Map(claims.map((claim) => [claimStream(claim), claim]));
    const rows = await db.query<{ stream: string; state: string }>(
      "select stream, state from log.streams where stream = any ($1) and state <> 'null'",
      [[...names.keys()]],
    );
    return new Map(rows.map(({ stream, state }) => [names.get(stream)!, JSON.parse(state) as string]));
  });

/** Requests that upload many files at once ask for times and claims at the same moment: one query answers them. */
export function openLogReader(db: Db): LogReader {
  const times = findTimes(db);
  return {
    ...lookUps(db),
    recordedAt: async (position) => (await times([String(position)])).get(String(position)),
    claimHolders: findHolders(db),
  };
}

const lookUps = (db: Db): Pick<LogReader, "newestPosition" | "versions" | "publicData"> => ({
  async newestPosition(stream) {
    const [head] =
      stream === undefined
        ? await db.query<{ position: number }>("select position from log.head")
        : await db.query<{ position: number }>("select position from log.streams where stream = $1", [stream]);
    return head && Number(head.position);
  },
  async versions(streams) {
    const rows = await db.query<{ stream: string; version: number }>(
      "select stream, version from log.streams where stream = any ($1)",
      [streams],
    );
    return new Map(rows.map(({ stream, version }) => [stream, Number(version)]));
  },
  async publicData(stream, version) {
    const [row] = await db.query<{ data: string }>("select data from log.events where stream = $1 and version = $2", [
      stream,
      version,
    ]);
    return row && JSON.parse(row.data);
  },
});
