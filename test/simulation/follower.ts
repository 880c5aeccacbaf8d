import { advanceFollowers, collectChanges, type Follower, type Sink } from "#infra/postgres/advance.ts";
import { openLog } from "#infra/postgres/log.ts";
import { asDb } from "#infra/postgres/pool.ts";
import { eventDefinitions } from "#events/index.ts";
import type { Projection } from "#projections/projection.ts";
import { openConnection } from "./connection.ts";
import { keyring, type Deployment } from "./node.ts";

const POLL_MS = 250;
const LIMIT = 7;

const projection: Projection = {
  name: "seen",
  version: 1,
  tables: new URL("file:///none"),
  on: Object.fromEntries(
    [...eventDefinitions.keys()].map((type) => [
      type,
      ({ position }) => [{ table: "seen", kind: "put", key: { position }, row: {} }],
    ]),
  ),
};

/** Another process has moved the checkpoint. */
class Overtaken extends Error {}

/** Follows the log into one read model. Several processes may try; all stop that find the checkpoint moved by another one. */
export function startFollower({ world, database, bus }: Deployment): void {
  const pool = openConnection(world, database);
  const db = asDb(pool);
  const log = openLog(pool, keyring);
  const sink: Sink<Follower> = {
    async write([follower], events, to) {
      const seen = collectChanges([follower!], events).map((change) =>
        change.kind === "put" ? change.key["position"] : undefined,
      );
      const moved = await db.query("move the follower", [follower!.position, to, seen]);
      if (moved.length === 0) throw new Overtaken();
      follower!.position = to;
    },
    async park(_, event, error) {
      throw new Error(`parked ${event.stream}`, { cause: error });
    },
  };

  let wake = () => {};
  bus.hints.onCommitted(() => wake());
  const pause = () => Promise.race([world.sleep(POLL_MS), new Promise<void>((resolve) => (wake = resolve))]);
  const follow = async (): Promise<void> => {
    const [at] = await db.query<{ position: number }>("where is the follower");
    const follower: Follower = { projection, position: at!.position, parked: new Set() };
    for (;;) {
      const events = await log.follow(follower.position, LIMIT);
      if (events.length > 0) await advanceFollowers([follower], events, sink);
      else await pause();
    }
  };
  const again = (): Promise<void> =>
    follow().catch(async (error) => {
      world.note(`follows no more: ${error}`);
      await pause();
      return again();
    });
  void again();
}
