import { runningAddresses } from "../../infra/embedded/addresses.ts";
import { type Service, startService } from "../tools/service.ts";
import { type Bulk, openBulk } from "./bulk.ts";
import { type Ends, hearEnds } from "./ends.ts";
import { keepInFlight } from "./load.ts";
import type { Party } from "./party.ts";
import { SEQUENCE, WAITING } from "./scripts.ts";

const API = "/api/workflows";
/** Runs that are parked one by one, through the API; more at once are made in bulk. */
const ASKED = 500;
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

/** This service as `npm start` runs it: runs are started by their hook, and their ends are heard on the feed of events. */
export const startOwn = async (): Promise<OwnParty> => {
  const service = await startService();
  let bulk: Bulk | undefined;
  let ends: Ends | undefined;
  const stop = async (): Promise<void> => {
    await bulk?.close();
    await ends?.close();
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
    bulk = await openBulk(service.dataDir, addresses.database_url);
    ends = await hearEnds(addresses.nats_url);
    return { ...party({ service, hooks, bulk, ends }), databaseUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

interface Parts {
  service: Service;
  hooks: Record<"sequence" | "waiting", Hook>;
  bulk: Bulk;
  ends: Ends;
}

const party = ({ service, hooks, bulk, ends }: Parts): Omit<Party, "stop"> => {
  const { call, callAs, child } = service;
  const parked: string[] = [];

  const start = async ({ hook_token, secret }: Hook, args: object): Promise<string> =>
    (await callAs(secret)("POST", `${API}/hooks/${hook_token}`, args, [202])).run_id;
  const run = async (steps: number): Promise<string> => {
    const run_id = await start(hooks.sequence, { steps });
    await ends.of(run_id);
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
      else for (let n = 0; n < runs; n++) parked.push(await start(hooks.waiting, {}));
      // Read models follow the log in its order: with the last one they have them all.
      await approvalOf(service, parked.at(-1)!);
    },
    async decide() {
      const [run_id] = parked.splice(Math.floor(Math.random() * parked.length), 1);
      if (run_id === undefined) throw new Error("no run is parked");
      const approval = await approvalOf(service, run_id);
      const decided = performance.timeOrigin + performance.now();
      await call("POST", `${API}/approvals/${approval}/decision`, { decision: "approve" }, [200]);
      await ends.of(run_id);
      const { steps } = await call("GET", `${API}/runs/${run_id}`, undefined, [200]);
      // written down in whole milliseconds, cut off
      return Date.parse(steps[0].attempts[0].started_at) + 0.5 - decided;
    },
  };
};

/** The approval that a run waits for, once it does. */
const approvalOf = ({ call, until }: Service, run_id: string): Promise<string> =>
  until(`the approval of ${run_id}`, 5, async () => {
    const { data } = await call("GET", `${API}/runs/${run_id}/approvals`, undefined, [200, 404]);
    return data?.[0]?.id;
  });
