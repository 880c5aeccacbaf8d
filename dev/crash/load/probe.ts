import type { Journal } from "../journal.ts";
import { CHAT } from "./wire.ts";

const EVERY_MS = 500;
const PATIENCE_MS = 5_000;

/**
 * Requests a short turn every half second, whether or not the last one was answered, alternating between the ports. A stopped
 * process blocks every client that waits for it, because there is no load balancer; the probe shows whether the others serve.
 */
export function startProbe({ journal, ports, api_key }: { journal: Journal; ports: number[]; api_key: string }) {
  const body = JSON.stringify({ model: "offline/echo", messages: [{ role: "user", content: "Are you there?" }] });
  const asking = new Set<Promise<void>>();
  let n = 0;

  async function ask(request_id: string, port: number): Promise<void> {
    const start = journal.now();
    const headers = {
      authorization: `Bearer ${api_key}`,
      "content-type": "application/json",
      "x-request-id": request_id,
    };
    const { status, retry_after } = await fetch(`http://127.0.0.1:${port}${CHAT}/chat/completions`, {
      method: "POST",
      headers,
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return { status: response.status, retry_after: response.headers.has("retry-after") };
      },
      () => ({ status: null, retry_after: false }),
    );
    journal.note({
      kind: "attempt",
      operation: "probe",
      port,
      start,
      end: journal.now(),
      status,
      code: null,
      request_id,
      retry_after,
    });
  }

  const timer = setInterval(() => {
    const asked = ask(`probe.${n}`, ports[n++ % ports.length]!).finally(() => asking.delete(asked));
    asking.add(asked);
  }, EVERY_MS);
  return {
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(asking);
    },
  };
}
