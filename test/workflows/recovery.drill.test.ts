import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { openStepSite, openTenant, workflowSource } from "./harness.ts";

/* Several processes work on the runs of one deployment, and are killed while they do. */

type Process = Awaited<ReturnType<typeof startProcess>>;

const site = await openStepSite();
const deployment = await testDeployment();
const env = { PRIVATE_FETCH_HOSTS: site.host };
const startServices = () => startProcess("services", deployment, env);
const services: Process[] = await Promise.all([startServices(), startServices(), startServices()]);
const platform = await startPlatform({ roles: ["http", "projections"], deployment, env });
const twin = (await startPlatform({ roles: ["http"], deployment, env })).url;
// the owner of the organization needs an approver
const home = await openTenant(platform.url, await platform.organization("Home"));

/** What each run does: a step that is held, two after it, a wait, a person, and one more. */
const source = () =>
  workflowSource(
    `await ctx.runStep("visit", { path: "/hold/all?" + args.n });
    const many = await ctx.runStepMany("visit", [1, 2].map((m) => ({ path: "/many?" + args.n + "&" + m })));
    await ctx.sleep(200);
    const { approved } = await ctx.awaitApproval("boss", { title: "Go on with " + args.n + "?" });
    const last = await ctx.runStep("visit", { path: "/last?" + args.n });
    return { n: args.n, approved, many: many.length, last: last > 0 };`,
    `visit: async ({ path }, ctx) => (await (await ctx.fetch("${site.url}" + path, { method: "POST" })).json()).nth`,
  );

/** Follows the events of a run after `last` until `enough` returns true: their ids and names. */
async function follow(url: string, run: string, last: number, enough: (frames: [number, string][]) => boolean) {
  const cut = new AbortController();
  const response = await fetch(`${url}/api/workflows/runs/${run}/events`, {
    headers: { authorization: `Bearer ${home.token}`, "last-event-id": String(last) },
    signal: cut.signal,
  });
  let text = "";
  const frames = (): [number, string][] =>
    [...text.matchAll(/^id: (\d+)\nevent: (.+)$/gm)].map(([, id, event]) => [Number(id), event!]);
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (enough(frames())) break;
  }
  cut.abort();
  return frames();
}

test("runs continue if one of three workers is killed during their steps, and if all are killed while they wait", async () => {
  const workflow = await home.register(source(), { egress: [site.host], concurrency: null });
  const all = Array.from({ length: 12 }, (_, n) => n);
  const runs = await Promise.all(all.map((n) => home.start(workflow, { n })));
  for (const n of all) await site.requested(`/hold/all?${n}`);
  const followed = follow(home.url, runs[0]!, 0, (frames) => frames.some(([, name]) => name === "approval.requested"));

  const [first, ...others] = services;
  first!.kill();
  await sleep(300);
  for (const n of all) site.release(`/hold/all?${n}`);
  for (const run of runs)
    await home.until(run, ({ waiting_on }) => waiting_on.some(({ type }: any) => type === "approval"));

  for (const other of others) other.kill();
  const next = await startServices();
  const approvals = await Promise.all(runs.map(async (run) => (await home.pending(run))[0]));
  const answers = await Promise.all(
    approvals.map((approval, n) => home.decide(approval, n % 2 === 0 ? "approve" : "reject")),
  );
  expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
  const records = await Promise.all(runs.map((run) => home.untilOver(run)));
  expect(records.map(({ status, result }) => [status, result])).toEqual(
    all.map((n) => ["completed", { n, approved: n % 2 === 0, many: 2, last: true }]),
  );

  // what was lost was tried again, and nothing else was done twice
  const attempts = records.flatMap(({ steps }) => steps.flatMap((step: any) => step.attempts));
  const lost = attempts.filter(({ status }: any) => status === "lost").length;
  expect(lost).toBeGreaterThan(0);
  expect([attempts.length, site.requests.length]).toEqual([4 * all.length + lost, 4 * all.length + lost]);
  const keys = new Set(site.requests.map(({ headers }) => headers["idempotency-key"]));
  expect(keys.size).toBe(4 * all.length);

  // a client that was cut off continues at another process and misses nothing
  const before = await followed;
  const rest = await follow(twin, runs[0]!, before.at(-1)![0], (frames) => frames.at(-1)?.[1] === "run.completed");
  const whole = await follow(twin, runs[0]!, 0, (frames) => frames.at(-1)?.[1] === "run.completed");
  expect([...before, ...rest]).toEqual(whole);
  next.kill();
});
