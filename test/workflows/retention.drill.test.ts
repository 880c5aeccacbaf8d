import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { startProcess } from "../faults/processes.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { tablesWith } from "../tables.ts";
import { openTenant, SOON, workflowSource } from "./harness.ts";

/* A run is destroyed when its time has come, with all that it has made. */

const CANARY = "canary-5e1f0b7c2a9d4836-of-a-run";
const DAYS = 8;
/** A process whose clock is so many days ahead. */
const LATER = `--import=data:text/javascript,${encodeURIComponent(`
  const Real = Date, ahead = ${DAYS} * 86400000;
  globalThis.Date = class extends Real {
    constructor(...args) { args.length > 0 ? super(...args) : super(Real.now() + ahead); }
    static now() { return Real.now() + ahead; }
  };
`)}`;

test("after its retention period a run is gone with its threads, rows, keys and blobs, and no table contains anything of it", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ roles: ["http", "projections"], deployment });
  const { db, log } = platform.resources;
  const now = await startProcess("services", deployment);
  const home = await openTenant(platform.url, await platform.organization("Home"));
  const { id: agent_id } = await home.made(home.owner("POST", "/agents", { name: "A", model: "offline/echo" }));
  const source = workflowSource(
    `ctx.log("about", args.word);
    const { comment, data } = await ctx.awaitApproval(args.word, { title: args.word, body: args.word });
    const used = await ctx.runStep("use", { word: args.word, agent_id: args.agent_id });
    const tried = await ctx.runStep("fail", { word: args.word }, { onError: "return" });
    return { comment, data, used, tried, long: args.word.repeat(2_000) };`,
    `use: async ({ word, agent_id }, ctx) => {
      ctx.log(word);
      const chat = await ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: word }] });
      const agent = await ctx.agents.run({ agent_id, input: word });
      return { threads: [chat.thread_id, agent.thread_id], said: [chat.content, agent.output_text], long: word.repeat(2_000) };
    },
    fail: ({ word }) => { throw new NonRetryableError(word); }`,
  );
  const workflow = await home.register(source, { retention_days: 7 });
  const { hook_token, secret } = await home.hook(workflow);
  const payload = { word: CANARY, agent_id, long: CANARY.repeat(2_000) };
  const asked = home.clientAt(secret)("POST", `/workflows/hooks/${hook_token}`, payload, {
    "x-svc-external-user": CANARY,
  });
  const { run_id: run } = await home.made(asked);
  const kept = await home.start(await home.register(source, { retention_days: 90 }), { word: "kept", agent_id });
  for (const [one, comment] of [
    [run, CANARY],
    [kept, "kept"],
  ] as const) {
    const [approval] = await home.pending(one);
    const decision = { decision: "approve", comment, data: { word: comment } };
    expect((await home.decide(approval, decision)).status).toBe(200);
  }
  const { status, result } = await home.untilOver(run);
  expect([status, result.used.said, result.tried.ok]).toEqual(["completed", [CANARY, CANARY], false]);
  await home.untilOver(kept);

  const streams = [streamName("run", run), ...result.used.threads.map((id: string) => streamName("thread", id))];
  const keysOf = () => db.query<{ thing: string }>("select thing from log.keys where thing = any ($1)", [streams]);
  const blobs = () =>
    readdirSync(join(deployment.folder, "blobs"), { recursive: true, encoding: "utf8" }).filter((path) =>
      streams.some((stream) => path.includes(stream)),
    );
  expect((await keysOf()).map(({ thing }) => thing)).toContain(streamName("run", run));
  expect(await tablesWith(db, CANARY)).toEqual(expect.arrayContaining(["read.runs", "read.approvals", "read.turns"]));
  expect(blobs()).not.toEqual([]);

  now.kill();
  const inDays = { NODE_OPTIONS: LATER, CLOCK_OFFSET_SECONDS: String((DAYS + 1) * 86_400) };
  await startProcess("services", deployment, inDays);
  const last = async (stream: string) => (await log.read(stream)).at(-1)!.type;
  await expect.poll(() => last(streamName("run", run)), SOON).toBe("RunForgotten");
  expect(await Promise.all(streams.slice(1).map(last))).toEqual(["ThreadDeleted", "ThreadDeleted"]);
  for (const path of [`/runs/${run}`, `/runs/${run}/approvals`, `/runs/${run}/events`]) {
    const { status: gone, body } = await home.owner("GET", `/workflows${path}`);
    expect([gone, body.error.code]).toEqual([404, "run_not_found"]);
  }
  expect((await home.owner("GET", `/workflows/${workflow.id}/runs`)).body.data).toEqual([]);
  expect(await keysOf()).toEqual([]);
  await expect.poll(blobs, SOON).toEqual([]);
  const shown = (await Promise.all(streams.map((stream) => log.read(stream)))).flat();
  expect(shown.filter(({ personal }) => personal !== undefined)).toEqual([]);

  await expect.poll(() => tablesWith(db, CANARY), SOON).toEqual([]);
  expect((await home.read(kept)).result).toMatchObject({ comment: "kept", used: { said: ["kept", "kept"] } });
});
