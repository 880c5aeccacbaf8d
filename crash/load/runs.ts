import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom, type Random } from "../random.ts";
import { PERSONAL } from "../topology.ts";
import { BEFORE_MS, type Kind, type RunArgs } from "../workflows.ts";
import { perform, type Doing } from "./session.ts";
import type { KnownWorkflow } from "./workflows.ts";

/** A run as its client and the partner know it. */
export interface KnownRun {
  id: string;
  kind: Kind;
  /** The workflow whose hook has started it. */
  hook: KnownWorkflow | undefined;
  asks: boolean;
}

/** What a run shall do; about half of the runs do little, so that there are many. */
function wishes({ id, random, session }: Doing): RunArgs {
  return {
    id: `${id} ${PERSONAL}`,
    client: session.client,
    steps: random.int(0, 3),
    // the longest ones are taken over while they still go on where their process stands still
    ms: Number(random.weighted({ 0: 45, 50: 30, 300: 18, 4000: 7 })),
    pure: random.chance(0.5) ? random.int(1, 30) : 0,
    many: random.chance(0.3) ? random.int(2, 8) : 0,
    sleep_ms: random.chance(0.25) ? random.int(1_000, 3_000) : 0,
    flaky: random.chance(0.2),
    paid: random.chance(0.3),
    once: random.chance(0.15),
    ask: random.chance(0.2),
    large: random.chance(0.08),
    breaks: random.chance(0.06),
    approval: random.chance(0.4),
  };
}

/** Some callers of a hook leave to its trigger what the defaults say. */
function payloadOf({ steps, ms, ...rest }: RunArgs, random: Random): Partial<RunArgs> {
  return { ...rest, ...(random.chance(0.6) && { steps }), ...(random.chance(0.6) && { ms }) };
}

/** By which header a start is known again; senders of webhooks have their own. */
type KeyHeader = "idempotency-key" | "webhook-id";

interface Start {
  workflow: KnownWorkflow;
  args: Partial<RunArgs>;
  key: { header: KeyHeader; value: string } | undefined;
}

/** Sends a start; the id of the run, where it is known. */
async function begin(doing: Doing, how: "run.start" | "run.hook", { workflow, args, key }: Start) {
  const { api_key, user } = doing.session;
  const keyed = key ? { [key.header]: key.value } : {};
  const byHook = {
    path: `/api/workflows/hooks/${workflow.hook_token}`,
    token: workflow.webhook_secret,
    headers: { ...keyed, "x-svc-external-user": user },
    body: args,
  };
  const direct = { path: `/api/workflows/${workflow.id}/runs`, token: api_key, headers: keyed, body: { args } };
  const done = await perform(doing, {
    what: how,
    keyed: key !== undefined,
    asked: { kind: workflow.kind, args, key: key?.value, external_user_id: how === "run.hook" ? user : null },
    wanted: { method: "POST", ...(how === "run.hook" ? byHook : direct) },
    read: ({ status, body }) => ({ run_id: how === "run.hook" ? body.run_id : body.id, accepted: status === 202 }),
  });
  return done.got["run_id"] as string | undefined;
}

/** Starts a run by its hook or directly; a start under a key is sometimes sent once more, after whatever answer. */
async function start(doing: Doing, how: "run.start" | "run.hook"): Promise<void> {
  const { id, random, session } = doing;
  const workflow = random.chance(0.75) ? session.workflows[0]! : session.workflows[1]!;
  const wished = wishes(doing);
  const args = how === "run.hook" ? payloadOf(wished, random) : wished;
  const header = how === "run.hook" && random.chance(0.5) ? ("webhook-id" as const) : ("idempotency-key" as const);
  const key = random.chance(0.75) ? { header, value: id } : undefined;
  const again = key && random.chance(0.25);
  const asked: Start = { workflow, args, key };
  const first = await begin(doing, how, asked);
  const second = again ? await begin({ ...doing, id: `${id}-again` }, how, asked) : undefined;
  const run_id = first ?? second;
  if (run_id === undefined) return;
  const hook = how === "run.hook" ? workflow : undefined;
  session.runs.push({ id: run_id, kind: workflow.kind, hook, asks: wished.approval });
}
export const startRun = (doing: Doing): Promise<void> => start(doing, "run.start");
export const callHook = (doing: Doing): Promise<void> => start(doing, "run.hook");

/** Asks how a run stands: whoever started it by a hook there, everybody else with the key. */
export async function readRun(doing: Doing, { id: run_id, hook }: KnownRun): Promise<void> {
  if (hook) {
    const path = `/api/workflows/hooks/${hook.hook_token}/runs/${run_id}`;
    await perform(doing, {
      what: "run.poll",
      asked: { run_id },
      wanted: { method: "GET", path, token: hook.webhook_secret },
      read: ({ body: { status, result, error } }) => ({ status, result, error }),
    });
    return;
  }
  await perform(doing, {
    what: "run.read",
    asked: { run_id },
    wanted: { method: "GET", path: `/api/workflows/runs/${run_id}`, token: doing.session.api_key },
    read: ({ body: { status, result, error, steps } }) => ({
      status,
      result,
      error,
      steps: steps.map(({ key, status: at, attempts }: any) => ({ key, status: at, attempts: attempts.length })),
    }),
  });
}

/** Ends a run, as only a person may. */
export async function cancelRun(doing: Doing, { id: run_id }: Pick<KnownRun, "id">, token: string): Promise<void> {
  await perform(doing, {
    what: "run.cancel",
    asked: { run_id },
    wanted: {
      method: "POST",
      path: `/api/workflows/runs/${run_id}/cancel`,
      token,
      body: { reason: `${doing.id} ${PERSONAL}` },
    },
  });
}

/** Starts a run that asks for its secret at once, and ends it about then. */
export async function cancelSoon(doing: Doing, token: string): Promise<void> {
  const { id, random, session } = doing;
  const args = { id, client: session.client, paid: true, steps: random.int(0, 1) };
  const workflow = session.workflows[0]!;
  const run_id = await begin(doing, "run.start", { workflow, args, key: undefined });
  if (run_id === undefined) return;
  await sleep(random.next() * BEFORE_MS);
  await cancelRun({ ...doing, id: `${id}-end` }, { id: run_id }, token);
}

type Decision = "approve" | "reject";

async function decide(doing: Doing, run_id: string, approval_id: string, decision: Decision): Promise<void> {
  const { session, id } = doing;
  await perform(doing, {
    what: "run.decide",
    asked: { run_id, approval_id, decision },
    wanted: {
      method: "POST",
      path: `/api/workflows/approvals/${approval_id}/decision`,
      token: session.api_key,
      body: { decision, comment: `${id} ${PERSONAL}` },
    },
    read: ({ body }) => ({ status: body.status }),
  });
}

const WAYS = { approve: 45, reject: 25, twice: 10, race: 15, leave: 5 };

/** Looks at what a run asks, and decides what is pending: once, twice, both ways at once, or not at all. */
export async function attendApprovals(doing: Doing, { id: run_id }: KnownRun): Promise<void> {
  const shown = await readApprovals(doing, run_id);
  for (const [n, { id, status }] of shown.entries()) {
    if (status !== "pending") continue;
    const own = (part: string): Doing => {
      const name = `${doing.id}-${n}${part}`;
      return { ...doing, id: name, random: randomFrom("decide", name) };
    };
    const way = doing.random.weighted(WAYS);
    if (way === "approve" || way === "reject") await decide(own("a"), run_id, id, way);
    if (way === "twice") for (const part of ["a", "b"]) await decide(own(part), run_id, id, "approve");
    if (way === "race")
      await Promise.all([decide(own("a"), run_id, id, "approve"), decide(own("b"), run_id, id, "reject")]);
  }
}

export async function readApprovals(doing: Doing, run_id: string): Promise<{ id: string; status: string }[]> {
  const done = await perform(doing, {
    what: "run.approvals",
    asked: { run_id },
    wanted: { method: "GET", path: `/api/workflows/runs/${run_id}/approvals`, token: doing.session.api_key },
    read: ({ body }) => ({ approvals: body.data.map(({ id, status }: Record<string, string>) => ({ id, status })) }),
  });
  return done.got["approvals"] ?? [];
}
