import type { Journal } from "../journal.ts";
import type { Topology } from "../topology.ts";

const EVERY_MS = 1_000;
/** Longer than the promised 5 s, so that the checker sees a late answer. */
const PATIENCE_MS = 8_000;

/** Asks `/readyz` of each http process every second, whether or not it has answered the last time. */
export function watchReadiness({
  journal,
  topology,
}: {
  journal: Journal;
  topology: Pick<Topology, "ports" | "roles">;
}) {
  const serving = topology.roles.filter(({ role }) => role === "http" || role === "all");
  const asking = new Set<Promise<void>>();

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

  const timer = setInterval(() => {
    for (const [n, port] of topology.ports.entries()) {
      const asked = ask(serving[n]!.name, port).finally(() => asking.delete(asked));
      asking.add(asked);
    }
  }, EVERY_MS);
  return {
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(asking);
    },
  };
}
