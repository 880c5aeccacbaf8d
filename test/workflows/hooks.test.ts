import { beforeAll, describe, expect, test } from "vitest";
import { raw } from "../http/raw.ts";
import { clientOf } from "../http/service.ts";
import { code, isOver, openStage, UNKNOWN, type Hook, type Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
    echo: { run: async (ctx, args) => ctx.complete(args) },
    fails: {
      run: async () => {
        throw new Error("no luck");
      },
    },
  });
});

const SECRET = "x-svc-webhook-secret";
const USER = "x-svc-external-user";
const hookOf = async (name = "echo", trigger: object = {}, workflow: object = {}) =>
  stage.hook(await stage.register(name, workflow), trigger);
const post = (hook: Hook, body?: unknown, headers?: Record<string, string>) =>
  stage.caller(hook)("POST", `/hooks/${hook.hook_token}`, body, headers);
const poll = (hook: Hook, run: string, by = stage.caller(hook)) => by("GET", `/hooks/${hook.hook_token}/runs/${run}`);
const argsOf = async (run: string): Promise<any> =>
  JSON.parse(((await stage.events(run))[0]!.personal as { args: { json: string } }).args.json);
/** Without an Authorization header. */
const bare = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${stage.url}/api/workflows${path}`, { method, headers }).then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    text: await answer.clone().text(),
    body: await answer.json(),
  }));

describe("a hook", () => {
  test("starts a run at once, and its poll tells how it went", async () => {
    const workflow = await stage.register("echo");
    const hook = await stage.hook(workflow, { default_args: { a: 1, nested: { x: 1 } } });
    const { status, body } = await post(hook, { b: 2, nested: { y: 2 } }, { [USER]: "crm:42" });
    const { run_id } = body;
    expect([status, body]).toEqual([202, { run_id, status: "pending", status_url: expect.stringMatching(/^http/) }]);
    expect(new URL(body.status_url).pathname).toBe(`/api/workflows/hooks/${hook.hook_token}/runs/${run_id}`);
    const record = await stage.until(run_id, isOver);
    expect(record.started_by).toEqual({ type: "webhook", id: hook.id, trigger_id: hook.id });
    const polled = await poll(hook, run_id);
    expect([polled.status, polled.body]).toEqual([
      200,
      {
        run_id,
        status: "completed",
        // the caller wins, name by name
        result: { a: 1, b: 2, nested: { y: 2 } },
        error: null,
        external_user_id: "crm:42",
        created_at: record.created_at,
        completed_at: record.completed_at,
      },
    ]);
    const history = (await stage.home.person("GET", `/${workflow.id}/runs?trigger_id=${hook.id}`)).body;
    expect(history.data.map(({ id }: { id: string }) => id)).toEqual([run_id]);
  });

  test("tells of a failure why, and nothing else", async () => {
    const hook = await hookOf("fails");
    const { run_id } = (await post(hook)).body;
    await stage.until(run_id, isOver);
    const { status, result, error } = (await poll(hook, run_id)).body;
    expect([status, result, error]).toEqual(["failed", null, "no luck"]);
  });

  test("without a body starts with the defaults; two of them are two runs", async () => {
    const hook = await hookOf("echo", { default_args: { a: 1 } });
    const [first, second] = [await post(hook), await post(hook, "", { "content-type": "application/json" })];
    expect([first.status, second.status, first.body.run_id === second.body.run_id]).toEqual([202, 202, false]);
    expect([await argsOf(first.body.run_id), await argsOf(second.body.run_id)]).toEqual([{ a: 1 }, { a: 1 }]);
  });

  test("takes JSON by any name, and names of prototypes as data", async () => {
    const hook = await hookOf("echo", { default_args: { constructor: 1, keep: true } });
    const json =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"nul":"\\u0000","half":"\\udc00"}';
    const { status, body } = await post(hook, json, { "content-type": "application/cloudevents+json" });
    expect(status).toBe(202);
    const { personal } = (await stage.events(body.run_id))[0] as any;
    expect(personal.args.json).toBe(
      '{"constructor":{"prototype":{"polluted":2}},"keep":true,"__proto__":{"polluted":1},"nul":"\\u0000","half":"\\udc00"}',
    );
    await stage.until(body.run_id, isOver);
    expect((await poll(hook, body.run_id)).text).toContain('"__proto__":{"polluted":1}');
    expect(({} as any).polluted).toBeUndefined();
  });

  test("takes 1 MiB and no more", async () => {
    const hook = await hookOf();
    const json = (bytes: number) => JSON.stringify({ a: "x".repeat(bytes - 8) });
    expect((await post(hook, json(1024 * 1024))).status).toBe(202);
    const { status, headers, body } = await post(hook, json(1024 * 1024 + 1));
    expect([status, body.error.code, headers.get("connection")]).toEqual([413, "payload_too_large", "close"]);
  });

  test.each(["[]", "null", "1", '"x"', "true"])("does not take %s", async (json) => {
    expect(code(await post(await hookOf(), json))).toEqual([400, "invalid_payload"]);
  });

  test.each(["{", "a=b", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`])("takes JSON only", async (body) => {
    expect(code(await post(await hookOf(), body))).toEqual([400, "invalid_json"]);
  });

  test("checks what its workflow asks for, the defaults included", async () => {
    const args = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const hook = await hookOf("echo", { default_args: { n: 1 } }, { args });
    expect((await post(hook, {})).status).toBe(202);
    const { status, body } = await post(hook, { n: "1" });
    expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_args", "/n"]);
  });

  test("of a disabled workflow starts nothing, and still tells of its runs", async () => {
    const workflow = await stage.register("echo");
    const hook = await stage.hook(workflow);
    const { run_id } = (await post(hook)).body;
    expect((await stage.home.person("DELETE", `/${workflow.id}`)).status).toBe(204);
    expect(code(await post(hook))).toEqual([409, "workflow_disabled"]);
    expect((await poll(hook, run_id)).status).toBe(200);
  });

  test("acts for whom the trigger names in place of the workflow", async () => {
    const me = (await stage.home.api("GET", "/auth/me")).body.user.id;
    const hook = await hookOf("echo", { run_as: { type: "person", id: me } });
    const { run_id } = (await post(hook, { run_as: { type: "person", id: UNKNOWN } })).body;
    expect((await stage.events(run_id))[0]!.data).toMatchObject({ run_as: { type: "person", id: me } });
  });
});

describe("a delivery", () => {
  test.each(["idempotency-key", "webhook-id"])("that is repeated under its %s starts one run", async (name) => {
    const hook = await hookOf();
    const headers = { [name]: "msg_1" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(hook, { n: 1 }, headers)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.run_id}`)).size).toBe(1);
    expect((await post(hook, { n: 1 }, headers)).body).toEqual(answers[0]!.body);
    expect(code(await post(hook, { n: 2 }, headers))).toEqual([422, "idempotency_key_reused"]);
    expect(code(await post(hook, { n: 1 }, { ...headers, [USER]: "another" }))[0]).toBe(422);
    const other = await hookOf();
    expect((await post(other, { n: 1 }, headers)).body.run_id).not.toBe(answers[0]!.body.run_id);
  });

  test("names whom it is for, in printable characters", async () => {
    const hook = await hookOf();
    const userOf = async (value: string) =>
      ((await stage.events((await post(hook, {}, { [USER]: value })).body.run_id))[0] as any).personal.external_user_id;
    expect(await userOf("x".repeat(256))).toBe("x".repeat(256));
    expect(await userOf("")).toBeNull();
    // headers are bytes: UTF-8 is read as such
    expect(await userOf(Buffer.from("Zoë 東").toString("latin1"))).toBe("Zoë 東");
    for (const value of ["x".repeat(257), "a\tb", "\u00ff\u00fe", Buffer.from("a\u200eb").toString("latin1")]) {
      const { status, body } = await post(hook, {}, { [USER]: value });
      expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_external_user", USER]);
    }
  });
});

describe("the secret of a hook", () => {
  test("is sent as bearer token or in its header", async () => {
    const hook = await hookOf();
    const path = `/hooks/${hook.hook_token}`;
    expect((await bare("POST", path, { [SECRET]: hook.secret })).status).toBe(202);
    expect((await bare("POST", path, { authorization: `bearer ${hook.secret}` })).status).toBe(202);
    expect((await post(hook, {}, { [SECRET]: hook.secret })).status).toBe(202);
    expect(code(await post(hook, {}, { [SECRET]: `${hook.secret}x` }))).toEqual([401, "invalid_webhook_secret"]);
    const basic = { authorization: "Basic eDp5", [SECRET]: hook.secret };
    expect(code(await bare("POST", path, basic))).toEqual([401, "invalid_webhook_secret"]);
  });

  test("is missing, or not that of this hook", async () => {
    const [hook, other] = [await hookOf(), await hookOf()];
    const { run_id } = (await post(hook)).body;
    const { api_key } = stage.home;
    const session = stage.home.session;
    for (const path of [`/hooks/${hook.hook_token}`, `/hooks/${hook.hook_token}/runs/${run_id}`]) {
      const method = path.includes("runs") ? "GET" : "POST";
      for (const headers of [{}, { authorization: "" }, { [SECRET]: "" }] as Record<string, string>[]) {
        const answer = await bare(method, path, headers);
        expect(code(answer)).toEqual([401, "missing_webhook_secret"]);
        expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      }
      for (const token of [other.secret, "x", api_key, session, `${hook.secret} x`, hook.secret.toUpperCase()])
        expect(code(await bare(method, path, { authorization: `Bearer ${token}` }))).toEqual([
          401,
          "invalid_webhook_secret",
        ]);
    }
  });

  test("reaches nothing else", async () => {
    const workflow = await stage.register("echo");
    const hook = await stage.hook(workflow);
    const { run_id } = (await post(hook)).body;
    const caller = stage.caller(hook);
    for (const [method, path] of [
      ["GET", `/runs/${run_id}`],
      ["GET", `/runs/${run_id}/approvals`],
      ["GET", `/runs/${run_id}/events`],
      ["POST", `/runs/${run_id}/cancel`],
      ["POST", `/${workflow.id}/runs`],
      ["GET", `/${workflow.id}`],
    ] as const)
      expect(code(await caller(method, path, method === "POST" ? { args: {} } : undefined))).toEqual([
        401,
        "invalid_api_key",
      ]);
  });
});

describe("what there is not", () => {
  test("is the same for an unknown hook, a disabled and a deleted one", async () => {
    const [disabled, deleted] = [await hookOf(), await hookOf()];
    const { run_id } = (await post(disabled)).body;
    for (const hook of [disabled, deleted]) {
      const { workflow_id } = hook as Hook & { workflow_id: string };
      expect((await stage.home.person("DELETE", `/${workflow_id}/triggers/${hook.id}`)).status).toBe(204);
    }
    const unknown = { ...disabled, hook_token: "A".repeat(24) };
    const first = await post(unknown);
    expect(code(first)).toEqual([404, "trigger_not_found"]);
    for (const hook of [
      disabled,
      deleted,
      { ...disabled, hook_token: "nonsense" },
      { ...disabled, hook_token: "%00" },
    ]) {
      expect((await post(hook)).text).toBe(first.text);
      expect((await poll(hook, run_id)).text).toBe(first.text);
    }
  });

  test("is every run but the hook's own", async () => {
    const workflow = await stage.register("echo");
    const [hook, sibling] = [await stage.hook(workflow), await stage.hook(workflow)];
    const other = await stage.join("Elsewhere");
    const abroad = await stage.hook(await stage.register("echo", {}, other), {}, other);
    const unknown = await poll(hook, UNKNOWN);
    expect(code(unknown)).toEqual([404, "run_not_found"]);
    const runs = [
      await stage.start(workflow),
      (await post(sibling)).body.run_id,
      (await post(abroad)).body.run_id,
      "nonsense",
      "%00",
    ];
    for (const run of runs)
      expect([(await poll(hook, run)).status, (await poll(hook, run)).text]).toEqual([404, unknown.text]);
    const mine = (await post(hook)).body.run_id;
    expect((await poll(hook, mine.toUpperCase())).body.run_id).toBe(mine);
  });

  test("the address of a run is the deployment's own, whatever Host says", async () => {
    const hook = await hookOf();
    const head = ["Host: evil.example", "X-Forwarded-Host: evil.example", `Authorization: Bearer ${hook.secret}`];
    const line = `POST /api/workflows/hooks/${hook.hook_token} HTTP/1.1`;
    const heard = await raw(stage.url, [line, ...head, "Content-Length: 0", "Connection: close", "", ""].join("\r\n"));
    expect(heard).toContain("202 Accepted");
    expect(heard).not.toContain("evil.example");
  });
});

test("an old secret is of no use from the answer to its rotation on, however many ask", async () => {
  const workflow = await stage.register("echo");
  const hook = await stage.hook(workflow);
  let secret = hook.secret;
  const stale: string[] = [];
  const answers = { stale: [] as number[], fresh: [] as number[] };
  let over = false;
  const processes = [stage.url, await stage.twin()];
  const ask = async (kind: "stale" | "fresh", token: string) => {
    const url = processes[Math.floor(Math.random() * 2)]!;
    answers[kind].push(
      (await clientOf({ chat: url }, token)("POST", `/api/workflows/hooks/${hook.hook_token}`)).status,
    );
  };
  const load = async (n: number) => {
    for (let turn = n; !over; turn++) {
      const old = stale[turn % stale.length];
      await (old && turn % 2 === 0 ? ask("stale", old) : ask("fresh", secret));
    }
  };
  const callers = Array.from({ length: 6 }, (_, n) => load(n));
  for (let n = 0; n < 5; n++) {
    const before = answers.fresh.length;
    await expect.poll(() => answers.fresh.length, { timeout: 10_000 }).toBeGreaterThan(before + 6);
    const rotated = await stage.made(stage.home.person("POST", `/${workflow.id}/triggers/${hook.id}/rotate`));
    stale.push(secret);
    secret = rotated.secret;
    await Promise.all(Array.from({ length: 8 }, () => ask("stale", stale.at(-1)!)));
    expect((await post({ ...hook, secret })).status).toBe(202);
  }
  over = true;
  await Promise.all(callers);
  expect(answers.stale.length).toBeGreaterThan(40);
  expect(new Set(answers.stale)).toEqual(new Set([401]));
  // one that was under way during a rotation may have come too late
  expect(answers.fresh.filter((status) => status === 202).length).toBeGreaterThan(30);
});
