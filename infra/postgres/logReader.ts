import { claimStream } from "#events/ids.ts";
import type { LogReader } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";
import { batchLookups } from "./batchLookups.ts";
import type { RecentRecords } from "./log.ts";
import { eventPlace } from "./recentEvents.ts";

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

/** The whole log has the name "". */
const findPositions = (db: Db) =>
  batchLookups<number>(async (streams) => {
    const rows = await db.query<{ stream: string; position: number }>(
      `select stream, position from log.streams where stream = any ($1)
       union all select '', position from log.head where '' = any ($1)`,
      [streams],
    );
    return new Map(rows.map(({ stream, position }) => [stream, position]));
  });

/** Keyed by `eventPlace`. */
const findPublicData = (db: Db) =>
  batchLookups<string>(async (keys) => {
    const places = keys.map((key) => key.split(" "));
    const rows = await db.query<{ stream: string; version: number; data: string }>(
      `select found.* from unnest($1::text[], $2::integer[]) wanted(stream, version) cross join lateral (
         select stream, version, data from log.events e where e.stream = wanted.stream and e.version = wanted.version offset 0
       ) found`,
      [places.map(([, stream]) => stream), places.map(([version]) => Number(version))],
    );
    return new Map(rows.map(({ stream, version, data }) => [eventPlace(stream, version), data]));
  });

/** Concurrent requests of the same kind, such as many uploads, share one query. */
export function openLogReader(db: Db, { recentTime, recentData }: RecentRecords): LogReader {
  const positions = findPositions(db);
  const times = findTimes(db);
  const publicData = findPublicData(db);
  return {
    ...lookUps(db),
    newestPosition: async (stream = "") => (await positions([stream])).get(stream),
    async publicData(stream, version) {
      const place = eventPlace(stream, version);
      const data = recentData(place) ?? (await publicData([place])).get(place);
      return data && JSON.parse(data);
    },
    recentData(stream, version) {
      const data = recentData(eventPlace(stream, version));
      return data && JSON.parse(data);
    },
    recordedAt: async (position) => recentTime(position) ?? (await times([String(position)])).get(String(position)),
    claimHolders: findHolders(db),
  };
}

const lookUps = (db: Db): Pick<LogReader, "lastShownPosition" | "versions"> => ({
  async lastShownPosition() {
    const [row] = await db.query<{ last_position: number }>("select last_position from log.numbered_cursors");
    return Number(row?.last_position ?? 0);
  },
  async versions(streams) {
    const rows = await db.query<{ stream: string; version: number }>(
      "select stream, version from log.streams where stream = any ($1)",
      [streams],
    );
    return new Map(rows.map(({ stream, version }) => [stream, Number(version)]));
  },
});
