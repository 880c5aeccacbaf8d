import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Journal } from "./journal.ts";

/** A step's request to the server. `ms`: duration of the answer. */
interface StepRequest {
  run_id: string;
  step: string;
  part: string;
  attempt: number;
  ms: number;
  fails: "never" | "first" | "always";
}

async function bodyOf(request: IncomingMessage): Promise<StepRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/**
 * The server on loopback that workflow steps call. It counts each part of each step, answers with the count, and journals every
 * request before the answer.
 */
export async function startEffects(journal: Journal) {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const answer = async () => {
      const start = journal.now();
      const { run_id, step, part, attempt, ms, fails } = await bodyOf(request);
      const key = request.headers["idempotency-key"] ?? null;
      const name = JSON.stringify([run_id, key, part]);
      const nth = (counts.get(name) ?? 0) + 1;
      counts.set(name, nth);
      await sleep(ms);
      const has_secret = request.headers["x-token"] !== undefined;
      const seen = { run_id, key: String(key), step, part, attempt, nth, has_secret };
      journal.note({ kind: "effect", ...seen, start, end: journal.now() });
      const failed = fails === "always" || (fails === "first" && nth === 1);
      response.writeHead(failed ? 500 : 200, { "content-type": "application/json" }).end(JSON.stringify({ nth }));
    };
    answer().catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** The host as the workflow's envelope and the deployment name it. */
    host,
    url: `http://${host}/effects`,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}
export type Effects = Awaited<ReturnType<typeof startEffects>>;
