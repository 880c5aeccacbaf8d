import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { findTriggersByToken } from "#projections/triggers/query.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { tablesWith } from "../tables.ts";
import { openWorkflows, WAITING, workflowSource } from "./harness.ts";

/* Triggers of a workflow (spec: Workflow API): their secret is shown once, can be rotated, and the old one stops working at once. */

const BASE = "https://assist.example.com";

const w = await openWorkflows({ BASE_URL: BASE });
const { home } = w;

const list = async (workflow: string, query = "") =>
  (await home.owner("GET", `/workflows/${workflow}/triggers${query}`)).body;
const create = (workflow: string, body?: unknown, headers?: Record<string, string>) =>
  home.owner("POST", `/workflows/${workflow}/triggers`, body, headers);
const rotate = (workflow: string, trigger: string, headers?: Record<string, string>) =>
  home.owner("POST", `/workflows/${workflow}/triggers/${trigger}/rotate`, undefined, headers);
const remove = (workflow: string, trigger: string) =>
  home.owner("DELETE", `/workflows/${workflow}/triggers/${trigger}`);
const inUse = async (hook_token: string) => (await findTriggersByToken(w.resources.db, [hook_token])).get(hook_token);
const hashOf = (secret: string) => createHash("sha256").update(secret).digest("hex");
const without = ({ secret: _, ...rest }: any) => rest;

describe("a new trigger", () => {
  test("shows its secret once", async () => {
    const workflow = await home.register();
    const { status, body } = await create(workflow.id, { name: " shop ", default_args: { currency: "EUR" } });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workflow_id: workflow.id,
      kind: "webhook",
      event: null,
      name: "shop",
      hook_token: expect.stringMatching(/^[A-Za-z0-9_-]{24}$/),
      hook_url: `${BASE}/api/workflows/hooks/${body.hook_token}`,
      secret: expect.stringMatching(/^whsec-svc-[A-Za-z0-9_-]{43}$/),
      secret_hint: body.secret.slice(-4),
      default_args: { currency: "EUR" },
      run_as: null,
      verify: null,
      headers: [],
      enabled: true,
      runs: 0,
      last_used_at: null,
      created_at: expect.stringMatching(/Z$/),
      rotated_at: null,
      set_by: expect.stringMatching(/^person:[0-9a-f-]{36}$/),
      schedule: null,
      args: null,
      jitter_seconds: null,
      overlap: null,
      missed: null,
      paused: null,
      next_times: null,
      last_fired: null,
    });
    expect(await list(workflow.id)).toEqual({ data: [without(body)], total: 1, limit: 50, offset: 0 });
    expect((await home.owner("GET", `/workflows/${workflow.id}`)).body.triggers).toBe(1);
  });

  test("requires no fields", async () => {
    const { id } = await home.register();
    for (const body of [{}, { name: null, default_args: null, run_as: null }])
      expect((await create(id, body)).body).toMatchObject({ name: "", default_args: {}, run_as: null });
    const { data } = await list(id);
    expect(new Set(data.map(({ hook_token }: any) => hook_token)).size).toBe(2);
  });

  test("stores its default arguments unchanged", async () => {
    const { id } = await home.register();
    const default_args = { "": null, "a b": [1, -0.5, { deep: "\u0000\ud800\u{1f600}" }], toString: 1, 2: "two" };
    const { body } = await create(id, { default_args });
    expect(body.default_args).toEqual(default_args);
    expect((await list(id)).data[0].default_args).toEqual(default_args);
    expect(JSON.parse((await inUse(body.hook_token))!.default_args)).toEqual(default_args);
  });

  test("may run as the person who creates it", async () => {
    const { id } = await home.register();
    const { user } = (await home.owner("GET", "/auth/me")).body;
    const run_as = { type: "person", id: user.id };
    expect((await create(id, { run_as })).body.run_as).toEqual(run_as);
    expect((await create(id, { run_as: { type: "service" } })).body.run_as).toEqual({ type: "service", id: null });
  });

  const refusals: [body: unknown, code: string | undefined, param: string | null][] = [
    [{ name: "n".repeat(201) }, undefined, "name"],
    [{ name: 5 }, undefined, "name"],
    [{ default_args: [] }, "invalid_default_args", "default_args"],
    [{ default_args: "{}" }, "invalid_default_args", "default_args"],
    [{ default_args: { a: "x".repeat(65_536) } }, "invalid_default_args", "default_args"],
    [{ run_as: { type: "person", id: UNKNOWN } }, "invalid_run_as", "run_as.id"],
    [{ run_as: { type: "person" } }, "invalid_run_as", "run_as.id"],
    [{ run_as: { type: "service", id: UNKNOWN } }, "invalid_run_as", "run_as.id"],
    [{ run_as: { type: "person", user: "x" } }, "invalid_run_as", "run_as.user"],
    [{ run_as: "service" }, "invalid_run_as", "run_as"],
    ['{"default_args":{"__proto__":{"a":1}}}', "invalid_json", null],
    [[], undefined, null],
    [undefined, undefined, null],
  ];
  test.each(
    refusals.map(([body, code, param]) => [String(JSON.stringify(body)).slice(0, 80), body, code, param] as const),
  )("is refused with %s", async (_, body, code, param) => {
    const { id } = await home.register();
    expectRefusal(await create(id, body), 400, code, param);
    expect((await list(id)).total).toBe(0);
  });

  test("is refused with default arguments that meta.args would refuse, but may leave missing ones to the caller", async () => {
    const args = {
      type: "object",
      properties: { n: { type: "integer" }, shop: { type: "string" } },
      required: ["n", "shop"],
      additionalProperties: false,
    };
    const { id } = await home.register(workflowSource("return 1;", "", { args }));
    expect((await create(id, { default_args: { n: 1 } })).status).toBe(201);
    const wrong = "/default_args/n";
    expectRefusal(await create(id, { default_args: { n: "1" } }), 400, "invalid_default_args", wrong);
    expectRefusal(await create(id, { default_args: { m: 1 } }), 400, "invalid_default_args", "/default_args/m");
  });

  test("may have default arguments up to the limit", async () => {
    const { id } = await home.register();
    const default_args = { a: "x".repeat(65_536 - '{"a":""}'.length) };
    expect((await create(id, { default_args })).status).toBe(201);
  });

  test("is refused if the workflow has a hundred enabled triggers", async () => {
    const { id } = await home.register();
    const first = await home.hook({ id });
    const used = await home.hook({ id });
    await home.call(used);
    for (let n = 0; n < 98; n++) await home.hook({ id });
    expectRefusal(await create(id, {}), 409, "too_many_triggers", null);
    expect((await remove(id, used.id)).status).toBe(204);
    const headers = { "idempotency-key": "the-last-one" };
    const last = await create(id, {}, headers);
    expect(last.status).toBe(201);
    expectRefusal(await create(id, {}), 409, "too_many_triggers", null);
    // a repetition finds the trigger that its first request created
    expect((await create(id, {}, headers)).body).toEqual(without(last.body));
    expect((await remove(id, first.id)).status).toBe(204);
    expect((await create(id, {})).status).toBe(201);
    const page = await list(id, "?limit=2&offset=1");
    expect([page.total, page.data.length]).toEqual([101, 2]);
  });

  test("is refused if the workflow has ten thousand triggers, most of them disabled", async () => {
    const { id } = await home.register();
    const { id: first } = await home.hook({ id });
    await w.resources.db.query(
      `insert into read.triggers select copy.*
       from read.triggers one, generate_series(1, 9999) n, jsonb_populate_record(null::read.triggers, to_jsonb(one) ||
         jsonb_build_object('id', gen_random_uuid(), 'n', n, 'enabled', false, 'hook_token', null)) copy
       where one.id = $1`,
      [first],
    );
    expectRefusal(await create(id, {}), 409, "too_many_triggers", null);
  });
});

const workflowOf = async (id: string) => (await home.owner("GET", `/workflows/${id}`)).body;

describe("the secret of a trigger", () => {
  test("appears in no table, event or other answer", async () => {
    const { id } = await home.register();
    const { secret: first, id: trigger, hook_token } = await home.hook({ id });
    const { secret: second } = (await rotate(id, trigger)).body;
    const answers = [
      await home.owner("GET", `/workflows/${id}`),
      await home.owner("GET", `/workflows/${id}/triggers`),
      await home.owner("GET", "/events?limit=500"),
    ];
    for (const secret of [first, second]) {
      expect(await tablesWith(w.resources.db, secret)).toEqual([]);
      expect(await tablesWith(w.resources.db, secret.slice("whsec-svc-".length))).toEqual([]);
      for (const { text } of answers) expect(text).not.toContain(secret);
    }
    expect(await tablesWith(w.resources.db, hashOf(second))).toEqual(expect.arrayContaining(["read.triggers"]));
    expect(await tablesWith(w.resources.db, hook_token)).toEqual(expect.arrayContaining(["log.events"]));
  });

  test("can be rotated without changing the hook URL", async () => {
    const { id } = await home.register();
    const made = await home.hook({ id }, { name: "turned" });
    expect(await inUse(made.hook_token)).toMatchObject({ secret_hash: hashOf(made.secret) });
    for (let n = 0, before = made.secret; n < 5; n++) {
      const { status, body } = await rotate(id, made.id);
      expect(await inUse(made.hook_token)).toMatchObject({ secret_hash: hashOf(body.secret) });
      expect([status, body.secret === before]).toEqual([200, false]);
      const rotated_at = expect.stringMatching(/Z$/);
      expect(without(body)).toEqual({ ...without(made), secret_hint: body.secret.slice(-4), rotated_at });
      before = body.secret;
    }
  });

  test("is rotated by a body whose verify is null, as by none", async () => {
    const { id } = await home.register();
    const made = await home.hook({ id });
    const path = `/workflows/${id}/triggers/${made.id}/rotate`;
    const { status, body } = await home.owner("POST", path, { verify: null });
    expect([status, await inUse(made.hook_token)]).toMatchObject([200, { secret_hash: hashOf(body.secret) }]);
  });

  test("is the same for all callers, however many rotations happen at the same moment", async () => {
    const { id } = await home.register();
    const { id: trigger, hook_token } = await home.hook({ id });
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(id, trigger)));
    const secrets = answers.map(({ body }) => body.secret);
    expect(new Set(secrets).size).toBe(10);
    expect(secrets.map(hashOf)).toContain((await inUse(hook_token))!.secret_hash);
  });

  test("is useless once the trigger is disabled", async () => {
    const workflow = await home.register();
    const trigger = await home.hook(workflow);
    await home.call(trigger);
    await remove(workflow.id, trigger.id);
    expectRefusal(await rotate(workflow.id, trigger.id), 409, "trigger_disabled");
  });
});

describe("an idempotency key", () => {
  test("lets two requests create one trigger, and shows its secret once", async () => {
    const [one, other] = [await home.register(), await home.register()];
    const headers = { "idempotency-key": "trigger-once" };
    const first = await create(one.id, { name: "once" }, headers);
    const second = await create(one.id, { name: "once" }, headers);
    expect([second.status, second.body]).toEqual([201, without(first.body)]);
    expect((await list(one.id)).total).toBe(1);
    expectRefusal(await create(one.id, { name: "twice" }, headers), 422, "idempotency_key_reused");
    const elsewhere = await create(other.id, { name: "once" }, headers);
    expect(elsewhere.body).toMatchObject({ workflow_id: other.id, secret: expect.any(String) });
  });

  test("lets two requests rotate a secret once", async () => {
    const { id } = await home.register();
    const { id: trigger, hook_token } = await home.hook({ id });
    const headers = { "idempotency-key": "rotate-once" };
    const answers = await Promise.all([1, 2, 3].map(() => rotate(id, trigger, headers)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const secrets = answers.flatMap(({ body }) => body.secret ?? []);
    expect(secrets).toHaveLength(1);
    expect(await inUse(hook_token)).toMatchObject({ secret_hash: hashOf(secrets[0]) });
  });
});

describe("deleting a trigger", () => {
  test("without runs removes it and its data key", async () => {
    const { id } = await home.register();
    const trigger = await home.hook({ id }, { name: "never" });
    expect((await remove(id, trigger.id)).status).toBe(204);
    expect((await list(id)).data).toEqual([]);
    expect(await inUse(trigger.hook_token)).toBeUndefined();
    expect(await w.resources.db.query("select from log.keys where thing = $1", [`trigger-${trigger.id}`])).toEqual([]);
    for (const again of [await remove(id, trigger.id), await rotate(id, trigger.id)])
      expectRefusal(again, 404, "trigger_not_found", "trigger_id");
  });

  test("with runs disables it, and can be repeated", async () => {
    const workflow = await home.register();
    const trigger = await home.hook({ id: workflow.id });
    await home.call(trigger);
    const last_used_at = expect.stringMatching(/Z$/);
    expect((await list(workflow.id)).data).toMatchObject([{ runs: 1, last_used_at, enabled: true }]);
    for (let n = 0; n < 2; n++) expect((await remove(workflow.id, trigger.id)).status).toBe(204);
    expect((await list(workflow.id)).data).toMatchObject([{ id: trigger.id, runs: 1, last_used_at, enabled: false }]);
    expect(await inUse(trigger.hook_token)).toMatchObject({ enabled: false });
    expect((await workflowOf(workflow.id)).triggers).toBe(0);
  });

  test("disables it even if its runs have been erased", async () => {
    const workflow = await home.register();
    const trigger = await home.hook({ id: workflow.id });
    await home.call(trigger);
    await list(workflow.id);
    await w.resources.db.query("delete from read.runs where workflow_id = $1", [workflow.id]);
    expect((await remove(workflow.id, trigger.id)).status).toBe(204);
    expect((await list(workflow.id)).data).toMatchObject([{ enabled: false, runs: 0 }]);
  });

  test("happens once if many requests arrive at the same moment", async () => {
    const { id } = await home.register();
    const { id: trigger } = await home.hook({ id });
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(id, trigger)));
    for (const answer of answers.filter(({ status }) => status !== 204))
      expectRefusal(answer, 404, "trigger_not_found", "trigger_id");
    expect((await list(id)).total).toBe(0);
  });
});

describe("a hook", () => {
  const hook = async (token: string, secret: string) => {
    const response = await fetch(`${`${w.url}/api`}/workflows/hooks/${token}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: "{}",
    });
    return { status: response.status, body: (await response.json()) as any };
  };

  test("accepts only the newest secret once its rotation is answered", async () => {
    const { id } = await home.register();
    const { id: trigger, hook_token, secret: first } = await home.hook({ id });
    for (let n = 0, before = first; n < 5; n++) {
      const { secret } = (await rotate(id, trigger)).body;
      const answers = await Promise.all([hook(hook_token, before), hook(hook_token, secret)]);
      expect(answers.map(({ status, body }) => body.error?.code ?? status)).toEqual(["invalid_webhook_secret", 202]);
      before = secret;
    }
    expect((await list(id)).data).toMatchObject([{ runs: 5, last_used_at: expect.any(String) }]);
  });

  test("that is deleted during use keeps every run that it answered, and starts none afterwards", async () => {
    for (let n = 0; n < 5; n++) {
      const { id } = await home.register();
      const { id: trigger, hook_token, secret } = await home.hook({ id });
      const starting = Array.from({ length: 6 }, () => hook(hook_token, secret));
      const [removed, ...answers] = await Promise.all([remove(id, trigger), ...starting]);
      expect(removed.status).toBe(204);
      const started = answers.filter(({ status }) => status === 202).map(({ body }) => body.run_id);
      const refused = answers.flatMap(({ body }) => body.error?.code ?? []);
      expect(new Set(["trigger_not_found", ...refused]).size).toBe(1);
      expect((await hook(hook_token, secret)).body.error.code).toBe("trigger_not_found");
      const { data } = (await home.owner("GET", `/workflows/${id}/runs?trigger_id=${trigger}`)).body;
      expect(data.map((run: any) => run.id).sort()).toEqual(started.sort());
    }
  });
});

test("a trigger is not found below another workflow", async () => {
  const [one, other] = [await home.register(), await home.register()];
  const { id } = await home.hook({ id: one.id });
  for (const wrong of [id, UNKNOWN, "x", "%00"]) {
    expectRefusal(await rotate(other.id, wrong), 404, "trigger_not_found", "trigger_id");
    expectRefusal(await remove(other.id, wrong), 404, "trigger_not_found", "trigger_id");
  }
  for (const wrong of [UNKNOWN, "x", "%00"]) {
    expectRefusal(await create(wrong, {}), 404, "workflow_not_found", "id");
    expectRefusal(await rotate(wrong, id), 404, "workflow_not_found", "id");
    expectRefusal(await home.owner("GET", `/workflows/${wrong}/triggers`), 404, "workflow_not_found", "id");
  }
  expect((await list(one.id)).data).toMatchObject([{ id, enabled: true, rotated_at: null }]);
});

test("the row that a hook reads contains the current settings of the trigger and its workflow", async () => {
  const { id: project_id } = await home.project();
  const workflow = await home.register(WAITING, {}, { project_id, envelope: { secrets: ["a"] } });
  const trigger = await home.hook({ id: workflow.id }, { default_args: { a: 1 } });
  const expected = {
    trigger_id: trigger.id,
    workflow_id: workflow.id,
    organization_id: home.organization_id,
    secret_hash: hashOf(trigger.secret),
    event: null,
    run_as: null,
    default_args: '{"a":1}',
    verify: null,
    sealed_secret: null,
    headers: [],
    set_by: trigger.set_by,
    enabled: true,
    workflow_enabled: true,
    project_id,
    definition_id: workflow.definition.id,
    definition_version: 1,
    envelope: expect.objectContaining({ secrets: ["a"] }),
    parked: false,
  };
  expect(await inUse(trigger.hook_token)).toEqual(expected);
  await home.owner("DELETE", `/workflows/${workflow.id}`);
  expect(await inUse(trigger.hook_token)).toEqual({ ...expected, workflow_enabled: false });
  expect(await inUse(`${trigger.hook_token}x`)).toBeUndefined();
  for (const [projection, stream] of [
    ["triggers", `trigger-${trigger.id}`],
    ["workflows", `workflow-${workflow.id}`],
  ]) {
    await w.resources.db.query("insert into log.parked (projection, stream, position, error) values ($1, $2, 1, 'x')", [
      projection,
      stream,
    ]);
    expect(await inUse(trigger.hook_token)).toMatchObject({ parked: true });
    await w.resources.db.query("delete from log.parked where stream = $1", [stream]);
  }
});
