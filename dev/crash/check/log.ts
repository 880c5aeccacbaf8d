import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import { BrokenChain, verifyLog } from "#infra/postgres/verify.ts";
import type { Db } from "#projections/projection.ts";
import { deciders } from "#services/deciders/index.ts";
import { isDeepStrictEqual } from "node:util";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, stuck, type Finding } from "./finding.ts";

/** I4: positions and the hash chain hold, and versions follow each other in every stream. */
export async function checkChain(db: Db, events: RecordedEvent[]): Promise<Finding[]> {
  const findings = [...grouped(events, ({ stream }) => stream)].flatMap(([stream, own]) =>
    own.every(({ version }, n) => version === n + 1)
      ? []
      : [different("I4", stream, "its versions do not follow each other")],
  );
  try {
    await verifyLog(db, () => {});
  } catch (error) {
    if (!(error instanceof BrokenChain)) throw error;
    findings.push(different("I4", "log", error.message));
  }
  return findings;
}

/** I5: the events of a command have consecutive positions from one commit. A refused turn releases its command. */
export function checkCommands({ events, turns }: Pick<Evidence, "events" | "turns">): Finding[] {
  const refused = new Set(turns.filter(({ end }) => end === "refused").map(({ from }) => from));
  const remaining = events.filter(({ position }) => !refused.has(position));
  const ofCommand = grouped(remaining, ({ command_id, organization_id }) => `${command_id} ${organization_id}`);
  return [...ofCommand].flatMap(([command, own]) => {
    const together = own.every(
      ({ position, recorded_at }, n) => position === own[0]!.position + n && +recorded_at === +own[0]!.recorded_at,
    );
    return together
      ? []
      : [doubled("I5", `command ${command}`, `has events at ${own.map(({ position }) => position).join(", ")}`)];
  });
}

interface HeadRow {
  stream: string;
  version: number;
  state: string;
  status: string | null;
}

/** Each head row equals the fold of its events, and none has open work; a row that waits for its time has none. */
export async function checkHeads(db: Db, events: RecordedEvent[]): Promise<Finding[]> {
  const heads = await db.query<HeadRow>("select stream, version, state, status from log.streams");
  const ofStream = grouped(events, ({ stream }) => stream);
  return heads.flatMap(({ stream, version, state, status }): Finding[] => {
    if (status !== null && status !== "waiting") return [stuck("I8", stream, `has open work (${status})`)];
    const own = ofStream.get(stream) ?? [];
    if (own.length !== version)
      return [different("I4", stream, `its head says ${version}, it has ${own.length} events`)];
    const decider = deciders[parseStreamName(stream).aggregate];
    if (!decider) return [];
    const folded = own.reduce((before, event) => decider.evolve(before, event), decider.initial);
    const stored = decider.stored?.read(JSON.parse(state)) ?? JSON.parse(state);
    return isDeepStrictEqual(JSON.parse(JSON.stringify(folded)), stored)
      ? []
      : [different("I4", stream, "its head is not the fold of its events")];
  });
}

/** Followers that are behind the log or have parked a stream. */
export async function checkFollowers(db: Db): Promise<Finding[]> {
  const behind = await db.query<{ name: string; lag: number }>(
    "select c.name, (h.position - c.position)::integer as lag from log.checkpoints c, log.head h where c.position < h.position",
  );
  const parked = await db.query<{ projection: string; stream: string; error: string }>(
    "select projection, stream, error from log.parked",
  );
  return [
    ...behind.map(({ name, lag }) => stuck("I8", `follower ${name}`, `is ${lag} events behind`)),
    ...parked.map(({ projection, stream, error }) =>
      stuck("I8", `follower ${projection}`, `has parked ${stream}: ${error}`),
    ),
  ];
}
