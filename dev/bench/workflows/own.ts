import { randomUUID } from "node:crypto";
import { runningAddresses } from "../../../infra/embedded/addresses.ts";
import { type Service, startService } from "../tools/service.ts";
import { type BulkRuns, openBulk } from "./copyRuns.ts";
import { type RunEnds, followRunEnds } from "./runEnds.ts";
import { keepInFlight } from "./load.ts";
import type { Contender, Work } from "./contender.ts";
import { LISTENING, PARENT, SEQUENCE, WAITING } from "./scripts.ts";

/** The database of DBOS on the service's server. */
export const DBOS_DATABASE = "bench_dbos";
const API = "/api/workflows";
/** Up to this many runs are started through the API; more are copied in bulk. */
const MAX_API_RUNS = 500;

interface Hook {
  workflow_id: string;
  hook_token: string;
  secret: string;
}

/** Creates a workflow from this source, with a trigger. */
const createHook = async ({ signIn }: Service, name: string, source: string): Promise<Hook> => {
  const person = await signIn();
  const definition = await person("POST", "/api/definitions", { type: "workflow", name, source }, [201]);
  const settings = { definition_id: definition.id, name, envelope: { limits: { max_steps: 10_000 } } };
  const workflow = await person("POST", API, settings, [201]);
  const trigger = await person("POST", `${API}/${workflow.id}/triggers`, { name }, [201]);
  return { ...trigger, workflow_id: workflow.id };
};

export interface OwnContender extends Contender {
  /** The address of a database with this name on the service's PostgreSQL server. The database need not exist. */
  databaseUrl(name: string): string;
  /** Bytes of a database on the service's PostgreSQL server. */
  databaseBytes(contender: Contender["name"]): Promise<number>;
  /** Creates schedules that are all due at this time and start a run of one step each. */
  schedule(count: number, at: Date): Promise<void>;
  /** Milliseconds from a time to the records of the runs that schedules have started since. */
  startDelays(since: Date): Promise<number[]>;
}

/** This service as `npm start` runs it. A hook starts each run, and the public event feed reports its end. */
export const startOwn = async (): Promise<OwnContender> => {
  const service = await startService();
  let bulk: BulkRuns | undefined;
  let ends: RunEnds | undefined;
  const stop = async (): Promise<void> => {
    await bulk?.close();
    await ends?.close();
    await service.stop();
  };
  try {
    const hooks = {
      sequence: await createHook(service, "sequence", SEQUENCE),
      waiting: await createHook(service, "waiting", WAITING),
      parent: await createHook(service, "parent", PARENT),
      listening: await createHook(service, "listening", LISTENING),
    };
    const addresses = runningAddresses(service.dataDir);
    if (!addresses) throw new Error("the service has not written its database address");
    const databaseUrl = (name: string): string =>
      Object.assign(new URL(addresses.database_url), { pathname: name }).href;
    bulk = await openBulk(service.dataDir, addresses.database_url);
    ends = await followRunEnds(addresses.nats_url);
    const { schedule, startDelays, databaseBytes } = bulk;
    return {
      ...createContender({ service, hooks, bulk, ends }),
      databaseUrl,
      databaseBytes: (name) =>
        databaseBytes(name === "dbos" ? DBOS_DATABASE : new URL(addresses.database_url).pathname.slice(1)),
      schedule: (count, at) => schedule(hooks.sequence.workflow_id, count, at),
      startDelays,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

interface Connections {
  service: Service;
  hooks: Record<"sequence" | "waiting" | "parent" | "listening", Hook>;
  bulk: BulkRuns;
  ends: RunEnds;
}

const createContender = ({ service, hooks, bulk, ends }: Connections): Omit<Contender, "stop"> => {
  const { call, callAs, child } = service;
  const parked: string[] = [];

  const start = async ({ hook_token, secret }: Hook, args: object): Promise<string> =>
    (await callAs(secret)("POST", `${API}/hooks/${hook_token}`, args, [202])).run_id;
  const run = async (steps: number): Promise<string> => {
    const run_id = await start(hooks.sequence, { steps });
    await ends.waitFor(run_id);
    return run_id;
  };

  const receive = async (): Promise<void> => {
    const id = randomUUID();
    const run_id = await start(hooks.listening, { id });
    await ends.waitForWait(run_id);
    await call("POST", `${API}/events`, { name: "answer", data: { id, n: 1 } }, [200]);
    await ends.waitFor(run_id);
  };
  const works: { [K in Work["kind"]]: (work: Work) => Promise<unknown> } = {
    steps: async (work) => run(work.kind === "steps" ? work.steps : 1),
    child: async () => ends.waitFor(await start(hooks.parent, { child: "sequence" })),
    event: receive,
  };

  return {
    name: "service",
    child,
    load: (work, inFlight, seconds) => keepInFlight(() => works[work.kind](work), inFlight, seconds),
    async stepTimes(steps) {
      const { result, steps: attemptedSteps } = await call("GET", `${API}/runs/${await run(steps)}`, undefined, [200]);
      if (result !== steps) throw new Error(`a run returned ${JSON.stringify(result)} instead of ${steps}`);
      return attemptedSteps.map(({ attempts }: any) => Date.parse(attempts[0].started_at));
    },
    async park(runs) {
      const [model] = parked;
      if (model && runs > MAX_API_RUNS) parked.push(...(await bulk.copyRun(model, runs)));
      else for (let n = 0; n < runs; n++) parked.push(await start(hooks.waiting, {}));
      // Read models apply events in log order, so when they have the last run they have all of them.
      await findApproval(service, parked.at(-1)!);
    },
    async decide() {
      const [run_id] = parked.splice(Math.floor(Math.random() * parked.length), 1);
      if (run_id === undefined) throw new Error("no run is parked");
      const approval = await findApproval(service, run_id);
      const decidedAt = performance.timeOrigin + performance.now();
      await call("POST", `${API}/approvals/${approval}/decision`, { decision: "approve" }, [200]);
      await ends.waitFor(run_id);
      const { steps } = await call("GET", `${API}/runs/${run_id}`, undefined, [200]);
      // `started_at` is truncated to whole milliseconds; half a millisecond corrects the mean.
      return Date.parse(steps[0].attempts[0].started_at) + 0.5 - decidedAt;
    },
  };
};

/** Waits until the run has requested its approval and returns the approval's id. */
const findApproval = ({ call, until }: Service, run_id: string): Promise<string> =>
  until(`the approval of ${run_id}`, 5, async () => {
    const { data } = await call("GET", `${API}/runs/${run_id}/approvals`, undefined, [200, 404]);
    return data?.[0]?.id;
  });
