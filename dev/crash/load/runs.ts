import { setTimeout as sleep } from "node:timers/promises";
import type { Operation } from "../journal.ts";
import { randomFrom, type Random } from "../random.ts";
import { PERSONAL } from "../topology.ts";
import { BEFORE_MS, type RunArgs } from "../workflows.ts";
import { perform, type Action } from "./session.ts";
import type { KnownRun, KnownWorkflow } from "./known.ts";

/** Arguments of a run; about half of the runs do little, so that there are many. */
function wishes({ id, random, session }: Action): RunArgs {
  return {
    id: `${id} ${PERSONAL}`,
    client: session.client,
    steps: random.int(0, 3),
    // the longest ones are taken over while they are still running in a stopped process
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

/** Some callers of a hook rely on the trigger's defaults. */
function payloadOf({ steps, ms, ...rest }: RunArgs, random: Random): Partial<RunArgs> {
  return { ...rest, ...(random.chance(0.6) && { steps }), ...(random.chance(0.6) && { ms }) };
}

/** The header that makes a start idempotent; webhook senders use their own. */
type KeyHeader = "idempotency-key" | "webhook-id";

interface Start {
  workflow: KnownWorkflow;
  args: Partial<RunArgs>;
  key: { header: KeyHeader; value: string } | undefined;
}

/** Starts a run. Returns its id if the answer arrived. */
export async function begin(action: Action, how: "run.start" | "run.hook", { workflow, args, key }: Start) {
  const { api_key, user } = action.session;
  const keyed = key ? { [key.header]: key.value } : {};
  const byHook = {
    path: `/api/workflows/hooks/${workflow.hook_token}`,
    token: workflow.webhook_secret,
    headers: { ...keyed, "x-svc-external-user": user },
    body: args,
  };
  const direct = { path: `/api/workflows/${workflow.id}/runs`, token: api_key, headers: keyed, body: { args } };
  const done = await perform(action, {
    what: how,
    keyed: key !== undefined,
    asked: { kind: workflow.kind, args, key: key?.value, external_user_id: how === "run.hook" ? user : null },
    wanted: { method: "POST", ...(how === "run.hook" ? byHook : direct) },
    read: ({ status, body }) => ({ run_id: how === "run.hook" ? body.run_id : body.id, accepted: status === 202 }),
  });
  return done.got["run_id"] as string | undefined;
}

/** Starts a run by hook or directly; a start with a key is sometimes repeated, whatever the answer was. */
async function start(action: Action, how: "run.start" | "run.hook"): Promise<void> {
  const { id, random, session } = action;
  const workflow = random.chance(0.75) ? session.workflows[0]! : session.workflows[1]!;
  const wished = wishes(action);
  const args = how === "run.hook" ? payloadOf(wished, random) : wished;
  const header = how === "run.hook" && random.chance(0.5) ? ("webhook-id" as const) : ("idempotency-key" as const);
  const key = random.chance(0.75) ? { header, value: id } : undefined;
  const again = key && random.chance(0.25);
  const asked: Start = { workflow, args, key };
  const first = await begin(action, how, asked);
  const second = again ? await begin({ ...action, id: `${id}-again` }, how, asked) : undefined;
  const run_id = first ?? second;
  if (run_id === undefined) return;
  const hook = how === "run.hook" ? workflow : undefined;
  session.runs.push({ id: run_id, kind: workflow.kind, hook, asks: wished.approval });
}
export const startRun = (action: Action): Promise<void> => start(action, "run.start");
export const callHook = (action: Action): Promise<void> => start(action, "run.hook");

/** Reads a run: by the hook that started it, otherwise with the key. `wait_s`: seconds to wait for its end. */
export async function readRun(
  action: Action,
  { id: run_id, hook }: Pick<KnownRun, "id" | "hook">,
  wait_s = 0,
): Promise<Operation> {
  if (hook) {
    const path = `/api/workflows/hooks/${hook.hook_token}/runs/${run_id}`;
    return perform(action, {
      what: "run.poll",
      asked: { run_id },
      wanted: { method: "GET", path, token: hook.webhook_secret },
      read: ({ body: { status, result, error } }) => ({ status, result, error }),
    });
  }
  const query = wait_s > 0 ? `?wait=${wait_s}` : "";
  return perform(action, {
    what: "run.read",
    asked: { run_id },
    wanted: { method: "GET", path: `/api/workflows/runs/${run_id}${query}`, token: action.session.api_key },
    read: ({ body: { status, result, error, steps } }) => ({
      status,
      result,
      error,
      steps: steps
        .filter(({ inherited }: any) => !inherited)
        .map(({ key, status: at, attempts }: any) => ({ key, status: at, attempts: attempts.length })),
    }),
  });
}

/** Cancels a run, which requires a person. */
export async function cancelRun(action: Action, { id: run_id }: Pick<KnownRun, "id">, token: string): Promise<void> {
  await perform(action, {
    what: "run.cancel",
    asked: { run_id },
    wanted: {
      method: "POST",
      path: `/api/workflows/runs/${run_id}/cancel`,
      token,
      body: { reason: `${action.id} ${PERSONAL}` },
    },
  });
}

/** Starts a run that reads its secret at once, and cancels it at about that time. */
export async function cancelSoon(action: Action, token: string): Promise<void> {
  const { id, random, session } = action;
  const args = { id, client: session.client, paid: true, steps: random.int(0, 1) };
  const workflow = session.workflows[0]!;
  const run_id = await begin(action, "run.start", { workflow, args, key: undefined });
  if (run_id === undefined) return;
  await sleep(random.next() * BEFORE_MS);
  await cancelRun({ ...action, id: `${id}-end` }, { id: run_id }, token);
}

type Decision = "approve" | "reject";

async function decide(action: Action, run_id: string, approval_id: string, decision: Decision): Promise<void> {
  const { session, id } = action;
  await perform(action, {
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

/** Reads the approvals of a run and decides pending ones: once, twice, both ways at once, or not at all. */
export async function decideApprovals(action: Action, { id: run_id }: KnownRun): Promise<void> {
  const shown = await readApprovals(action, run_id);
  for (const [n, { id, status }] of shown.entries()) {
    if (status !== "pending") continue;
    const own = (part: string): Action => {
      const name = `${action.id}-${n}${part}`;
      return { ...action, id: name, random: randomFrom("decide", name) };
    };
    const way = action.random.weighted(WAYS);
    if (way === "approve" || way === "reject") await decide(own("a"), run_id, id, way);
    if (way === "twice") for (const part of ["a", "b"]) await decide(own(part), run_id, id, "approve");
    if (way === "race")
      await Promise.all([decide(own("a"), run_id, id, "approve"), decide(own("b"), run_id, id, "reject")]);
  }
}

export async function readApprovals(action: Action, run_id: string): Promise<{ id: string; status: string }[]> {
  const done = await perform(action, {
    what: "run.approvals",
    asked: { run_id },
    wanted: { method: "GET", path: `/api/workflows/runs/${run_id}/approvals`, token: action.session.api_key },
    read: ({ body }) => ({
      approvals: body.data.map(({ id, status, votes }: any) => ({ id, status, votes: votes.length })),
    }),
  });
  return done.got["approvals"] ?? [];
}
