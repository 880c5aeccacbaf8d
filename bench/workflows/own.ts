import { Agent } from "undici";
import { runningAddresses } from "../../infra/embedded/addresses.ts";
import { type Service, startService } from "../tools/service.ts";
import { type Bulk, openBulk } from "./bulk.ts";
import { hear, type Told } from "./hear.ts";
import { keepInFlight } from "./load.ts";
import type { Party } from "./party.ts";
import { SEQUENCE, WAITING } from "./scripts.ts";

const API = "/api/workflows";
/** Runs that are parked one by one, through the API; more at once are made in bulk. */
const ASKED = 500;
/**
 * Runs of so many steps are heard of by their events, which need no read model (40 ms instead of 55 on a busy machine); of longer ones
 * only the end is asked for, because nobody reads their events (with 100 steps, 16 at once: 1.4 times the runs).
 */
const SHORT = 10;

interface Hook {
  hook_token: string;
  secret: string;
}

/** A workflow of this source behind a trigger. */
const makeHook = async ({ credentials, callAs }: Service, name: string, source: string): Promise<Hook> => {
  const { token } = await callAs("")("POST", "/api/auth/login", credentials.admin, [200]);
  const person = callAs(token);
  const definition = await person("POST", "/api/definitions", { type: "workflow", name, source }, [201]);
  const registered = { definition_id: definition.id, name, envelope: { limits: { max_steps: 10_000 } } };
  const workflow = await person("POST", API, registered, [201]);
  return person("POST", `${API}/${workflow.id}/triggers`, { name }, [201]);
};

export interface OwnParty extends Party {
  /** Where a database of that name is, or will be, on the service's own PostgreSQL server. */
  databaseUrl(name: string): string;
}

/** This service as `npm start` runs it: runs are started by their hook, and their end is heard by their events or waited for. */
export const startOwn = async (): Promise<OwnParty> => {
  const service = await startService();
  const client = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  let bulk: Bulk | undefined;
  const stop = async (): Promise<void> => {
    await bulk?.close();
    await client.destroy();
    await service.stop();
  };
  try {
    const hooks = {
      sequence: await makeHook(service, "sequence", SEQUENCE),
      waiting: await makeHook(service, "waiting", WAITING),
    };
    const addresses = runningAddresses(service.dataDir);
    if (!addresses) throw new Error("the service tells no address of its database");
    const databaseUrl = (name: string): string =>
      Object.assign(new URL(addresses.database_url), { pathname: name }).href;
    bulk = openBulk(service.dataDir, addresses.database_url);
    return { ...party(service, client, hooks, bulk), databaseUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const party = (
  service: Service,
  client: Agent,
  { sequence, waiting }: Record<"sequence" | "waiting", Hook>,
  bulk: Bulk,
): Omit<Party, "stop"> => {
  const { call, callAs, credentials, child } = service;
  const parked: string[] = [];

  const start = async ({ hook_token, secret }: Hook, args: object): Promise<string> =>
    (await callAs(secret)("POST", `${API}/hooks/${hook_token}`, args, [202])).run_id;
  const told = (run_id: string, event: string): Promise<Told> =>
    hear(client, new URL(`${API}/runs/${run_id}/events`, credentials.base_url), credentials.api_key, event);
  const waited = async (run_id: string): Promise<void> => {
    const path = `${API}/hooks/${sequence.hook_token}/runs/${run_id}?wait=60`;
    for (;;) {
      const { status } = await callAs(sequence.secret)("GET", path, undefined, [200]);
      if (status === "completed") return;
      if (status === "failed") throw new Error("a run failed");
    }
  };
  const run = async (steps: number): Promise<string> => {
    const run_id = await start(sequence, { steps });
    if (steps <= SHORT) await (await told(run_id, "run.completed")).heard;
    else await waited(run_id);
    return run_id;
  };

  return {
    name: "service",
    child,
    load: (steps, inFlight, seconds) => keepInFlight(() => run(steps), inFlight, seconds),
    async stepTimes(steps) {
      const { result, steps: made } = await call("GET", `${API}/runs/${await run(steps)}`, undefined, [200]);
      if (result !== steps) throw new Error(`a run came to ${JSON.stringify(result)} instead of ${steps}`);
      return made.map(({ attempts }: any) => Date.parse(attempts[0].started_at));
    },
    async park(runs) {
      const [model] = parked;
      if (model && runs > ASKED) parked.push(...(await bulk.like(model, runs)));
      else for (let n = 0; n < runs; n++) parked.push(await start(waiting, {}));
      // Read models follow the log in its order: with the last one they have them all.
      await approvalOf(service, parked.at(-1)!);
    },
    async decide() {
      const [run_id] = parked.splice(Math.floor(Math.random() * parked.length), 1);
      if (run_id === undefined) throw new Error("no run is parked");
      const approval = await approvalOf(service, run_id);
      const step = await told(run_id, "step.started");
      const began = performance.now();
      const deciding = call("POST", `${API}/approvals/${approval}/decision`, { decision: "approve" }, [200]);
      const [at] = await Promise.all([step.heard, deciding]);
      return at - began;
    },
  };
};

/** The approval that a run waits for, once it does. */
const approvalOf = ({ call, until }: Service, run_id: string): Promise<string> =>
  until(`the approval of ${run_id}`, 5, async () => {
    const { data } = await call("GET", `${API}/runs/${run_id}/approvals`, undefined, [200, 404]);
    return data?.[0]?.id;
  });
