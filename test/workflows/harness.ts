import { expect } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import type { RunEvent } from "#events/run.ts";
import type { Envelope } from "#events/workflow.ts";
import { createHandler, type Handle } from "#services/handle.ts";
import type { RunsDeps } from "#services/workflows/runs.ts";
import type { StepHost } from "#services/workflows/tick.ts";
import { afterFile } from "../cleanUp.ts";
import type { PlainWorkflow } from "../doubles/plainRunner.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { openPlatform } from "../sharedPlatform.ts";
import { commandSender, openCoordinator, startRunData } from "./coordinator.ts";
import { openTenant, SOON, type Workflow } from "./tenant.ts";

/* Three ways to test workflows: the whole service, http with workflows that are functions of the test, and coordinators without http. */

export * from "./stepSite.ts";
export * from "./tenant.ts";

/** Counts by name, and a function that counts one more and returns the count. */
export function counters() {
  const counted = new Map<string, number>();
  const count = (name: string): number => counted.set(name, (counted.get(name) ?? 0) + 1).get(name)!;
  return { counted, count };
}

/**
 * The whole service in this process with one organization, and a site that its steps may fetch from with the rules `egress`. Files
 * without settings of their own share it.
 */
export async function openWorkflows(env?: Record<string, string>) {
  const { platform, site } = await openPlatform(env);
  const join = async (name: string) => openTenant(platform.url, await platform.organization(name));
  return { ...platform, site, egress: { egress: [site.host] }, join, home: await join("Home") };
}
export type Workflows = Awaited<ReturnType<typeof openWorkflows>>;

const sourceWith = (args: object | undefined) =>
  `${args ? `export const meta = ${JSON.stringify({ args })};\n` : ""}export async function run() {}`;

/** The service over HTTP with one organization, whose workflows are functions of the test. */
export async function openFunctions(functions: Record<string, PlainWorkflow>) {
  const deployment = await testDeployment();
  const { url, resources, organization } = await startPlatform({ roles: ["http", "projections"], deployment });
  const services = await startPlatform({ roles: [], deployment });
  const definitions = new Map<string, string>();
  const { handle, runs, sweep } = openCoordinator(services.resources, { functions, definitions });
  const commands = await services.resources.bus.source().consume(handle);
  sweep.start();
  afterFile(async () => {
    await Promise.all([commands.stop(), sweep.stop()]);
    await runs.stop();
  });
  const join = async (name: string) => openTenant(url, await organization(name));
  const home = await join("Home");
  return {
    url,
    resources,
    home,
    join,
    /** A workflow whose runs execute the function of that name; `args` is their schema. */
    async register(name: string, { args, ...more }: Record<string, any> = {}, by = home): Promise<Workflow> {
      const workflow = await by.register(sourceWith(args), {}, more);
      definitions.set(workflow.definition.id, name);
      return workflow;
    },
    events: async (run: string) => (await resources.log.read(streamName("run", run))) as RecordedEvent<RunEvent>[],
    /** The address of another http process on the same deployment. */
    twin: async () => (await startPlatform({ roles: ["http"], deployment })).url,
  };
}
export type Functions = Awaited<ReturnType<typeof openFunctions>>;

/** For a step of a function: puts its attempt on record, as real steps do before they do what others can see. */
export const record = ({ host }: { host: StepHost }): Promise<string> => host.secret("any");

interface CoordinatorsOptions {
  count?: number;
  change?: (deps: RunsDeps) => Partial<RunsDeps>;
}
interface StartOptions {
  by?: Handle;
  envelope?: Partial<Envelope>;
  ttl_ms?: number;
  /** More fields of StartRun. */
  more?: object;
}

/** Processes that coordinate runs of the test's functions on one deployment, without http: a command goes to the process that the test names. */
export async function openCoordinators(
  functions: Record<string, PlainWorkflow>,
  { count = 1, change }: CoordinatorsOptions = {},
) {
  const deployment = await testDeployment();
  const definitions = new Map<string, string>();
  const openProcess = async () => {
    const { resources, stop } = await startPlatform({ roles: [], deployment });
    return { resources, stop, ...openCoordinator(resources, { functions, definitions }, change) };
  };
  const first = await openProcess();
  const all = [first];
  while (all.length < count) all.push(await openProcess());
  const { log, bus } = first.resources;
  const sendCommand = commandSender(newId());
  const send = (handle: Handle, run_id: string, type: string, data: object) =>
    sendCommand(handle, "run", run_id, type, { run_id, ...data });
  const by = { type: "person", id: "u1" };
  const events = async (run_id: string) => (await log.read(streamName("run", run_id))) as RecordedEvent<RunEvent>[];

  return {
    all,
    send,
    events,
    /** Starts a run of a function, at the first process unless another handler is named. */
    async start(
      name: string,
      args: unknown = {},
      { by: handle = first.handle, envelope, ttl_ms = 86_400_000, more: fields = {} }: StartOptions = {},
    ) {
      const [run_id, definition_id] = [newId(), newId()];
      definitions.set(definition_id, name);
      const expires_at = new Date(Date.now() + ttl_ms).toISOString();
      const more = { definition_id, expires_at, args: { json: JSON.stringify(args) }, ...fields };
      const { rejection } = await send(handle, run_id, "StartRun", startRunData(run_id, envelope, more));
      expect(rejection).toBeUndefined();
      return run_id;
    },
    /** The events of a run once the last one is of that type. */
    async until(run_id: string, type: RunEvent["type"]): Promise<RecordedEvent<RunEvent>[]> {
      await expect.poll(async () => (await events(run_id)).at(-1)!.type, SOON).toBe(type);
      return events(run_id);
    },
    /** The id of the run's newest approval. */
    async pending(run_id: string): Promise<string> {
      await expect.poll(async () => typesOf(await events(run_id)), SOON).toContain("ApprovalRequested");
      const requested = (await events(run_id)).findLast(({ type }) => type === "ApprovalRequested");
      return (requested!.data as { approval_id: string }).approval_id;
    },
    decide: (handle: Handle, run_id: string, approval_id: string, decision: "approve" | "reject" = "approve") =>
      send(handle, run_id, "DecideApproval", { approval_id, decision, by, data: null, comment: null }),
    cancel: (handle: Handle, run_id: string) => send(handle, run_id, "CancelRun", { by, reason: null }),
    /** A handler that commits for a process that is dead. */
    deadHandler: () => createHandler({ log, hints: bus.hints, worker: () => "dead-worker", afterCommit: () => {} }),
  };
}
export type Coordinators = Awaited<ReturnType<typeof openCoordinators>>;

export const typesOf = (events: { type: string }[]): string[] => events.map(({ type }) => type);
export const resultOf = (events: RecordedEvent<RunEvent>[]): unknown => {
  const end = events.find(({ type }) => type === "RunCompleted");
  return JSON.parse((end!.personal as { result: { json: string } }).result.json);
};
