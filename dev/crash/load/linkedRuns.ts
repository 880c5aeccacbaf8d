import { setTimeout as sleep } from "node:timers/promises";
import { EVENT, type LinkedArgs, type LinkedKind } from "../linkedWorkflows.ts";
import { PERSONAL } from "../topology.ts";
import type { KnownRun } from "./known.ts";
import { begin, cancelRun, readRun } from "./runs.ts";
import { onceOnly, perform, type Action } from "./session.ts";

const EVENTS = 5;
const PAUSE_MS = 400;
/** Seconds that a read waits for the end of a run, and the number of reads: a fault delays a run by a lease, and another fault delays the lease. */
const WAIT_S = 8;
const WAITS = 5;

/** Starts a run of one of the linked workflows. Returns its id if the answer arrived. */
async function startLinked(action: Action, kind: LinkedKind, args: LinkedArgs): Promise<string | undefined> {
  const { id, session } = action;
  const done = await perform(action, {
    what: "run.start",
    keyed: true,
    asked: { kind, args, key: id, external_user_id: null },
    wanted: {
      method: "POST",
      path: `/api/workflows/${session.linked.workflows[kind]}/runs`,
      token: session.api_key,
      headers: onceOnly(id),
      body: { args },
    },
    read: ({ status, body }) => ({ run_id: body.id, accepted: status === 202 }),
  });
  const run_id = done.got["run_id"] as string | undefined;
  if (run_id !== undefined) session.linkedRuns.push({ id: run_id, kind });
  return run_id;
}

const argsOf = ({ id, session }: Action): LinkedArgs => ({ id: `${id} ${PERSONAL}`, client: session.client });

/** Starts a run that starts others. */
export async function startStarter(action: Action): Promise<void> {
  const { random } = action;
  const more = { children: random.int(1, 3), ms: random.pick([0, 50, 1_500]), leave: random.chance(0.3) };
  await startLinked(action, "starter", { ...argsOf(action), ...more });
}

/** Starts a run that starts others, and cancels it while they work. */
export async function cancelStarter(action: Action, token: string): Promise<void> {
  const { random } = action;
  const more = { children: 2, ms: 3_000, leave: random.chance(0.3) };
  const id = await startLinked(action, "starter", { ...argsOf(action), ...more });
  if (id === undefined) return;
  await sleep(random.next() * 1_500);
  await cancelRun({ ...action, id: `${action.id}-end` }, { id }, token);
}

interface SentEvent {
  /** The id that the sender gives it. */
  event: string;
  data: { id: string; n: number };
}

/** Sends an event. Returns the number of runs it reached, if the answer arrived. */
async function sendEvent(action: Action, { event, data }: SentEvent): Promise<number> {
  const done = await perform(action, {
    what: "event.send",
    keyed: true,
    asked: { event, data },
    wanted: {
      method: "POST",
      path: "/api/workflows/events",
      token: action.session.api_key,
      body: { name: EVENT, data, id: event },
    },
    read: ({ body }) => ({ message_id: body.id, reached: body.reached }),
  });
  return done.got["reached"] ?? 0;
}

/** Starts a run that waits for an event, and sends events until one reaches it, some of them twice. */
export async function startListener(action: Action): Promise<void> {
  const args = argsOf(action);
  if ((await startLinked(action, "listener", args)) === undefined) return;
  for (let n = 1; n <= EVENTS; n++) {
    const event = `${action.id}-event-${n}`;
    const sent = { event, data: { id: args.id, n } };
    const reached = await sendEvent({ ...action, id: event }, sent);
    if (action.random.chance(0.3)) await sendEvent({ ...action, id: `${event}-again` }, sent);
    if (reached > 0) return;
    await sleep(PAUSE_MS);
  }
}

export const startVoted = async (action: Action): Promise<void> =>
  void (await startLinked(action, "voted", argsOf(action)));

/** Weighted behaviours of the provider: slow words, errors, a stream that breaks off. */
const ORDERS = { "": 20, "[slow 40] ": 20, "[slow 250] ": 8, "[500] ": 4, "[400] ": 3, "[cut] ": 5 };

/** Starts a run that asks an agent twice. */
export const startAsking = async (action: Action): Promise<void> => {
  const words = `${action.random.weighted(ORDERS)}${action.id}`;
  await startLinked(action, "asking", { ...argsOf(action), words });
};

/** Starts a run that stores something; refused above the start rate. */
export const startStoring = async (action: Action): Promise<void> =>
  void (await startLinked(action, "storing", argsOf(action)));

export const startChained = async (action: Action): Promise<void> =>
  void (await startLinked(action, "chained", { ...argsOf(action), left: action.random.int(1, 3) }));

/** Retries a run, which requires a person; it has one retry however often that is requested. */
async function retry(action: Action, run_id: string, token: string): Promise<string | undefined> {
  const done = await perform(action, {
    what: "run.retry",
    asked: { run_id },
    wanted: { method: "POST", path: `/api/workflows/runs/${run_id}/retry`, token },
    read: ({ body }) => ({ new_run_id: body.id }),
  });
  return done.got["new_run_id"];
}

async function waitForEnd(action: Action, run: KnownRun): Promise<string> {
  for (let n = 1; ; n++) {
    const { got } = await readRun({ ...action, id: `${action.id}-wait-${n}` }, run, WAIT_S);
    if (n === WAITS || ["completed", "failed", "cancelled"].includes(got["status"])) return got["status"];
  }
}

/** Starts a run that fails after some steps, waits for its end, and retries it twice, at the same time or one after the other. */
export async function failAndRetry(action: Action, token: string): Promise<void> {
  const { id, random, session } = action;
  const workflow = session.workflows[0]!;
  const args = { id: `${id} ${PERSONAL}`, client: session.client, steps: 2, pure: random.int(0, 5), breaks: true };
  const run_id = await begin(action, "run.start", { workflow, args, key: { header: "idempotency-key", value: id } });
  if (run_id === undefined) return;
  const run = { id: run_id, kind: workflow.kind, hook: undefined, asks: false };
  session.runs.push(run);
  if ((await waitForEnd(action, run)) !== "failed") return;
  const again = (part: string) => retry({ ...action, id: `${id}-${part}` }, run_id, token);
  const retries = random.chance(0.5) ? await Promise.all(["a", "b"].map(again)) : [await again("a"), await again("b")];
  const [continued] = retries.filter((one) => one !== undefined);
  if (continued !== undefined) session.runs.push({ ...run, id: continued });
}
