import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { findTriggerByToken } from "#projections/triggers/query.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { tablesWith } from "../tables.ts";
import { openManagement, type Management } from "./manage.ts";

/* Triggers of a workflow (spec: Workflow API): their secret is shown once, rotated, and stops at once. */

const BASE = "https://assist.example.com";

let m: Management;
beforeAll(async () => {
  m = await openManagement({ BASE_URL: BASE });
});

const list = async (workflow: string, query = "") =>
  (await m.person("GET", `/workflows/${workflow}/triggers${query}`)).body;
const create = (workflow: string, body?: unknown, headers?: Record<string, string>) =>
  m.person("POST", `/workflows/${workflow}/triggers`, body, headers);
const rotate = (workflow: string, trigger: string, headers?: Record<string, string>) =>
  m.person("POST", `/workflows/${workflow}/triggers/${trigger}/rotate`, undefined, headers);
const remove = (workflow: string, trigger: string) => m.person("DELETE", `/workflows/${workflow}/triggers/${trigger}`);
const inUse = (hook_token: string) => findTriggerByToken(m.service.db, hook_token);
const hashOf = (secret: string) => createHash("sha256").update(secret).digest("hex");
const without = ({ secret: _, ...rest }: any) => rest;

describe("a new trigger", () => {
  test("is shown with its secret, once", async () => {
    const workflow = await m.register();
    const { status, body } = await create(workflow.id, { name: " shop ", default_args: { currency: "EUR" } });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workflow_id: workflow.id,
      name: "shop",
      hook_token: expect.stringMatching(/^[A-Za-z0-9_-]{24}$/),
      hook_url: `${BASE}/api/workflows/hooks/${body.hook_token}`,
      secret: expect.stringMatching(/^whsec-svc-[A-Za-z0-9_-]{43}$/),
      secret_hint: body.secret.slice(-4),
      default_args: { currency: "EUR" },
      run_as: null,
      enabled: true,
      runs: 0,
      last_used_at: null,
      created_at: expect.stringMatching(/Z$/),
      rotated_at: null,
    });
    expect(await list(workflow.id)).toEqual({ data: [without(body)], total: 1, limit: 50, offset: 0 });
    expect((await m.person("GET", `/workflows/${workflow.id}`)).body.triggers).toBe(1);
  });

  test("needs nothing said of it", async () => {
    const { id } = await m.register();
    for (const body of [{}, { name: null, default_args: null, run_as: null }])
      expect((await create(id, body)).body).toMatchObject({ name: "", default_args: {}, run_as: null });
    const { data } = await list(id);
    expect(new Set(data.map(({ hook_token }: any) => hook_token)).size).toBe(2);
  });

  test("keeps its default arguments as they are", async () => {
    const { id } = await m.register();
    const default_args = { "": null, "a b": [1, -0.5, { deep: "\u0000\ud800\u{1f600}" }], toString: 1, 2: "two" };
    const { body } = await create(id, { default_args });
    expect(body.default_args).toEqual(default_args);
    expect((await list(id)).data[0].default_args).toEqual(default_args);
    expect(JSON.parse((await inUse(body.hook_token))!.default_args)).toEqual(default_args);
  });

  test("may act for the one who makes it", async () => {
    const { id } = await m.register();
    const { user } = (await m.person("GET", "/auth/me")).body;
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
  )("is not made of %s", async (_, body, code, param) => {
    const { id } = await m.register();
    expectRefusal(await create(id, body), 400, code, param);
    expect((await list(id)).total).toBe(0);
  });

  test("takes default arguments up to their limit", async () => {
    const { id } = await m.register();
    const default_args = { a: "x".repeat(65_536 - '{"a":""}'.length) };
    expect((await create(id, { default_args })).status).toBe(201);
  });

  test("is one of a hundred that are enabled", async () => {
    const { id } = await m.register();
    const first = await m.trigger(id);
    const used = await m.trigger(id);
    await m.start(await workflowOf(id), used.id);
    for (let n = 0; n < 98; n++) await m.trigger(id);
    expectRefusal(await create(id, {}), 409, "too_many_triggers", null);
    expect((await remove(id, used.id)).status).toBe(204);
    expect((await create(id, {})).status).toBe(201);
    expectRefusal(await create(id, {}), 409, "too_many_triggers", null);
    expect((await remove(id, first.id)).status).toBe(204);
    expect((await create(id, {})).status).toBe(201);
    const page = await list(id, "?limit=2&offset=1");
    expect([page.total, page.data.length]).toEqual([101, 2]);
  });
});

const workflowOf = async (id: string) => (await m.person("GET", `/workflows/${id}`)).body;

describe("a secret", () => {
  test("is in no table, in no event and in no other answer", async () => {
    const { id } = await m.register();
    const { secret: first, id: trigger, hook_token } = await m.trigger(id);
    const { secret: second } = (await rotate(id, trigger)).body;
    const answers = [
      await m.person("GET", `/workflows/${id}`),
      await m.person("GET", `/workflows/${id}/triggers`),
      await m.person("GET", "/events?limit=500"),
    ];
    for (const secret of [first, second]) {
      expect(await tablesWith(m.service.db, secret)).toEqual([]);
      expect(await tablesWith(m.service.db, secret.slice("whsec-svc-".length))).toEqual([]);
      for (const { text } of answers) expect(text).not.toContain(secret);
    }
    expect(await tablesWith(m.service.db, hashOf(second))).toEqual(expect.arrayContaining(["read.triggers"]));
    expect(await tablesWith(m.service.db, hook_token)).toEqual(expect.arrayContaining(["log.events"]));
  });

  test("is followed by another at once, and its address stays", async () => {
    const { id } = await m.register();
    const made = await m.trigger(id, { name: "turned" });
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

  test("is one, however many are asked for at the same moment", async () => {
    const { id } = await m.register();
    const { id: trigger, hook_token } = await m.trigger(id);
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(id, trigger)));
    const secrets = answers.map(({ body }) => body.secret);
    expect(new Set(secrets).size).toBe(10);
    expect(secrets.map(hashOf)).toContain((await inUse(hook_token))!.secret_hash);
  });

  test("of a disabled trigger is of no use", async () => {
    const workflow = await m.register();
    const { id: trigger } = await m.trigger(workflow.id);
    await m.start(workflow, trigger);
    await remove(workflow.id, trigger);
    expectRefusal(await rotate(workflow.id, trigger), 409, "trigger_disabled");
  });
});

describe("an idempotency key", () => {
  test("makes one trigger of two requests, and tells its secret once", async () => {
    const [one, other] = [await m.register(), await m.register()];
    const headers = { "idempotency-key": "trigger-once" };
    const first = await create(one.id, { name: "once" }, headers);
    const second = await create(one.id, { name: "once" }, headers);
    expect([second.status, second.body]).toEqual([201, without(first.body)]);
    expect((await list(one.id)).total).toBe(1);
    expectRefusal(await create(one.id, { name: "twice" }, headers), 422, "idempotency_key_reused");
    const elsewhere = await create(other.id, { name: "once" }, headers);
    expect(elsewhere.body).toMatchObject({ workflow_id: other.id, secret: expect.any(String) });
  });

  test("turns a secret once", async () => {
    const { id } = await m.register();
    const { id: trigger, hook_token } = await m.trigger(id);
    const headers = { "idempotency-key": "rotate-once" };
    const answers = await Promise.all([1, 2, 3].map(() => rotate(id, trigger, headers)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const secrets = answers.flatMap(({ body }) => body.secret ?? []);
    expect(secrets).toHaveLength(1);
    expect(await inUse(hook_token)).toMatchObject({ secret_hash: hashOf(secrets[0]) });
  });
});

describe("deleting", () => {
  test("removes a trigger that never ran, with its key", async () => {
    const { id } = await m.register();
    const trigger = await m.trigger(id, { name: "never" });
    expect((await remove(id, trigger.id)).status).toBe(204);
    expect((await list(id)).data).toEqual([]);
    expect(await inUse(trigger.hook_token)).toBeUndefined();
    expect(await m.service.db.query("select from log.keys where thing = $1", [`trigger-${trigger.id}`])).toEqual([]);
    for (const again of [await remove(id, trigger.id), await rotate(id, trigger.id)])
      expectRefusal(again, 404, "trigger_not_found", "trigger_id");
  });

  test("disables one that has run, as often as it is asked for", async () => {
    const workflow = await m.register();
    const trigger = await m.trigger(workflow.id);
    await m.start(workflow, trigger.id);
    const last_used_at = expect.stringMatching(/Z$/);
    expect((await list(workflow.id)).data).toMatchObject([{ runs: 1, last_used_at, enabled: true }]);
    for (let n = 0; n < 2; n++) expect((await remove(workflow.id, trigger.id)).status).toBe(204);
    expect((await list(workflow.id)).data).toMatchObject([{ id: trigger.id, runs: 1, last_used_at, enabled: false }]);
    expect(await inUse(trigger.hook_token)).toMatchObject({ enabled: false });
    expect((await workflowOf(workflow.id)).triggers).toBe(0);
  });

  test("knows that it has run when its runs are long forgotten", async () => {
    const workflow = await m.register();
    const trigger = await m.trigger(workflow.id);
    await m.start(workflow, trigger.id);
    await list(workflow.id);
    await m.service.db.query("delete from read.runs where workflow_id = $1", [workflow.id]);
    expect((await remove(workflow.id, trigger.id)).status).toBe(204);
    expect((await list(workflow.id)).data).toMatchObject([{ enabled: false, runs: 0 }]);
  });

  test("is done once of many at the same moment", async () => {
    const { id } = await m.register();
    const { id: trigger } = await m.trigger(id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(id, trigger)));
    for (const answer of answers.filter(({ status }) => status !== 204))
      expectRefusal(answer, 404, "trigger_not_found", "trigger_id");
    expect((await list(id)).total).toBe(0);
  });
});

describe("a hook", () => {
  const hook = async (token: string, secret: string) => {
    const response = await fetch(`${m.api}/workflows/hooks/${token}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: "{}",
    });
    return { status: response.status, body: (await response.json()) as any };
  };

  test("takes the secret that was given last, and no other, once that is answered", async () => {
    const { id } = await m.register();
    const { id: trigger, hook_token, secret: first } = await m.trigger(id);
    for (let n = 0, before = first; n < 5; n++) {
      const { secret } = (await rotate(id, trigger)).body;
      const answers = await Promise.all([hook(hook_token, before), hook(hook_token, secret)]);
      expect(answers.map(({ status, body }) => body.error?.code ?? status)).toEqual(["invalid_webhook_secret", 202]);
      before = secret;
    }
    expect((await list(id)).data).toMatchObject([{ runs: 5, last_used_at: expect.any(String) }]);
  });

  test("that is deleted while it is used loses no run that it was told of, and starts none afterwards", async () => {
    for (let n = 0; n < 5; n++) {
      const { id } = await m.register();
      const { id: trigger, hook_token, secret } = await m.trigger(id);
      const starting = Array.from({ length: 6 }, () => hook(hook_token, secret));
      const [removed, ...answers] = await Promise.all([remove(id, trigger), ...starting]);
      expect(removed.status).toBe(204);
      const started = answers.filter(({ status }) => status === 202).map(({ body }) => body.run_id);
      const refused = answers.flatMap(({ body }) => body.error?.code ?? []);
      expect(new Set(["trigger_not_found", ...refused]).size).toBe(1);
      expect((await hook(hook_token, secret)).body.error.code).toBe("trigger_not_found");
      const { data } = (await m.person("GET", `/workflows/${id}/runs?trigger_id=${trigger}`)).body;
      expect(data.map((run: any) => run.id).sort()).toEqual(started.sort());
    }
  });
});

test("a trigger is its workflow's alone", async () => {
  const [one, other] = [await m.register(), await m.register()];
  const { id } = await m.trigger(one.id);
  for (const wrong of [id, UNKNOWN, "x", "%00"]) {
    expectRefusal(await rotate(other.id, wrong), 404, "trigger_not_found", "trigger_id");
    expectRefusal(await remove(other.id, wrong), 404, "trigger_not_found", "trigger_id");
  }
  for (const wrong of [UNKNOWN, "x", "%00"]) {
    expectRefusal(await create(wrong, {}), 404, "workflow_not_found", "id");
    expectRefusal(await rotate(wrong, id), 404, "workflow_not_found", "id");
    expectRefusal(await m.person("GET", `/workflows/${wrong}/triggers`), 404, "workflow_not_found", "id");
  }
  expect((await list(one.id)).data).toMatchObject([{ id, enabled: true, rotated_at: null }]);
});

test("what a hook reads says what holds of the trigger and of its workflow", async () => {
  const project_id = await m.project();
  const workflow = await m.register({ project_id, envelope: { secrets: ["a"] } });
  const trigger = await m.trigger(workflow.id, { default_args: { a: 1 } });
  const expected = {
    trigger_id: trigger.id,
    workflow_id: workflow.id,
    organization_id: m.organization_id,
    secret_hash: hashOf(trigger.secret),
    run_as: null,
    default_args: '{"a":1}',
    enabled: true,
    workflow_enabled: true,
    project_id,
    definition_id: workflow.definition.id,
    definition_version: 1,
    envelope: workflow.envelope,
    parked: false,
  };
  expect(await inUse(trigger.hook_token)).toEqual(expected);
  await m.person("DELETE", `/workflows/${workflow.id}`);
  expect(await inUse(trigger.hook_token)).toEqual({ ...expected, workflow_enabled: false });
  expect(await inUse(`${trigger.hook_token}x`)).toBeUndefined();
  for (const [projection, stream] of [
    ["triggers", `trigger-${trigger.id}`],
    ["workflows", `workflow-${workflow.id}`],
  ]) {
    await m.service.db.query("insert into log.parked (projection, stream, position, error) values ($1, $2, 1, 'x')", [
      projection,
      stream,
    ]);
    expect(await inUse(trigger.hook_token)).toMatchObject({ parked: true });
    await m.service.db.query("delete from log.parked where stream = $1", [stream]);
  }
});
