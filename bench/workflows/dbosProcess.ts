import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { keepInFlight } from "./load.ts";

/*
 * DBOS in a process of its own, as its documentation starts it: configured with its database, workflows registered, launched. Who asks
 * it for runs is this very process, so that DBOS pays for no HTTP. Prints its address when it listens.
 */

/* Of the bench's own packages, which are not there when types are checked. */
interface Dbos {
  setConfig(config: Record<string, unknown>): void;
  launch(): Promise<void>;
  registerWorkflow<A extends unknown[], R>(work: (...args: A) => Promise<R>, options: { name: string }): Workflow<A, R>;
  startWorkflow<A extends unknown[], R>(
    workflow: Workflow<A, R>,
    options?: { workflowID: string },
  ): (...args: A) => Promise<{ getResult(): Promise<R> }>;
  runStep<R>(work: () => Promise<R>, options: { name: string }): Promise<R>;
  listWorkflowSteps(workflowID: string): Promise<{ startedAtEpochMs?: number }[] | undefined>;
  send(workflowID: string, message: unknown, topic: string): Promise<void>;
  recv(topic: string, options: { timeoutSeconds: number; pollingIntervalMs: number }): Promise<unknown>;
  workflowID: string | undefined;
}
type Workflow<A extends unknown[], R> = (...args: A) => Promise<R>;

const SDK = "@dbos-inc/dbos-sdk";
const { DBOS } = (await import(SDK)) as { DBOS: Dbos };

/** Connections, as many as a process of the service has; DBOS has 10 if it is not told. */
const CONNECTIONS = 12;
const DAY_S = 86_400;
/**
 * How often a workflow that waits asks the database, beside being told. DBOS's own 10 s hold for 30,000 of them; with 100,000 the
 * questions pile up, and a decision takes 12 s to be heard.
 */
const ASK_EVERY_MS = 3_600_000;
const STARTS_IN_FLIGHT = 32;

const began = new Map<string, () => void>();
const parked: string[] = [];

const sequence = DBOS.registerWorkflow(
  async (steps: number): Promise<number> => {
    for (let n = 0; n < steps; n++) await DBOS.runStep(async () => n, { name: "echo" });
    return steps;
  },
  { name: "sequence" },
);

const waiting = DBOS.registerWorkflow(
  async (): Promise<void> => {
    await DBOS.recv("decision", { timeoutSeconds: DAY_S, pollingIntervalMs: ASK_EVERY_MS });
    await DBOS.runStep(async () => began.get(DBOS.workflowID ?? "")?.(), { name: "echo" });
  },
  { name: "waiting" },
);

const run = async (steps: number): Promise<void> => {
  const handle = await DBOS.startWorkflow(sequence)(steps);
  if ((await handle.getResult()) !== steps) throw new Error("a workflow came to something else");
};

const stepTimes = async (steps: number): Promise<number[]> => {
  const workflowID = randomUUID();
  await (await DBOS.startWorkflow(sequence, { workflowID })(steps)).getResult();
  const told = (await DBOS.listWorkflowSteps(workflowID)) ?? [];
  return told.map(({ startedAtEpochMs }) => startedAtEpochMs ?? Number.NaN);
};

/** Milliseconds from the decision until the next step began. */
const decide = async (id: string | undefined): Promise<number> => {
  if (id === undefined) throw new Error("no workflow is parked");
  const next = Promise.withResolvers<void>();
  began.set(id, next.resolve);
  const start = performance.now();
  await DBOS.send(id, { approved: true }, "decision");
  await next.promise;
  began.delete(id);
  return performance.now() - start;
};

const park = async (runs: number): Promise<void> => {
  let left = runs + 1;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const workflowID = randomUUID();
      await DBOS.startWorkflow(waiting, { workflowID })();
      parked.push(workflowID);
    }
  };
  await Promise.all(Array.from({ length: STARTS_IN_FLIGHT }, lane));
  // One more than was asked for: when it goes on, those before it wait.
  await decide(parked.pop());
};

const anyParked = (): string | undefined => parked.splice(Math.floor(Math.random() * parked.length), 1)[0];

type Ask = { steps: number; inFlight: number; seconds: number; runs: number };
const asked: Record<string, (ask: Ask) => Promise<unknown>> = {
  load: ({ steps, inFlight, seconds }) => keepInFlight(() => run(steps), inFlight, seconds),
  stepTimes: ({ steps }) => stepTimes(steps),
  park: ({ runs }) => park(runs),
  decide: () => decide(anyParked()),
};

DBOS.setConfig({
  name: "bench",
  applicationVersion: "1",
  systemDatabaseUrl: process.env["DBOS_SYSTEM_DATABASE_URL"],
  systemDatabasePoolSize: CONNECTIONS,
  logLevel: "warn",
});
await DBOS.launch();

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const work = asked[(request.url ?? "").slice(1)]?.(JSON.parse(Buffer.concat(parts).toString()) as Ask);
    (work ?? Promise.reject(new Error(`nothing is done at ${request.url}`))).then(
      (answer) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer ?? null)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
    );
  });
});
server.requestTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") console.log(`http://127.0.0.1:${address.port}`);
});
process.on("SIGTERM", () => process.exit());
