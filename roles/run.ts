import { migrate } from "#infra/postgres/migrate.ts";
import { startHttp } from "./http.ts";
import { open, type Worker } from "./open.ts";
import { startProjections } from "./projections.ts";
import { startServices } from "./services.ts";

export const roles = ["http", "services", "projections"] as const;
export type Role = (typeof roles)[number];

/** How long running turns may go on when the process is asked to end; then another worker takes them over. */
const PATIENCE_MS = 10_000;

/**
 * Runs roles in this process, which share one connection to the bus and one pool. The read models stand before http
 * takes its first request. `stop` ends them front to back, so that nothing accepted is left without its answer.
 */
export async function runRoles(wanted: readonly Role[], worker: Omit<Worker, "role">) {
  await migrate(worker.addresses.database_url);
  const opened = await open({ ...worker, role: wanted.length === roles.length ? "all" : wanted.join("+") });
  const started: { stop(patienceMs: number): Promise<unknown> }[] = [];
  const starting = async <T extends { stop(patienceMs: number): Promise<unknown> }>(role: Promise<T>): Promise<T> => {
    const running = await role;
    started.unshift(running);
    return running;
  };
  const stop = async (): Promise<void> => {
    for (const role of started) await role.stop(PATIENCE_MS);
    await opened.close();
  };
  try {
    if (wanted.includes("projections")) await starting(startProjections(opened));
    if (wanted.includes("services")) await starting(startServices(opened));
    const http = wanted.includes("http") ? await starting(startHttp(opened)) : undefined;
    return { opened, address: http?.address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
