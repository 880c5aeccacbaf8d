import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Attacker } from "../attacker.ts";
import { all, many, type Attack } from "./attack.ts";

/* Runs that start, wait for, repeat and continue others. */

/** How long runs are left to it. */
const RUN_MS = 1_200;
const STEPS = 300;
/** How many pages of live runs are cancelled after an attack. */
const CANCELLED_PAGES = 3;
/** How often the end of a run is waited for. */
const WAITS = 20;
const COUNTING = `export const steps = { one: async ({ n }) => n };
export async function run(ctx, { fails }) {
  for (let n = 0; n < ${STEPS}; n++) await ctx.runStep("one", { n });
  if (fails) throw new Error("as asked");
  return ctx.complete(1);
}`;

interface Workflow {
  id: string;
  definition_id: string;
}

async function register(attacker: Attacker, source: string, envelope: object = {}): Promise<Workflow> {
  const name = `runs_${Math.random().toString(36).slice(2)}`;
  const definition = await attacker.create("/api/definitions", { type: "workflow", name, source });
  const { id } = await attacker.create("/api/workflows", { definition_id: definition.id, ...envelope });
  return { id, definition_id: definition.id };
}
const start = (attacker: Attacker, { id }: Workflow, args: object = {}): Promise<Answer> =>
  attacker.owner("POST", `/api/workflows/${id}/runs`, { args });

/** Cancels live runs, so that they do not add to the next attack. It cancels no more than the first pages: children end with parents. */
async function cancelAll(attacker: Attacker): Promise<void> {
  for (const status of ["running", "pending"])
    for (let page = 0, cursor: string | null = ""; page < CANCELLED_PAGES && cursor !== null; page++) {
      const filter = { status };
      const body = { action: "cancel", filter, dry_run: false, limit: 100, ...(cursor && { cursor }) };
      const answer = await attacker.owner("POST", "/api/workflows/runs/change", body);
      if (answer.status === 400) throw new Error(`runs cannot be cancelled: ${JSON.stringify(answer.body)}`);
      cursor = answer.body?.next_cursor ?? null;
    }
}

/** Waits for the end of a run, behind whatever earlier attacks have left to do. */
async function ended(attacker: Attacker, run: string): Promise<void> {
  for (let n = 0; n < WAITS; n++) {
    const { body } = await attacker.owner("GET", `/api/workflows/runs/${run}?wait=20`);
    if (body.completed_at) return;
    await sleep(100);
  }
  throw new Error(`run ${run} has not ended`);
}

interface CountedRuns {
  definition_id: string;
  completed: string;
  failed: string[];
}

/** Ended runs of many steps, made once: one that completed, and some that failed. */
const counted = new WeakMap<Attacker, Promise<CountedRuns>>();
function countedRuns(attacker: Attacker): Promise<CountedRuns> {
  const make = async () => {
    const workflow = await register(attacker, COUNTING);
    const runs = await all(5, (n) => start(attacker, workflow, { fails: n > 0 }));
    const [completed, ...failed] = runs.map(({ body }) => body.id as string);
    for (const run of [completed!, ...failed]) await ended(attacker, run);
    return { definition_id: workflow.definition_id, completed: completed!, failed };
  };
  const made = counted.get(attacker) ?? make();
  counted.set(attacker, made);
  return made;
}

export const runs: Attack[] = [
  {
    title: "two runs that start 1,000 others each, and wait for them",
    async run(attacker) {
      const child = await register(attacker, "export async function run(ctx, { n }) { return ctx.complete(n); }");
      const parent = await register(
        attacker,
        `export async function run(ctx) {
  const started = [];
  for (let n = 0; n < 1000; n++) started.push(await ctx.startRun("${child.id}", { n }));
  for (const one of started) await ctx.waitForRun(one);
  return ctx.complete(1);
}`,
      );
      const answers = await all(2, () => start(attacker, parent));
      await sleep(RUN_MS);
      await cancelAll(attacker);
      return answers;
    },
  },
  {
    title: "runs that start themselves, ten deep and ten wide",
    async run(attacker) {
      const name = `itself_${Math.random().toString(36).slice(2)}`;
      const source = `export const meta = { name: "${name}" };
export async function run(ctx, { depth = 0 }) {
  for (let n = 0; n < 10; n++) await ctx.startRun("${name}", { depth: depth + 1, n });
  return ctx.complete(depth);
}`;
      const definition = await attacker.create("/api/definitions", { type: "workflow", name, source });
      const workflow = await attacker.create("/api/workflows", { definition_id: definition.id, name });
      const answers = await all(3, () => start(attacker, { ...workflow, definition_id: definition.id }));
      await sleep(RUN_MS);
      await attacker.owner("DELETE", `/api/workflows/${workflow.id}`);
      await cancelAll(attacker);
      return answers;
    },
  },
  {
    title: "100 chains of runs that continue at once, with growing arguments",
    async run(attacker) {
      const chain = await register(
        attacker,
        `export async function run(ctx, { text = "x" }) { return ctx.continueAs({ text: (text + text).slice(0, 200000) }); }`,
      );
      const answers = await all(100, () => start(attacker, chain, { text: "x".repeat(10_000) }));
      await sleep(RUN_MS);
      await cancelAll(attacker);
      await attacker.owner("DELETE", `/api/workflows/${chain.id}`);
      return answers;
    },
  },
  {
    title: "three runs with 1,000 sleeps each that end together, and three with 10,000",
    mustAnswer: { 202: 6 },
    async run(attacker) {
      const sleeping = await register(
        attacker,
        `export async function run(ctx, { count }) {
  await Promise.all(Array.from({ length: count }, (_, n) => ctx.sleep("1s", { key: String(n) })));
  return ctx.complete(1);
}`,
      );
      const answers = await all(6, (n) => start(attacker, sleeping, { count: n < 3 ? 1_000 : 10_000 }));
      await sleep(2 * RUN_MS);
      await cancelAll(attacker);
      return answers;
    },
  },
  {
    title: "20 events of 200 KB for 10 runs with 50 waits each",
    async run(attacker) {
      const waiting = await register(
        attacker,
        `export async function run(ctx) {
  const all = Array.from({ length: 50 }, (_, n) => ctx.waitForEvent("order", { key: String(n), timeout: "1h" }));
  await Promise.all(all);
  return ctx.complete(1);
}`,
      );
      const started = await all(10, () => start(attacker, waiting));
      const data = { text: "x".repeat(200_000), list: many(1_000, (n) => n) };
      const events = await all(20, (n) =>
        attacker.send("POST", "/api/workflows/events", { name: "order", data: { ...data, n } }),
      );
      await cancelAll(attacker);
      return [...started, ...events];
    },
  },
  {
    title: "20 forks, 20 retries and 20 reads of a run with 300 steps",
    mustAnswer: { 202: 40, 200: 20 },
    prepare: countedRuns,
    async run(attacker) {
      const { completed, failed } = await countedRuns(attacker);
      const answers = [
        ...(await all(20, (n) => attacker.owner("POST", `/api/workflows/runs/${completed}/fork`, { args: { n } }))),
        ...(await all(20, (n) => attacker.owner("POST", `/api/workflows/runs/${failed[n % failed.length]}/retry`))),
        ...(await all(20, () => attacker.owner("GET", `/api/workflows/runs/${completed}`))),
      ];
      await sleep(RUN_MS);
      await cancelAll(attacker);
      return answers;
    },
  },
  {
    title: "sources that compute without end, throw, or differ, checked against stored runs, twenty at once",
    prepare: countedRuns,
    async run(attacker) {
      const { definition_id } = await countedRuns(attacker);
      const sources = [
        "export async function run() { for (;;) {} }",
        "export async function run() { const all = []; for (;;) all.push(new Array(10000).fill(1)); }",
        "export async function run() { throw new Error('e'.repeat(1000000)); }",
        COUNTING.replace("{ n });", "{ n, more: 'x'.repeat(1000) });"),
      ];
      return Promise.all(
        many(20, (n) =>
          attacker.send(
            "POST",
            `/api/definitions/${definition_id}/check-runs`,
            { source: sources[n % sources.length] },
            { as: "owner", signal: AbortSignal.timeout(3_000) },
          ),
        ),
      );
    },
  },
  {
    title: "30 links of an approval, 50 comments of 2,000 characters, and 60 unknown links",
    mustAnswer: { 201: 50, 200: 10 },
    async run(attacker) {
      const asking = await register(
        attacker,
        `export async function run(ctx) { return ctx.complete(await ctx.awaitApproval("go", { title: "Go?" })); }`,
      );
      const { body } = await start(attacker, asking);
      let approval: string | undefined;
      for (let n = 0; n < 600 && !approval; n++) {
        const { body: inbox } = await attacker.owner("GET", `/api/workflows/runs/${body.id}/approvals`);
        approval = inbox.data?.[0]?.id;
        if (!approval) await sleep(50);
      }
      const path = `/api/workflows/approvals/${approval}`;
      const answers = [
        ...(await all(30, () => attacker.owner("POST", `${path}/links`, {}))),
        ...(await all(50, () => attacker.owner("POST", `${path}/comments`, { text: "c".repeat(2_000) }))),
        ...(await all(10, () => attacker.owner("GET", `${path}/comments?limit=500`))),
        ...(await all(60, (n) =>
          attacker.send("GET", `/api/workflows/approval-links/${crypto.randomUUID()}`, undefined, {
            headers: { authorization: `Bearer link-${n}` },
          }),
        )),
      ];
      await cancelAll(attacker);
      return answers;
    },
  },
];
