import type { Credentials } from "../topology.ts";
import type { Journal } from "../journal.ts";
import { askSteadily } from "./askSteadily.ts";
import { CHAT, KNOWLEDGE } from "./wire.ts";

const EVERY_MS = 500;
const PATIENCE_MS = 5_000;

/** The kinds of requests that the probe makes. For each of them, on each port, the checker decides whether it works again after a fault. */
export const PROBED = ["turn", "upload", "search", "login"] as const;
export type ProbeKind = (typeof PROBED)[number];

/** Sign-ins and uploads take much processor time, so every second request is a turn. */
const ORDER: readonly ProbeKind[] = ["turn", "upload", "turn", "search", "turn", "login"];

interface ProbeRequest {
  path: string;
  body: string | FormData;
}

function requests({ admin }: Credentials): Record<ProbeKind, () => ProbeRequest> {
  const messages = [{ role: "user", content: "Are you there?" }];
  const turn = JSON.stringify({ model: "offline/echo", messages });
  return {
    turn: () => ({ path: `${CHAT}/chat/completions`, body: turn }),
    upload() {
      const body = new FormData();
      body.set("purpose", "user_data");
      body.set("file", new File(["Are you there?"], "probe.txt", { type: "text/plain" }));
      return { path: `${CHAT}/files`, body };
    },
    search: () => ({ path: `${KNOWLEDGE}/search`, body: JSON.stringify({ query: "there" }) }),
    login: () => ({ path: "/api/auth/login", body: JSON.stringify(admin) }),
  };
}

/**
 * Makes a small request every half second, whether or not the last one was answered, alternating kinds and ports. A stopped process
 * blocks every client that waits for it, because there is no load balancer; the probe shows whether the others serve.
 */
export function startProbe({
  journal,
  ports,
  credentials,
}: {
  journal: Journal;
  ports: number[];
  credentials: Credentials;
}) {
  const requestOf = requests(credentials);
  let n = 0;

  async function ask(request_id: string, what: ProbeKind, port: number): Promise<void> {
    const start = journal.now();
    const { path, body } = requestOf[what]();
    const headers = {
      ...(what !== "login" && { authorization: `Bearer ${credentials.api_key}` }),
      ...(typeof body === "string" && { "content-type": "application/json" }),
      "x-request-id": request_id,
    };
    const { status, retry_after } = await fetch(`http://127.0.0.1:${port}${path}`, {
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
    const end = journal.now();
    const about = { operation: `probe ${what}`, port, start, end, request_id, retry_after };
    journal.note({ kind: "attempt", ...about, status, code: null });
  }

  return askSteadily(EVERY_MS, () => {
    // each port has the whole order
    const what = ORDER[Math.floor(n / ports.length) % ORDER.length]!;
    return [ask(`probe.${n}`, what, ports[n++ % ports.length]!)];
  });
}
