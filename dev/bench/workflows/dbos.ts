import { join } from "node:path";
import { Agent, request } from "undici";
import { startNode } from "../tools/child.ts";
import type { Contender } from "./contender.ts";

/** DBOS on its own database, which it creates. */
export const startDbos = async (database_url: string): Promise<Contender> => {
  // Its use of pg prints a deprecation warning, which would come before the address.
  const child = startNode(["--no-deprecation", join(import.meta.dirname, "dbosProcess.ts")], {
    NODE_ENV: "production",
    DBOS_SYSTEM_DATABASE_URL: database_url,
  });
  const origin = await child.firstLine();
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const ask = async <T>(action: string, body: object = {}): Promise<T> => {
    child.assertAlive();
    const response = await request(`${origin}/${action}`, {
      method: "POST",
      body: JSON.stringify(body),
      dispatcher,
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`DBOS failed to ${action}: ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    name: "dbos",
    child,
    load: (work, inFlight, seconds) => ask("load", { work, inFlight, seconds }),
    stepTimes: (steps) => ask("stepTimes", { steps }),
    park: (runs) => ask("park", { runs }),
    decide: () => ask("decide"),
    async stop() {
      await dispatcher.destroy();
      await child.stop();
    },
  };
};
