import { describe, expect, test } from "vitest";
import { Envelope } from "#events/workflow.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { toolSource } from "../tools/desk.ts";
import { openWorkflows, WAITING, waitingWithSecrets } from "./harness.ts";

/* Registering, reading, changing and disabling workflows (spec: Workflow API). */

const w = await openWorkflows();
const { home } = w;
const read = async (id: string) => (await home.owner("GET", `/workflows/${id}`)).body;
const patch = (id: string, body: unknown) => home.owner("PATCH", `/workflows/${id}`, body);
const DEFAULTS = Envelope.parse({
  approvals: {
    default_expiry_s: 604_800,
    allow_api_key: true,
    allow_api_key_when_restricted: false,
    self_approval: true,
  },
});

describe("a registered workflow", () => {
  test("has a default for every omitted field", async () => {
    const definition = await home.define(WAITING, { name: "refund" });
    const { status, body } = await home.owner("POST", "/workflows", { definition_id: definition.id });
    expect(status).toBe(201);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "refund",
      description: "",
      project_id: null,
      definition: { id: definition.id, name: "refund", version: 1, latest_version: 1 },
      envelope: DEFAULTS,
      envelope_version: 1,
      enabled: true,
      triggers: 0,
      runs: { live: 0, total: 0 },
      created_by: expect.stringMatching(/^person:/),
      created_at: time,
      updated_at: time,
      warnings: [],
    });
    expect(await read(body.id)).toEqual(body);
    const { warnings: _, ...listed } = body;
    expect((await home.owner("GET", "/workflows?limit=500")).body).toMatchObject({
      data: expect.arrayContaining([listed]),
      limit: 500,
      offset: 0,
    });
  });

  test("has the envelope that was sent", async () => {
    const { id: project_id } = await home.project();
    const { user } = (await home.owner("GET", "/auth/me")).body;
    const envelope = {
      run_as: { type: "person", id: user.id },
      secrets: ["shop_key"],
      tools: [],
      collections: ["policies"],
      agents: [UNKNOWN],
      models: ["offline/echo"],
      egress: ["api.example.com", "*.example.org", "localhost:8080"],
      limits: {
        max_steps: 10_000,
        max_parallel: 50,
        run_ttl_s: 60,
        step_timeout_s: 30,
        max_result_bytes: 1_024,
      },
      concurrency: { max_runs: 50, key: "/customer" },
      approvals: { default_expiry_s: 60, allow_api_key: false },
      retention_days: 3_650,
    };
    const sent = { name: " Pays \u0000\ud800 back ", description: "\u202e\u{1f600}", project_id, envelope };
    const body = await home.register(WAITING, {}, sent);
    expect(body).toMatchObject({ ...sent, name: "Pays \u0000\ud800 back" });
    expect(await read(body.id)).toEqual(body);
  });

  test("uses the definition version that was sent", async () => {
    const { id } = await home.define();
    await home.owner("PATCH", `/definitions/${id}`, { source: `${WAITING} //2` });
    const definition_id = id.toUpperCase();
    const one = await home.register(WAITING, {}, { definition_id, definition_version: 1 });
    expect(one.definition).toMatchObject({ id, version: 1, latest_version: 2 });
    expect((await home.register(WAITING, {}, { definition_id })).definition).toMatchObject({ version: 2 });
    expect((await home.register(WAITING, {}, { definition_id, definition_version: null })).definition).toMatchObject({
      version: 2,
    });
    for (const definition_version of [3, 2 ** 31 - 1])
      expectRefusal(
        await home.owner("POST", "/workflows", { definition_id, definition_version }),
        400,
        "unknown_version",
        "definition_version",
      );
  });

  test("has a warning for each secret that its steps read without permission of the envelope", async () => {
    const { id: definition_id } = await home.define(waitingWithSecrets("shop_key", "mail_key"));
    const body = await home.register(WAITING, {}, { definition_id, envelope: { secrets: ["shop_key"] } });
    expect(body.warnings).toEqual([
      {
        code: "secret_not_allowed",
        message: expect.stringContaining("mail_key"),
        param: "envelope.secrets",
      },
    ]);
    expect((await read(body.id)).warnings).toHaveLength(1);
    const both = await patch(body.id, { envelope: { secrets: ["shop_key", "mail_key"] } });
    expect(both.body.warnings).toEqual([]);
    await home.owner("PATCH", `/definitions/${definition_id}`, { source: waitingWithSecrets("third_key") });
    expect((await read(body.id)).warnings).toEqual([]);
    expect((await patch(body.id, { definition_version: null })).body.warnings).toMatchObject([
      { message: expect.stringContaining("third_key") },
    ]);
  });

  test("counts its live runs and all its runs", async () => {
    const workflow = await home.register();
    const [run] = [await home.start(workflow), await home.start(workflow)];
    expect((await read(workflow.id)).runs).toEqual({ live: 2, total: 2 });
    await home.made(home.cancel(run));
    expect((await read(workflow.id)).runs).toEqual({ live: 1, total: 2 });
  });
});

describe("registering a workflow is refused", () => {
  const post = async (body: unknown) => home.owner("POST", "/workflows", body);

  test("for an unknown definition and for a tool", async () => {
    for (const definition_id of [UNKNOWN, "x", "", "\u0000"])
      expectRefusal(await post({ definition_id }), 404, "definition_not_found", "definition_id");
    const { id: tool } = await home.define(toolSource("return 1"), { type: "tool", name: "a_tool" });
    const refused = await post({ definition_id: tool });
    expectRefusal(refused, 400, "invalid_definition", "definition_id");
    expect(refused.body.error.message).toContain("a_tool is a tool");
    for (const body of [undefined, {}, [], { definition_id: 5 }]) expect((await post(body)).status).toBe(400);
  });

  const refusals: [wrong: object, code: string | undefined, param: string, message?: RegExp][] = [
    [{ name: "" }, undefined, "name"],
    [{ name: "  " }, undefined, "name"],
    [{ name: "n".repeat(201) }, undefined, "name"],
    [{ description: "d".repeat(4_001) }, undefined, "description"],
    [{ project_id: "x" }, undefined, "project_id"],
    [{ project_id: UNKNOWN }, "unknown_project", "project_id"],
    [{ definition_version: 0 }, undefined, "definition_version"],
    [{ definition_version: 2 ** 31 }, undefined, "definition_version"],
    [{ definition_version: "1" }, undefined, "definition_version"],
    [{ envelope: [] }, "invalid_envelope", "envelope"],
    [{ envelope: { secret: ["a"] } }, "invalid_envelope", "envelope.secret", /there is no such field/],
    [{ envelope: { integrations: [] } }, "invalid_envelope", "envelope.integrations"],
    [{ envelope: { limits: { steps: 5 } } }, "invalid_envelope", "envelope.limits.steps", /no such field/],
    [{ envelope: { secrets: "a" } }, "invalid_envelope", "envelope.secrets"],
    [{ envelope: { secrets: ["a b"] } }, "invalid_envelope", "envelope.secrets[0]"],
    [{ envelope: { tools: ["a\u0000"] } }, "invalid_envelope", "envelope.tools[0]", /does not show/],
    [{ envelope: { models: ["\ud800"] } }, "invalid_envelope", "envelope.models[0]"],
    [{ envelope: { models: Array.from({ length: 101 }, () => "a") } }, "invalid_envelope", "envelope.models"],
    [{ envelope: { egress: ["https://example.com"] } }, "invalid_envelope", "envelope.egress[0]", /host name/],
    [{ envelope: { egress: ["*"] } }, "invalid_envelope", "envelope.egress[0]"],
    [{ envelope: { limits: { max_steps: 10_001 } } }, "invalid_envelope", "envelope.limits.max_steps"],
    [{ envelope: { limits: { run_ttl_s: 1e18 } } }, "invalid_envelope", "envelope.limits.run_ttl_s"],
    [{ envelope: { limits: { max_parallel: 1.5 } } }, "invalid_envelope", "envelope.limits.max_parallel"],
    [{ envelope: { concurrency: {} } }, "invalid_envelope", "envelope.concurrency.max_runs"],
    [{ envelope: { concurrency: { max_runs: 5, key: "a" } } }, "invalid_envelope", "envelope.concurrency.key"],
    [{ envelope: { approvals: { default_expiry_s: 0 } } }, "invalid_envelope", "envelope.approvals.default_expiry_s"],
    [{ envelope: { retention_days: 0 } }, "invalid_envelope", "envelope.retention_days"],
    [{ envelope: { run_as: { type: "robot" } } }, "invalid_run_as", "envelope.run_as.type"],
    [{ envelope: { run_as: { type: "person" } } }, "invalid_run_as", "envelope.run_as.id"],
    [{ envelope: { run_as: { type: "person", id: UNKNOWN } } }, "invalid_run_as", "envelope.run_as.id", /yourself/],
    [{ envelope: { run_as: { type: "service", id: UNKNOWN } } }, "invalid_run_as", "envelope.run_as.id"],
  ];
  test.each(refusals.map((refusal) => [JSON.stringify(refusal[0]).slice(0, 80), ...refusal] as const))(
    "with %s",
    async (_, wrong, code, param, message = /\S/) => {
      const { id: definition_id } = await home.define();
      const refused = await post({ definition_id, ...wrong });
      expectRefusal(refused, 400, code, param);
      expect(refused.body.error.message).toMatch(message);
      const workflow = await home.register();
      expectRefusal(await patch(workflow.id, wrong), 400, code, param);
      expect(await read(workflow.id)).toEqual(workflow);
    },
  );
});

describe("a change of a workflow", () => {
  test("keeps omitted fields, also inside the envelope", async () => {
    const envelope = { secrets: ["a"], limits: { max_steps: 7 }, concurrency: { max_runs: 2, key: "/customer" } };
    const workflow = await home.register(WAITING, {}, { name: "before", description: "text", envelope });
    const edited = await patch(workflow.id, { envelope: { limits: { max_parallel: 3 }, egress: ["example.com"] } });
    expect(edited.status).toBe(200);
    expect(edited.body).toEqual({
      ...workflow,
      updated_at: expect.any(String),
      envelope_version: 2,
      envelope: {
        ...workflow.envelope,
        egress: ["example.com"],
        limits: { ...workflow.envelope.limits, max_parallel: 3 },
      },
    });
    const { id: project_id } = await home.project();
    const renamed = (await patch(workflow.id, { name: "after", project_id })).body;
    expect(renamed).toMatchObject({ name: "after", description: "text", project_id, envelope_version: 2 });
    expectRefusal(await patch(workflow.id, { project_id: UNKNOWN }), 400, "unknown_project", "project_id");
    expect((await patch(workflow.id, {})).body).toEqual(renamed);
  });

  test("resets a field with null to its default", async () => {
    const envelope = { secrets: ["a"], tools: [], limits: { max_steps: 7, max_parallel: 3 }, retention_days: 1 };
    const { id } = await home.register(
      WAITING,
      {},
      { name: "n", description: "text", project_id: (await home.project()).id, envelope },
    );
    expect((await patch(id, { envelope: { limits: { max_steps: null }, tools: null } })).body.envelope).toEqual({
      ...DEFAULTS,
      secrets: ["a"],
      limits: { ...DEFAULTS.limits, max_parallel: 3 },
      retention_days: 1,
    });
    await patch(id, { enabled: false });
    const nothing = { name: null, description: null, project_id: null, envelope: null, enabled: null };
    expect((await patch(id, nothing)).body).toMatchObject({
      name: expect.stringMatching(/^workflow_/),
      description: "",
      project_id: null,
      envelope: DEFAULTS,
      envelope_version: 3,
      enabled: true,
    });
  });

  test("accepts the envelope of a read unchanged, whatever its run_as is", async () => {
    const { user } = (await home.owner("GET", "/auth/me")).body;
    const { id, envelope } = await home.register(
      WAITING,
      {},
      { envelope: { run_as: { type: "person", id: user.id } } },
    );
    const other = UNKNOWN;
    await w.resources.db.query("update read.workflows set envelope = replace(envelope, $2, $3) where id = $1", [
      id,
      user.id,
      other,
    ]);
    const theirs = { ...envelope, run_as: { type: "person", id: other } };
    expect((await read(id)).envelope).toEqual(theirs);
    expect((await patch(id, { envelope: theirs })).status).toBe(200);
  });

  test("can set any existing definition version", async () => {
    const workflow = await home.register();
    const { id } = workflow.definition;
    await home.owner("PATCH", `/definitions/${id}`, {});
    expect((await read(workflow.id)).definition).toMatchObject({ version: 1, latest_version: 2 });
    expect((await patch(workflow.id, { definition_version: 2 })).body.definition.version).toBe(2);
    expectRefusal(await patch(workflow.id, { definition_version: 3 }), 400, "unknown_version", "definition_version");
    expect((await patch(workflow.id, { definition_version: 1 })).body.definition.version).toBe(1);
  });

  test("is not lost in a concurrent change", async () => {
    const { id } = await home.register();
    const edits = [
      { envelope: { secrets: ["a"] } },
      { envelope: { egress: ["example.com"] } },
      { envelope: { limits: { max_steps: 5 } } },
      { envelope: { limits: { max_parallel: 5 } } },
      { envelope: { concurrency: { max_runs: 5 } } },
      { name: "all at once" },
      { description: "of them" },
      { enabled: false },
    ];
    const answers = await Promise.all(edits.map((edit) => patch(id, edit)));
    expect(answers.map(({ status }) => status)).toEqual(edits.map(() => 200));
    expect(await read(id)).toMatchObject({
      name: "all at once",
      description: "of them",
      enabled: false,
      envelope_version: 6,
      envelope: {
        secrets: ["a"],
        egress: ["example.com"],
        limits: { max_steps: 5, max_parallel: 5 },
        concurrency: { max_runs: 5, key: null },
      },
    });
  });

  test("of the concurrency key alone is refused unless the workflow has max_runs", async () => {
    const { id } = await home.register();
    const change = { envelope: { concurrency: { key: "/customer" } } };
    expectRefusal(await patch(id, change), 400, "invalid_envelope", "envelope.concurrency.max_runs");
    await patch(id, { envelope: { concurrency: { max_runs: 2 } } });
    expect((await patch(id, change)).body.envelope.concurrency).toEqual({ max_runs: 2, key: "/customer" });
  });
});

describe("disabling a workflow", () => {
  test("keeps the workflow and its runs, and can be repeated", async () => {
    const workflow = await home.register();
    await home.start(workflow);
    for (let n = 0; n < 2; n++) {
      const { status, text } = await home.owner("DELETE", `/workflows/${workflow.id}`);
      expect([status, text]).toEqual([204, ""]);
    }
    expect(await read(workflow.id)).toMatchObject({ enabled: false, runs: { live: 1, total: 1 } });
    expect((await patch(workflow.id, { enabled: true })).body.enabled).toBe(true);
  });

  test("cannot be undone once the definition is deleted", async () => {
    const { id, definition } = await home.register(WAITING, {}, { name: "kept" });
    await home.owner("DELETE", `/workflows/${id}`);
    expect((await home.owner("DELETE", `/definitions/${definition.id}`)).status).toBe(204);
    expect(await read(id)).toMatchObject({
      name: "kept",
      enabled: false,
      definition: { id: definition.id, name: null, version: 1, latest_version: null },
      warnings: [],
    });
    for (const change of [{ enabled: true }, { definition_version: 1 }, { name: null }])
      expectRefusal(await patch(id, change), 404, "definition_not_found", "definition_id");
    expect((await patch(id, { description: "of old" })).body.description).toBe("of old");
  });
});

describe("an idempotency key of a registration", () => {
  test("makes two requests register one workflow", async () => {
    const { id: definition_id } = await home.define();
    const headers = { "idempotency-key": "once" };
    const body = { definition_id, name: "once" };
    const answers = await Promise.all([1, 2].map(() => home.owner("POST", "/workflows", body, headers)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[0]!.body).toEqual(answers[1]!.body);
    const other = await home.owner("POST", "/workflows", { ...body, name: "twice" }, headers);
    expectRefusal(other, 422, "idempotency_key_reused", "Idempotency-Key");
  });
});

test("the list of workflows has pages", async () => {
  const { body } = await home.owner("GET", "/workflows?limit=2&offset=1");
  expect(body).toMatchObject({ limit: 2, offset: 1 });
  expect(body.data).toHaveLength(2);
  expect(body.total).toBeGreaterThan(3);
  expect((await home.owner("GET", "/workflows?limit=x&offset=-1")).body).toMatchObject({ limit: 50, offset: 0 });
});

test("an id that is malformed or unknown is a 404 on every workflow route", async () => {
  for (const id of ["x", "runs", "hooks", "%00", UNKNOWN])
    for (const method of ["GET", "PATCH", "DELETE"]) {
      // the list of all runs
      if (id === "runs" && method === "GET") continue;
      expectRefusal(
        await home.owner(method, `/workflows/${id}`, method === "PATCH" ? {} : undefined),
        404,
        "workflow_not_found",
        "id",
      );
    }
});
