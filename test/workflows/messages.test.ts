import { describe, expect, test } from "vitest";
import { code, openWorkflows, workflowSource, type Client } from "./harness.ts";

/* Runs that wait for events, which clients send. */

const w = await openWorkflows();
const { home } = w;

const WAITS = workflowSource("return ctx.waitForEvent(args.name, args.options);");
let names = 0;
const newName = () => `paid ${++names}`;
const post = (body: object, by: Client = home.owner, headers?: Record<string, string>) =>
  by("POST", "/workflows/events", body, headers);
const waiting = (run: string) =>
  home.until(run, ({ waiting_on }) => waiting_on.some(({ type }: any) => type === "event"));

/** Runs that wait for the name, each with its own options. */
async function startWaiting(name: string, ...options: object[]): Promise<string[]> {
  const workflow = await home.register(WAITS);
  const runs = await Promise.all(options.map((one) => home.start(workflow, { name, options: one })));
  for (const run of runs) await waiting(run);
  return runs;
}

describe("an event", () => {
  test("reaches every run that waits for its name with a matching filter, and nothing that waits later", async () => {
    const name = newName();
    const [a, b, c] = await startWaiting(name, { match: { order: 7 } }, {}, { match: { order: 8 } });
    const [other] = await startWaiting(newName(), {});
    expect((await waiting(a!)).waiting_on).toMatchObject([{ type: "event", name, until: null }]);
    const data = { order: 7, lines: [1, { two: "2" }] };
    const { status, body } = await post({ name, data });
    expect([status, body]).toEqual([200, { id: expect.any(String), reached: 2 }]);
    for (const run of [a!, b!])
      expect((await home.untilOver(run)).result).toEqual({ status: "received", event_id: body.id, data });
    for (const run of [c!, other!]) expect((await home.read(run)).status).toBe("running");
    const [late] = await startWaiting(name, {});
    expect((await home.read(late!)).status).toBe("running");
    expect((await post({ name, data: { order: 8 } })).body.reached).toBe(2);
    expect((await post({ name })).body.reached).toBe(0);
    await home.cancel(other!);
  });

  test("is delivered once under its id, even for repetitions by others, and under an Idempotency-Key", async () => {
    const name = newName();
    const loop = workflowSource(`const first = await ctx.waitForEvent(args.name);
const second = await ctx.waitForEvent(args.name, { key: "2", timeout: "1d" });
return [first.data.n, second.data.n];`);
    const run = await home.start(await home.register(loop), { name });
    await waiting(run);
    const body = { name, data: { n: 1 }, id: `delivery-${name.replace(" ", "-")}` };
    const first = await post(body);
    expect(first.body.reached).toBe(1);
    await home.until(run, ({ waiting_on }) => waiting_on.some(({ until }: any) => until !== null));
    expect((await post(body, home.key)).body).toEqual(first.body);
    const other = await post({ ...body, data: { n: 3 } });
    expect([...code(other), other.body.error.param]).toEqual([422, "idempotency_key_reused", "id"]);
    expect((await post({ name, data: { n: 2 } }, home.key, { "idempotency-key": "k1" })).body.reached).toBe(1);
    expect((await post({ name, data: { n: 2 } }, home.key, { "idempotency-key": "k1" })).body.reached).toBe(1);
    expect((await home.untilOver(run)).result).toEqual([1, 2]);
  });

  test("reaches a wait once if it is sent many times at once", async () => {
    const name = newName();
    const [run] = await startWaiting(name, {});
    const answers = await Promise.all(Array.from({ length: 5 }, (_, n) => post({ name, data: { n } })));
    expect(answers.map(({ body }) => body.reached).toSorted()).toEqual([0, 0, 0, 0, 1]);
    expect((await home.untilOver(run!)).result.data.n).toBe(answers.findIndex(({ body }) => body.reached === 1));
  });

  test("may have up to 256 KiB", async () => {
    const name = newName();
    const [run] = await startWaiting(name, {});
    expect(code(await post({ name, data: { text: "x".repeat(262_144) } }))).toEqual([413, "payload_too_large"]);
    const text = "x".repeat(262_000);
    expect((await post({ name, data: { text } })).body.reached).toBe(1);
    expect((await home.untilOver(run!)).result.data).toEqual({ text });
  });

  test("reaches no run of another organization, and with a project's key no run of another project", async () => {
    const name = newName();
    const project = await home.project();
    const inProject = await home.start(await home.register(WAITS, {}, { project_id: project.id }), { name });
    const [outside] = await startWaiting(name, {});
    await waiting(inProject);
    const stranger = await w.join("Elsewhere");
    expect((await post({ name }, stranger.owner)).body.reached).toBe(0);
    expect((await post({ name }, project.key)).body.reached).toBe(1);
    expect((await home.untilOver(inProject)).status).toBe("completed");
    expect((await home.read(outside!)).status).toBe("running");
    const viewer = await home.member("viewer");
    expect((await post({ name }, viewer.call)).status).toBe(403);
    await home.cancel(outside!);
  });
});

test("an event does not reach a wait that has timed out", async () => {
  const name = newName();
  const run = await home.start(await home.register(WAITS), { name, options: { timeout: 30 } });
  const { status, result } = await home.untilOver(run);
  expect([status, result]).toEqual(["completed", { status: "timed_out" }]);
  expect((await post({ name })).body.reached).toBe(0);
});

describe("an event for a single run", () => {
  test("reaches it, and is refused with the field if several match: none receives it, and all continue to wait", async () => {
    const name = newName();
    const [a, b] = await startWaiting(name, { match: { order: 1 } }, {});
    const refused = await post({ name, data: { order: 1 }, to: "one", id: "one-1" });
    expect(code(refused)).toEqual([409, "event_matches_several_runs"]);
    expect(refused.body.error).toMatchObject({ param: "to", message: expect.stringContaining("to: 2 runs wait") });
    expect(code(await post({ name, data: { order: 1 }, to: "one", id: "one-1" }))).toEqual(code(refused));
    for (const run of [a!, b!]) expect((await home.read(run)).status).toBe("running");
    expect((await post({ name, data: { order: 2 }, to: "one" })).body.reached).toBe(1);
    expect((await home.untilOver(b!)).result.data).toEqual({ order: 2 });
    expect((await post({ name, data: { order: 1 }, to: "one" })).body.reached).toBe(1);
    expect((await home.untilOver(a!)).status).toBe("completed");
    const { status, body } = await post({ name, to: "some" });
    expect([status, body.error.param]).toEqual([400, "to"]);
  });
});

describe("a webhook that sends an event", () => {
  const hookOf = async (more: object) => home.hook(await home.register(WAITS), more);

  test("reaches the waiting runs once for a repeated delivery, and starts none", async () => {
    const name = newName();
    const hook = await hookOf({ event: name, default_args: { from: "shop" } });
    expect(hook).toMatchObject({ event: name, kind: "webhook" });
    const [run] = await startWaiting(name, { match: { order: 3 } });
    const deliver = () =>
      home.caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, { order: 3 }, { "webhook-id": "d-1" });
    const { status, body } = await deliver();
    expect([status, body]).toEqual([202, { id: expect.any(String), reached: 1 }]);
    expect((await home.untilOver(run!)).result.data).toEqual({ from: "shop", order: 3 });
    expect((await deliver()).body).toEqual(body);
    expect(await home.call(hook, { order: 4 })).toMatchObject({ reached: 0 });
  });

  test("has no fields of triggers that start runs, and requires its secret", async () => {
    const { id } = await home.register(WAITS);
    const create = (body: object) => home.owner("POST", `/workflows/${id}/triggers`, { name: "T", ...body });
    const refused = async (body: object) => {
      const { status, body: answer } = await create(body);
      return [status, answer.error.code, answer.error.param];
    };
    expect(await refused({ event: " " })).toEqual([400, "invalid_event", "event"]);
    expect(await refused({ event: "a", headers: ["x-a"] })).toEqual([400, "invalid_headers", "headers"]);
    expect(await refused({ event: "a", schedule: { cron: "@daily" } })).toEqual([400, "invalid_event", "event"]);
    const hook = await hookOf({ event: newName() });
    const { status } = await home.clientAt("whsec-svc-wrong")("POST", `/workflows/hooks/${hook.hook_token}`, {});
    expect(status).toBe(401);
  });
});
