import type { Journal } from "../journal.ts";
import type { Topology } from "../topology.ts";
import { askSteadily } from "./askSteadily.ts";

const EVERY_MS = 1_000;
/** Longer than the promised 5 s, so that the checker sees a late answer. */
const PATIENCE_MS = 8_000;

/** Requests `/readyz` of each http process every second, whether or not it has answered the last time. */
export function watchReadiness({
  journal,
  topology,
}: {
  journal: Journal;
  topology: Pick<Topology, "ports" | "roles">;
}) {
  const serving = topology.roles.filter(({ role }) => role === "http" || role === "all");

  async function ask(process: string, port: number): Promise<void> {
    const start = journal.now();
    const status = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => null,
    );
    journal.note({ kind: "readiness", process, port, start, end: journal.now(), status });
  }

  return askSteadily(EVERY_MS, () => topology.ports.map((port, n) => ask(serving[n]!.name, port)));
}
