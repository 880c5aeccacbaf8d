import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { readJson, serveUntilTerminated } from "../tools/serveUntilTerminated.ts";
import type { Work } from "./contender.ts";
import { keepInFlight } from "./load.ts";

/*
 * DBOS in its own process, started as its documentation says. The process starts the runs itself, so that the figures of DBOS include no
 * HTTP.
 */

/* The part of DBOS that the bench uses. Its package is installed only in dev/bench/, so the type check does not see it. */
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

/** As many connections as a process of the service has. DBOS's default is 10. */
const CONNECTIONS = 12;
const DAY_S = 86_400;
/**
 * How often a waiting workflow polls the database, in addition to notifications. DBOS's default of 10 s works for 30,000 workflows; with
 * 100,000 the queries pile up, and a decision takes 12 s to arrive.
 */
const POLL_INTERVAL_MS = 3_600_000;
const STARTS_IN_FLIGHT = 32;

const stepStarts = new Map<string, () => void>();
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
    await DBOS.recv("decision", { timeoutSeconds: DAY_S, pollingIntervalMs: POLL_INTERVAL_MS });
    await DBOS.runStep(async () => stepStarts.get(DBOS.workflowID ?? "")?.(), { name: "echo" });
  },
  { name: "waiting" },
);

const parent = DBOS.registerWorkflow(async (): Promise<number> => (await DBOS.startWorkflow(sequence)(1)).getResult(), {
  name: "parent",
});

const listening = DBOS.registerWorkflow(
  async (): Promise<number> => {
    const options = { timeoutSeconds: DAY_S, pollingIntervalMs: POLL_INTERVAL_MS };
    return ((await DBOS.recv("answer", options)) as { n: number }).n;
  },
  { name: "listening" },
);

const answered = async (): Promise<number> => {
  const workflowID = randomUUID();
  const handle = await DBOS.startWorkflow(listening, { workflowID })();
  await DBOS.send(workflowID, { n: 1 }, "answer");
  return handle.getResult();
};

const run = async (work: Work): Promise<void> => {
  const steps = work.kind === "steps" ? work.steps : 1;
  const result =
    work.kind === "event"
      ? await answered()
      : await (
          await (work.kind === "child" ? DBOS.startWorkflow(parent)() : DBOS.startWorkflow(sequence)(steps))
        ).getResult();
  if (result !== steps) throw new Error("a workflow returned a wrong result");
};

const stepTimes = async (steps: number): Promise<number[]> => {
  const workflowID = randomUUID();
  await (await DBOS.startWorkflow(sequence, { workflowID })(steps)).getResult();
  const recordedSteps = (await DBOS.listWorkflowSteps(workflowID)) ?? [];
  return recordedSteps.map(({ startedAtEpochMs }) => startedAtEpochMs ?? Number.NaN);
};

/** Milliseconds from the decision until the next step started. */
const decide = async (id: string | undefined): Promise<number> => {
  if (id === undefined) throw new Error("no workflow is parked");
  const next = Promise.withResolvers<void>();
  stepStarts.set(id, next.resolve);
  const start = performance.now();
  await DBOS.send(id, { approved: true }, "decision");
  await next.promise;
  stepStarts.delete(id);
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
  // Starts one run too many. When that last run continues, all runs before it wait.
  await decide(parked.pop());
};

const anyParked = (): string | undefined => parked.splice(Math.floor(Math.random() * parked.length), 1)[0];

type RequestBody = { work: Work; steps: number; inFlight: number; seconds: number; runs: number };
const handlers: Record<string, (body: RequestBody) => Promise<unknown>> = {
  load: ({ work, inFlight, seconds }) => keepInFlight(() => run(work), inFlight, seconds),
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

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = (await readJson(request)) as RequestBody;
  const work = handlers[(request.url ?? "").slice(1)]?.(body);
  (work ?? Promise.reject(new Error(`unknown action ${request.url}`))).then(
    (answer) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer ?? null)),
    (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
  );
};
serveUntilTerminated(createServer((request, response) => void handle(request, response)));
