import type pg from "pg";
import type { Projection } from "#projections/projection.ts";
import type { Follower } from "./advance.ts";
import { readTables, servingTables, type TableShape } from "./tables.ts";

/** A serving read model of this code's version. */
export interface LiveFollower extends Follower {
  build: number;
  /** Epoch milliseconds of the next attempt. */
  retry_at: number;
}

export interface ReadModels {
  followers: LiveFollower[];
  /** Projections whose read model is missing or has another version. */
  stale: Projection[];
  tables: Map<string, TableShape>;
  /** Names of tables whose changes must be on disk before they are announced. */
  durableTables: Set<string>;
}

export const noReadModels = (): ReadModels => ({
  followers: [],
  stale: [],
  tables: new Map(),
  durableTables: new Set(),
});

/** Reads the state of the read models from the database. */
export async function loadReadModels(client: pg.ClientBase, projections: Projection[]): Promise<ReadModels> {
  const checkpoints = await client.query<{ name: string; version: number; position: number; build: number }>(
    "select name, version, position, build from log.checkpoints",
  );
  const parked = await client.query<{ projection: string; stream: string }>(
    "select projection, stream from log.parked",
  );
  const tables = await readTables(client, "read");
  const durableTables = new Set<string>();
  for (const { name } of projections.filter((one) => one.durable))
    for (const table of await servingTables(client, name)) durableTables.add(table);

  const models: ReadModels = { followers: [], stale: [], tables, durableTables };
  for (const projection of projections) {
    const { name, version } = projection;
    const checkpoint = checkpoints.rows.find((row) => row.name === name && row.version === version);
    const streams = parked.rows.filter((row) => row.projection === name).map((row) => row.stream);
    if (!checkpoint) models.stale.push(projection);
    else
      models.followers.push({
        projection,
        position: checkpoint.position,
        build: checkpoint.build,
        parked: new Set(streams),
        retry_at: 0,
      });
  }
  return models;
}
