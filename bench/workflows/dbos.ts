import { join } from "node:path";
import { Agent, request } from "undici";
import { startNode } from "../tools/child.ts";
import type { Party } from "./party.ts";

/** DBOS on a database of its own, which it makes. */
export const startDbos = async (database_url: string): Promise<Party> => {
  // It uses pg in a way that warns, on the stream where its address is awaited.
  const child = startNode(["--no-deprecation", join(import.meta.dirname, "dbosProcess.ts")], {
    NODE_ENV: "production",
    DBOS_SYSTEM_DATABASE_URL: database_url,
  });
  const origin = await child.firstLine();
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const ask = async <T>(what: string, given: object = {}): Promise<T> => {
    child.assertAlive();
    const { statusCode, body } = await request(`${origin}/${what}`, {
      method: "POST",
      body: JSON.stringify(given),
      dispatcher,
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`DBOS could not do ${what}: ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    name: "dbos",
    child,
    load: (steps, inFlight, seconds) => ask("load", { steps, inFlight, seconds }),
    stepTimes: (steps) => ask("stepTimes", { steps }),
    park: (runs) => ask("park", { runs }),
    decide: () => ask("decide"),
    async stop() {
      await dispatcher.destroy();
      await child.stop();
    },
  };
};
