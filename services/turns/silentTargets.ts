import { currentTime } from "#events/clock.ts";
import type { Route } from "#events/route.ts";
import { circuitKey, circuitPrefix, PROBE_MS, type Circuits } from "./circuits.ts";
import { ModelError } from "./model.ts";

interface RoutedTurn {
  organization_id: string;
  alias: string;
  route: Pick<Route, "targets">;
  circuits: Circuits;
}

/** The error of a turn whose targets were all silent: none is asked, and the error says when one will be. Else undefined. */
export function findSilence({ organization_id, alias, route, circuits }: RoutedTurn): ModelError | undefined {
  const { targets } = route;
  if (targets.some((target) => circuits.state(circuitKey(organization_id, target)) !== "silent")) return undefined;
  const known = circuits.list(circuitPrefix(organization_id)).filter(({ target }) => targets.includes(target));
  // without a time, the target is being probed
  const left_ms = Math.min(...known.map(({ open_until }) => open_until ?? 0)) - currentTime();
  const when = left_ms > 0 ? `One is asked again in ${Math.ceil(left_ms / 1_000)} s.` : "One is being asked again now.";
  const message = `All targets of the alias ${alias} were silent when they were last asked. ${when}`;
  return new ModelError("transient", message, { retry_after_ms: Math.max(PROBE_MS, left_ms) });
}
