import { claimStream } from "#events/ids.ts";
import type { LogReader } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";

export const openLogReader = (db: Db): LogReader => ({
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
  async recordedAt(position) {
    const [row] = await db.query<{ recorded_at: Date }>("select recorded_at from log.events where position = $1", [
      position,
    ]);
    return row?.recorded_at;
  },
  async publicData(stream, version) {
    const [row] = await db.query<{ data: string }>("select data from log.events where stream = $1 and version = $2", [
      stream,
      version,
    ]);
    return row && JSON.parse(row.data);
  },
  async claimHolders(claims) {
    const names = new Map(claims.map((claim) => [claimStream(claim), claim]));
    const rows = await db.query<{ stream: string; state: string }>(
      "select stream, state from log.streams where stream = any ($1) and state <> 'null'",
      [[...names.keys()]],
    );
    return new Map(rows.map(({ stream, state }) => [names.get(stream)!, JSON.parse(state) as string]));
  },
});
