import { describe, expect, onTestFinished, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { UNKNOWN, code, gate, isOver, openFunctions } from "./harness.ts";

const held = gate();
const stage = await openFunctions({
  echo: { run: async (ctx, args) => ctx.complete(args) },
  held: { run: async (ctx) => ctx.runStep("wait"), steps: { wait: () => held.opened } },
});
const { home } = stage;

const begin = (workflow: { id: string }, body: unknown, headers?: Record<string, string>, by = home.owner) =>
  by("POST", `/workflows/${workflow.id}/runs`, body, headers);
const created = async (run: string): Promise<any> => (await stage.events(run))[0];

describe("starting a run", () => {
  test("as a person records the person in the log before the answer, and in the run's record", async () => {
    const workflow = await stage.register("echo", { name: "Echo", envelope: { limits: { run_ttl_s: 60 } } });
    const { status, body, headers } = await begin(workflow, { args: { a: 1, b: null } });
    expect([status, body]).toEqual([
      202,
      { id: expect.any(String), status: "pending", created_at: expect.any(String) },
    ]);
    expect(headers.get("location")).toBe(`/api/workflows/runs/${body.id}`);
    const { data, personal } = await created(body.id);
    expect(personal).toEqual({ args: { json: '{"a":1,"b":null}' }, external_user_id: null });
    expect(Date.parse(data.expires_at) - Date.parse(data.created_at)).toBeLessThan(60_000 + 1);
    const me = (await home.owner("GET", "/auth/me")).body.user.id;
    expect(await home.until(body.id, isOver)).toEqual({
      id: body.id,
      workflow_id: workflow.id,
      workflow_name: "Echo",
      definition_id: workflow.definition.id,
      definition_version: 1,
      project_id: null,
      status: "completed",
      waiting_on: [],
      waits: [],
      args: { a: 1, b: null },
      result: { a: 1, b: null },
      error: null,
      error_info: null,
      completion: "explicit",
      warnings: [],
      logs: [],
      steps: [],
      started_by: { type: "person", id: me, trigger_id: null },
      run_as: { type: "service", id: null },
      external_user_id: null,
      counts: { steps: 0, attempts: 0, ticks: 1 },
      created_at: body.created_at,
      started_at: expect.any(String),
      completed_at: expect.any(String),
      cancelled_by: null,
      cancel_reason: null,
      headers: {},
      expires_at: data.expires_at,
      priority: "normal",
      parent: null,
      continued_from: null,
      continued_as: null,
      pending_approvals: 0,
      child_runs: [],
    });
  });

  test("with a key records the key, and the run acts as the envelope says", async () => {
    const me = (await home.owner("GET", "/auth/me")).body.user.id;
    const workflow = await stage.register("echo", { envelope: { run_as: { type: "person", id: me } } });
    const { status, body } = await begin(workflow, { args: {} }, {}, home.key);
    expect(status).toBe(202);
    const record = (await home.key("GET", `/workflows/runs/${body.id}`)).body;
    expect(record.started_by).toEqual({ type: "api_key", id: expect.any(String), trigger_id: null });
    expect(record.run_as).toEqual({ type: "person", id: me });
  });

  test("twice creates two runs, but one with the same idempotency key, even if the workflow has changed", async () => {
    const workflow = await stage.register("echo");
    const [first, second] = [await begin(workflow, { args: {} }), await begin(workflow, { args: {} })];
    expect(first.body.id).not.toBe(second.body.id);

    const headers = { "idempotency-key": "start-1" };
    const once = await begin(workflow, { args: { n: 1 } }, headers);
    const answers = await Promise.all(Array.from({ length: 8 }, () => begin(workflow, { args: { n: 1 } }, headers)));
    for (const { status, body } of answers) expect([status, body]).toEqual([202, once.body]);
    expect(code(await begin(workflow, { args: { n: 2 } }, headers))).toEqual([422, "idempotency_key_reused"]);
    expect((await begin(workflow, { args: { n: 1 } }, headers, home.key)).body.id).not.toBe(once.body.id);
    await home.made(home.owner("PATCH", `/workflows/${workflow.id}`, { enabled: false }));
    expect((await begin(workflow, { args: { n: 1 } }, headers)).body).toEqual(once.body);
    expect(code(await begin(workflow, { args: { n: 1 } }))).toEqual([409, "workflow_disabled"]);
    expect(code(await begin(workflow, { args: {} }, { "idempotency-key": "ä".repeat(3) }))).toEqual([
      400,
      "invalid_idempotency_key",
    ]);
  });
});

describe("the arguments of a run", () => {
  const schema = {
    type: "object",
    properties: { customer: { type: "string", maxLength: 5 }, items: { type: "array", items: { type: "integer" } } },
    required: ["customer"],
    additionalProperties: false,
  };

  test("must be valid for the schema of the definition version", async () => {
    const workflow = await stage.register("echo", { args: schema });
    const refused = async (args: unknown, param: string) => {
      const { status, body } = await begin(workflow, { args });
      expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_args", param]);
      expect(body.error.message).toMatch(/\S/);
    };
    await refused({}, "/args/customer");
    await refused({ customer: "much too long" }, "/args/customer");
    await refused({ customer: "x", items: [1, "2"] }, "/args/items/1");
    await refused({ customer: "x", other: 1 }, "/args/other");
    expect((await begin(workflow, { args: { customer: "x" } })).status).toBe(202);
    // a newer version has another schema, but the workflow still uses the old version
    const source = "export async function run() {}";
    await home.made(home.owner("PATCH", `/definitions/${workflow.definition.id}`, { source }));
    await refused({}, "/args/customer");
    await home.made(home.owner("PATCH", `/workflows/${workflow.id}`, { definition_version: 2 }));
    expect((await begin(workflow, { args: { other: 1 } })).status).toBe(202);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["no args", {}],
    ["a list", { args: [] }],
    ["null", { args: null }],
    ["text", { args: "x" }],
    ["a body that is a list", [{ args: {} }]],
  ])("cannot be %s", async (_, body) => {
    const workflow = await stage.register("echo");
    const answer = await begin(workflow, body);
    expect(code(answer)).toEqual([400, "invalid_args"]);
    expect(answer.body.error.param).toBe("args");
  });

  test("are passed on unchanged, with prototype names, NUL and lone surrogates", async () => {
    const workflow = await stage.register("echo");
    const json =
      '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}},"nul":"\\u0000","half":"\\ud800","ü":[1.5,-0]}';
    const { status, body } = await begin(workflow, `{"args":${json}}`);
    expect(status).toBe(202);
    const { text } = await home.owner("GET", `/workflows/runs/${body.id}`);
    expect(text).toContain(`"args":${json.replace("-0", "0")}`);
    expect(({} as any).x).toBeUndefined();
    expect(({} as any).y).toBeUndefined();
  });

  test("are stored as a blob if they are long, up to the limit of a body", async () => {
    const workflow = await stage.register("echo");
    const args = { text: "ä".repeat(400_000) };
    const { body } = await begin(workflow, { args });
    const kept = (await created(body.id)).personal.args;
    expect(kept).toEqual({ blob: expect.stringContaining(streamName("run", body.id)), bytes: 800_011 });
    const record = await home.until(body.id, isOver);
    expect([record.args, record.result]).toEqual([args, args]);
    const headers = { "idempotency-key": "long" };
    const answers = await Promise.all(Array.from({ length: 4 }, () => begin(workflow, { args }, headers)));
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect((await home.until(answers[0]!.body.id, isOver)).args).toEqual(args);
    const tooLong = await begin(workflow, { args: { text: "x".repeat(1024 * 1024) } });
    expect(code(tooLong)).toEqual([413, "payload_too_large"]);
  });

  test("are refused if they are not JSON or nested too deeply", async () => {
    const workflow = await stage.register("echo");
    const deep = `{"args":${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}}`;
    for (const body of ["{", deep, '{"args":{}}x'])
      expect(code(await begin(workflow, body))).toEqual([400, "invalid_json"]);
    const form = await begin(workflow, "a=1", { "content-type": "application/x-www-form-urlencoded" });
    expect(code(form)).toEqual([415, "unsupported_media_type"]);
  });
});

describe("a workflow", () => {
  test("that is unknown, or belongs to another organization or project, starts nothing", async () => {
    const other = await stage.join("Other");
    const [mine, theirs] = [await home.project("Mine"), await home.project("Theirs")];
    const workflow = await stage.register("echo", { project_id: mine.id });
    const unknown = await begin({ id: UNKNOWN }, { args: {} });
    expect(code(unknown)).toEqual([404, "workflow_not_found"]);
    for (const by of [other.owner, other.key, theirs.key]) {
      const answer = await begin(workflow, { args: {} }, {}, by);
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
    }
    const answer = await begin({ id: "nonsense" }, { args: {} });
    expect([answer.status, answer.text]).toEqual([404, unknown.text]);
    const { status, body } = await begin(workflow, { args: {} }, {}, mine.key);
    expect(status).toBe(202);
    expect((await mine.key("GET", `/workflows/runs/${body.id}`)).body.project_id).toBe(mine.id);
    expect(code(await theirs.key("GET", `/workflows/runs/${body.id}`))).toEqual([404, "run_not_found"]);
    const nobody = home.clientAt("sk-svc-nobody");
    expect(code(await begin(workflow, { args: {} }, {}, nobody))).toEqual([401, "invalid_api_key"]);
  });

  test("has at most max_runs live runs for each value of its concurrency key", async () => {
    onTestFinished(() => held.open());
    const workflow = await stage.register("held", {
      envelope: { concurrency: { max_runs: 3, key: "/args/customer" } },
    });
    const many = await Promise.all(Array.from({ length: 12 }, () => begin(workflow, { args: { customer: "a" } })));
    const started = many.filter(({ status }) => status === 202);
    const refused = many.filter(({ status }) => status === 429);
    expect([started.length, refused.length]).toEqual([3, 9]);
    for (const answer of refused) {
      expect(code(answer)).toEqual([429, "too_many_live_runs"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect((await begin(workflow, { args: { customer: "b" } })).status).toBe(202);
    expect((await begin(workflow, { args: {} })).status).toBe(202);

    // a 429 does not use up the idempotency key, and a run that ends frees its slot
    const headers = { "idempotency-key": "later" };
    const again = () => begin(workflow, { args: { customer: "a" } }, headers);
    expect((await again()).status).toBe(429);
    await home.made(home.owner("POST", `/workflows/runs/${started[0]!.body.id}/cancel`));
    const later = await again();
    expect([later.status, (await again()).body]).toEqual([202, later.body]);
  });
});
