import type { Db } from "#projections/projection.ts";
import { readStatus } from "../projections/status.ts";
import { CliError } from "../cliError.ts";

/** Maximum lag in events, beyond which answers are outdated. */
const MAX_LAG = 10_000;

export async function checkFollowers(db: Db): Promise<string> {
  const { head, projections } = await readStatus(db);
  // a newer version only adds to the tables, so this program can read them
  const unbuilt = projections
    .filter(({ version, wanted_version }) => version === null || version < wanted_version)
    .map(({ name }) => name);
  const next = "check that the role projections (or npm start) runs, and read its log";
  if (unbuilt.length > 0) throw new CliError(`not built at this version: ${unbuilt.join(", ")}`, next);
  const checkpoints = await db.query<{ name: string; position: number }>("select name, position from log.checkpoints");
  const lags = checkpoints.map(({ name, position }) => ({ name, lag: Math.max(0, head - position) }));
  const late = lags.filter(({ lag }) => lag > MAX_LAG).map(({ name, lag }) => `${name} by ${lag}`);
  if (late.length > 0) throw new CliError(`behind: ${late.join(", ")}`, next);
  return `at most ${Math.max(0, ...lags.map(({ lag }) => lag))} events behind`;
}

export async function checkParkedStreams(db: Db): Promise<string> {
  const { projections } = await readStatus(db);
  const parked = projections.filter((one) => one.parked.length > 0);
  if (parked.length === 0) return "none";
  const counts = parked.map(({ name, parked: streams }) => `${streams.length} in ${name}`).join(", ");
  throw new CliError(
    counts,
    "svc projections status shows the errors; after the fix, svc projections rebuild NAME includes the streams again",
  );
}
