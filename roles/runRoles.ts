import { migrate } from "#infra/postgres/migrate.ts";
import { serveMetrics } from "./metricsPort.ts";
import { retryWhileUnavailable } from "#services/retryWhileUnavailable.ts";
import type { LocalServices } from "./http.ts";
import { openResources, type ResourceOptions, type Resources } from "./resources.ts";

export const roles = ["http", "services", "projections"] as const;
export type Role = (typeof roles)[number];

/* A role is loaded only if this process runs it: all of them together are 1,800 modules, the read models alone 650. */
const startProjections = async (resources: Resources, stopping: AbortSignal) =>
  (await import("./projections.ts")).startProjectionsRole(resources, stopping);
const startServices = async (resources: Resources) => (await import("./services.ts")).startServicesRole(resources);
const startHttp = async (resources: Resources, local: LocalServices | undefined) =>
  (await import("./http.ts")).startHttpRole(resources, local);

const nameRoles = (wanted: readonly Role[]): string => (wanted.length === roles.length ? "all" : wanted.join("+"));

/** How long a stopping process lets its running work finish; other workers take over the rest. */
const PATIENCE_MS = 10_000;
/** Further time to hand over that rest and to close connections. If a silent server prevents this, the leases expire. */
const HAND_OVER_MS = 10_000;

/** The longest that a process of these roles may take to stop. `http` and `services` wait for running work, one after the other. */
export const maxStopMs = (wanted: readonly Role[]): number =>
  wanted.filter((role) => role !== "projections").length * PATIENCE_MS + HAND_OVER_MS;

/**
 * Runs roles in this process with one connection to the bus and one pool. The read models are ready before http takes its first
 * request. `stop` ends the roles in reverse order, so that every accepted request is answered. It has no time limit: if PostgreSQL
 * is silent, its caller gives up after `maxStopMs`. When `stopping` aborts, no further role starts; if PostgreSQL is away at that
 * moment, this throws the signal's reason.
 */
export async function runRoles(
  wanted: readonly Role[],
  worker: Omit<ResourceOptions, "role">,
  stopping: AbortSignal = new AbortController().signal,
) {
  await retryWhileUnavailable(() => migrate(worker.addresses.database_url), stopping);
  const resources = await openResources({ ...worker, role: nameRoles(wanted) }, stopping);
  const started: { stop(patienceMs: number): Promise<unknown> }[] = [];
  const starting = async <T extends { stop(patienceMs: number): Promise<unknown> }>(role: Promise<T>): Promise<T> => {
    const running = await role;
    started.unshift(running);
    return running;
  };
  const stop = async (): Promise<void> => {
    for (const role of started) await role.stop(PATIENCE_MS);
    await resources.close();
  };
  try {
    const { settings } = worker;
    if (settings.METRICS_PORT !== undefined && !wanted.includes("http"))
      await starting(serveMetrics(settings, resources.runMemory));
    const isDue = (role: Role): boolean => wanted.includes(role) && !stopping.aborted;
    if (isDue("projections")) await starting(startProjections(resources, stopping));
    const services = isDue("services") ? await starting(startServices(resources)) : undefined;
    const http = isDue("http") ? await starting(startHttp(resources, services?.local)) : undefined;
    return { resources, address: http?.address, startCodes: http?.startCodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
