import { z } from "zod";
import type { TargetCircuit } from "#events/circuits.ts";
import { listAliases } from "#projections/aliases/query.ts";
import type { Http } from "../base/deps.ts";

const STATES = ["closed", "half_open", "open"] as const satisfies readonly TargetCircuit["state"][];

export const Target = z.object({
  target: z.string().describe("`provider/model`."),
  aliases: z.array(z.string()).describe("The aliases that name it. None of a model that requests name themselves."),
  state: z
    .enum(STATES)
    .describe(
      "`closed`: it is asked. `open`: turns of an alias pass it over, and those that name it fail at once. `half_open`: the next request to it decides. The worst that any process has noticed.",
    ),
  open_in: z.int().describe("Processes that pass it over now. Each process notices failures for itself."),
  failures: z.int().describe("Since its last answer, in the process that has noticed most."),
  since: z.iso.datetime().nullable().describe("When the first of these failures was."),
  retry_at: z.iso.datetime().nullable().describe("When it is tried again."),
  last_error: z.string().nullable().describe("Why its last request failed, as in the event `TargetFailed`."),
});
type Target = z.infer<typeof Target>;

const time = (ms: number | null | undefined): string | null => (ms == null ? null : new Date(ms).toISOString());

/** Merges what several processes have noticed about one target. */
function presentTarget(target: string, aliases: string[], noticed: TargetCircuit[]): Target {
  const worst = noticed.toSorted(
    (a, b) => STATES.indexOf(b.state) - STATES.indexOf(a.state) || b.failures - a.failures,
  )[0];
  return {
    target,
    aliases,
    state: worst?.state ?? "closed",
    open_in: noticed.filter(({ state }) => state === "open").length,
    failures: Math.max(0, ...noticed.map(({ failures }) => failures)),
    since: time(worst?.since),
    retry_at: time(worst?.open_until),
    last_error: worst?.reason ?? null,
  };
}

/** The targets of an organization's aliases, and models that have failed since their last answer, sorted by name. */
export async function readTargets(http: Http, organization: string): Promise<Target[]> {
  const [aliases, reports] = await Promise.all([listAliases(http.db, organization), http.circuits(organization)]);
  const noticed = reports.flatMap(({ circuits }) => circuits);
  const named = new Map<string, string[]>(noticed.map(({ target }) => [target, []]));
  for (const { alias, targets } of aliases)
    for (const { model } of targets) named.set(model, [...(named.get(model) ?? []), alias]);
  return [...named]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([target, of]) =>
      presentTarget(
        target,
        of,
        noticed.filter((circuit) => circuit.target === target),
      ),
    );
}
