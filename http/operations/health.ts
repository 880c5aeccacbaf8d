import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { firstLine } from "./firstLine.ts";
import { readTargets, Target } from "./targets.ts";

/** Maximum parked things listed. There are more only if something is badly broken. */
const MAX_PARKED = 100;
/** After this silence other processes take over a process's work (ADR 2). */
const ALIVE_MS = 10_000;

const Health = z
  .object({
    ready: z.boolean().describe("What `/readyz` says."),
    checks: z
      .record(z.string(), z.object({ ok: z.boolean(), detail: z.unknown().optional() }))
      .describe("Every dependency and read model by name, as `/readyz` has them."),
    version: z.object({ node: z.string() }).describe("Of the process that answers."),
    processes: z
      .array(z.object({ id: z.string(), role: z.string(), beat_at: z.iso.datetime(), alive: z.boolean() }))
      .describe("Processes of the deployment with a heartbeat in the last ten minutes."),
    targets: z
      .array(Target)
      .describe(
        "The models that aliases of the organization name, and those that have failed since they answered last: whether they are down.",
      ),
    parked: z
      .array(z.object({ projection: z.string(), stream: z.string(), error: z.string(), parked_at: z.iso.datetime() }))
      .describe(
        "Things of the organization that a read model leaves out, because an event of theirs could not be projected.",
      ),
  })
  .meta({ title: "Health" });

async function readHealth(http: Http, organization: string): Promise<z.infer<typeof Health>> {
  const [checks, processes, parked, targets] = await Promise.all([
    http.health(),
    http.operations.processes(),
    http.operations.parked(organization, MAX_PARKED),
    readTargets(http, organization),
  ]);
  return {
    ready: Object.values(checks).every(({ ok }) => ok),
    checks,
    version: { node: process.versions.node },
    processes: processes.map(({ id, role, beat_at }) => ({
      id,
      role,
      beat_at: beat_at.toISOString(),
      alive: currentTime() - beat_at.getTime() < ALIVE_MS,
    })),
    targets,
    parked: parked.map(({ error, parked_at, ...rest }) => ({
      ...rest,
      error: firstLine(error),
      parked_at: parked_at.toISOString(),
    })),
  };
}

/** The overview for operators: owners and admins. */
export function healthRoutes(app: App, http: Http): void {
  const schema = {
    tags: ["Operations"],
    security: [{ session: [] }],
    summary: "Get the health of the deployment",
    description:
      "Dependencies, read models, processes, the models of aliases, and what could not be projected for the organization.",
    response: { 200: Health },
  };
  app.get("/health", { onRequest: requireAdmin(http), schema }, ({ caller }) =>
    readHealth(http, caller.organization_id),
  );
}
