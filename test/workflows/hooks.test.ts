import { describe, expect, test } from "vitest";
import { raw } from "../http/raw.ts";
import { clientOf } from "../http/service.ts";
import { UNKNOWN, code, isOver, openFunctions, type Hook } from "./harness.ts";

const stage = await openFunctions({
  echo: { run: async (ctx, args) => ctx.complete(args) },
  fails: {
    run: async () => {
      throw new Error("no luck");
    },
  },
});
const { home } = stage;

const SECRET = "x-svc-webhook-secret";
const USER = "x-svc-external-user";
const hookOf = async (name = "echo", trigger: object = {}, workflow: object = {}) =>
  home.hook(await stage.register(name, workflow), trigger);
const post = (hook: Hook, body?: unknown, headers?: Record<string, string>) =>
  home.caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, body, headers);
const poll = (hook: Hook, run: string, by = home.caller(hook)) =>
  by("GET", `/workflows/hooks/${hook.hook_token}/runs/${run}`);
const argsOf = async (run: string): Promise<any> =>
  JSON.parse(((await stage.events(run))[0]!.personal as { args: { json: string } }).args.json);
/** Sends no Authorization header. */
const bare = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${stage.url}/api/workflows${path}`, { method, headers }).then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    text: await answer.clone().text(),
    body: await answer.json(),
  }));

describe("a hook", () => {
  test("starts a run, and a poll shows its result", async () => {
    const workflow = await stage.register("echo");
    const hook = await home.hook(workflow, { default_args: { a: 1, nested: { x: 1 } } });
    const { status, body } = await post(hook, { b: 2, nested: { y: 2 } }, { [USER]: "crm:42" });
    const { run_id } = body;
    expect([status, body]).toEqual([202, { run_id, status: "pending", status_url: expect.stringMatching(/^http/) }]);
    expect(new URL(body.status_url).pathname).toBe(`/api/workflows/hooks/${hook.hook_token}/runs/${run_id}`);
    const record = await home.until(run_id, isOver);
    expect(record.started_by).toEqual({ type: "webhook", id: hook.id, trigger_id: hook.id });
    const polled = await poll(hook, run_id);
    expect([polled.status, polled.body]).toEqual([
      200,
      {
        run_id,
        status: "completed",
        // fields of the payload override the defaults
        result: { a: 1, b: 2, nested: { y: 2 } },
        error: null,
        external_user_id: "crm:42",
        created_at: record.created_at,
        completed_at: record.completed_at,
      },
    ]);
    const history = (await home.owner("GET", `/workflows/${workflow.id}/runs?trigger_id=${hook.id}`)).body;
    expect(history.data.map(({ id }: { id: string }) => id)).toEqual([run_id]);
  });

  test("shows only the reason of a failure", async () => {
    const hook = await hookOf("fails");
    const { run_id } = (await post(hook)).body;
    await home.until(run_id, isOver);
    const { status, result, error } = (await poll(hook, run_id)).body;
    expect([status, result, error]).toEqual(["failed", null, "no luck"]);
  });

  test("starts a run with the default arguments if the body is empty, and a new run each time", async () => {
    const hook = await hookOf("echo", { default_args: { a: 1 } });
    const [first, second] = [await post(hook), await post(hook, "", { "content-type": "application/json" })];
    expect([first.status, second.status, first.body.run_id === second.body.run_id]).toEqual([202, 202, false]);
    expect([await argsOf(first.body.run_id), await argsOf(second.body.run_id)]).toEqual([{ a: 1 }, { a: 1 }]);
  });

  test("accepts JSON of any content type, and prototype names as data", async () => {
    const hook = await hookOf("echo", { default_args: { constructor: 1, keep: true } });
    const json =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"nul":"\\u0000","half":"\\udc00"}';
    const { status, body } = await post(hook, json, { "content-type": "application/cloudevents+json" });
    expect(status).toBe(202);
    const { personal } = (await stage.events(body.run_id))[0] as any;
    expect(personal.args.json).toBe(
      '{"constructor":{"prototype":{"polluted":2}},"keep":true,"__proto__":{"polluted":1},"nul":"\\u0000","half":"\\udc00"}',
    );
    await home.until(body.run_id, isOver);
    expect((await poll(hook, body.run_id)).text).toContain('"__proto__":{"polluted":1}');
    expect(({} as any).polluted).toBeUndefined();
  });

  test("accepts a body of up to 1 MiB", async () => {
    const hook = await hookOf();
    const json = (bytes: number) => JSON.stringify({ a: "x".repeat(bytes - 8) });
    expect((await post(hook, json(1024 * 1024))).status).toBe(202);
    const { status, headers, body } = await post(hook, json(1024 * 1024 + 1));
    expect([status, body.error.code, headers.get("connection")]).toEqual([413, "payload_too_large", "close"]);
  });

  test.each(["[]", "null", "1", '"x"', "true"])("refuses the payload %s", async (json) => {
    expect(code(await post(await hookOf(), json))).toEqual([400, "invalid_payload"]);
  });

  test.each(["{", "a=b", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`])(
    "refuses $0, which is not JSON or too deep",
    async (body) => {
      expect(code(await post(await hookOf(), body))).toEqual([400, "invalid_json"]);
    },
  );

  test("validates the payload merged with the defaults", async () => {
    const args = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const hook = await hookOf("echo", { default_args: { n: 1 } }, { args });
    expect((await post(hook, {})).status).toBe(202);
    const { status, body } = await post(hook, { n: "1" });
    expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_args", "/n"]);
  });

  test("of a disabled workflow starts nothing, but its runs can still be polled", async () => {
    const workflow = await stage.register("echo");
    const hook = await home.hook(workflow);
    const { run_id } = (await post(hook)).body;
    expect((await home.owner("DELETE", `/workflows/${workflow.id}`)).status).toBe(204);
    expect(code(await post(hook))).toEqual([409, "workflow_disabled"]);
    expect((await poll(hook, run_id)).status).toBe(200);
  });

  test("uses the trigger's settings instead of the workflow's", async () => {
    const me = (await home.owner("GET", "/auth/me")).body.user.id;
    const hook = await hookOf("echo", { run_as: { type: "person", id: me } });
    const { run_id } = (await post(hook, { run_as: { type: "person", id: UNKNOWN } })).body;
    expect((await stage.events(run_id))[0]!.data).toMatchObject({ run_as: { type: "person", id: me } });
  });
});

describe("a delivery to a hook", () => {
  test.each(["idempotency-key", "webhook-id"])("repeated with the same %s starts one run", async (name) => {
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

  test.each(["Idempotency-Key", "webhook-id"])(
    "with a key in %s that cannot be used gets an error that names this header",
    async (header) => {
      const hook = await hookOf();
      const malformed = await post(hook, { n: 1 }, { [header]: "a key" });
      expect([...code(malformed), malformed.body.error.param]).toEqual([400, "invalid_idempotency_key", header]);
      expect(malformed.body.error.message).toContain(`${header} must be sent once`);
      await post(hook, { n: 1 }, { [header]: "used" });
      const reused = await post(hook, { n: 2 }, { [header]: "used" });
      expect([...code(reused), reused.body.error.param]).toEqual([422, "idempotency_key_reused", header]);
      expect(reused.body.error.message).toContain(`This ${header} was used`);
    },
  );

  test("can name an external user in printable characters", async () => {
    const hook = await hookOf();
    const userOf = async (value: string) =>
      ((await stage.events((await post(hook, {}, { [USER]: value })).body.run_id))[0] as any).personal.external_user_id;
    expect(await userOf("x".repeat(256))).toBe("x".repeat(256));
    expect(await userOf("")).toBeNull();
    // header bytes are read as UTF-8, or else as the Latin-1 that fetch sends
    expect(await userOf(Buffer.from("Zoë 東").toString("latin1"))).toBe("Zoë 東");
    expect(await userOf("Zoë")).toBe("Zoë");
    for (const value of ["x".repeat(257), "a\tb", "a\u0085b", Buffer.from("a\u200eb").toString("latin1")]) {
      const { status, body } = await post(hook, {}, { [USER]: value });
      expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_external_user", USER]);
    }
  });
});

describe("the secret of a hook", () => {
  test("can be sent as a bearer token or in the webhook secret header", async () => {
    const hook = await hookOf();
    const path = `/hooks/${hook.hook_token}`;
    expect((await bare("POST", path, { [SECRET]: hook.secret })).status).toBe(202);
    expect((await bare("POST", path, { authorization: `bearer ${hook.secret}` })).status).toBe(202);
    expect((await post(hook, {}, { [SECRET]: hook.secret })).status).toBe(202);
    expect(code(await post(hook, {}, { [SECRET]: `${hook.secret}x` }))).toEqual([401, "invalid_webhook_secret"]);
    // that of a proxy
    const basic = { authorization: "Basic eDp5", [SECRET]: hook.secret };
    expect((await bare("POST", path, basic)).status).toBe(202);
  });

  test("is required, and must belong to this hook", async () => {
    const [hook, other] = [await hookOf(), await hookOf()];
    const { run_id } = (await post(hook)).body;
    const { api_key } = home.credentials;
    const session = home.token;
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

  test("gives no other access", async () => {
    const workflow = await stage.register("echo");
    const hook = await home.hook(workflow);
    const { run_id } = (await post(hook)).body;
    const caller = home.caller(hook);
    for (const [method, path] of [
      ["GET", `/workflows/runs/${run_id}`],
      ["GET", `/workflows/runs/${run_id}/approvals`],
      ["GET", `/workflows/runs/${run_id}/events`],
      ["POST", `/workflows/runs/${run_id}/cancel`],
      ["POST", `/workflows/${workflow.id}/runs`],
      ["GET", `/workflows/${workflow.id}`],
    ] as const)
      expect(code(await caller(method, path, method === "POST" ? { args: {} } : undefined))).toEqual([
        401,
        "invalid_api_key",
      ]);
  });
});

describe("a hook that may not be used", () => {
  test("gets the same answer whether it is unknown, disabled or deleted", async () => {
    const [disabled, deleted] = [await hookOf(), await hookOf()];
    const { run_id } = (await post(disabled)).body;
    for (const hook of [disabled, deleted]) {
      const { workflow_id } = hook as Hook & { workflow_id: string };
      expect((await home.owner("DELETE", `/workflows/${workflow_id}/triggers/${hook.id}`)).status).toBe(204);
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

  test("can poll a retry of its run, and no fork, which a person starts", async () => {
    const hook = await hookOf("fails");
    const { run_id } = (await post(hook)).body;
    await home.until(run_id, isOver);
    const begin = async (way: string) => (await home.owner("POST", `/workflows/runs/${run_id}/${way}`, {})).body.id;
    const [retry, fork] = [await begin("retry"), await begin("fork")];
    expect((await poll(hook, retry)).status).toBe(200);
    expect(code(await poll(hook, fork))).toEqual([404, "run_not_found"]);
  });

  test("cannot poll runs of other hooks", async () => {
    const workflow = await stage.register("echo");
    const [hook, sibling] = [await home.hook(workflow), await home.hook(workflow)];
    const other = await stage.join("Elsewhere");
    const abroad = await other.hook(await stage.register("echo", {}, other));
    const unknown = await poll(hook, UNKNOWN);
    expect(code(unknown)).toEqual([404, "run_not_found"]);
    const runs = [
      await home.start(workflow),
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

  test("has status URLs with the public address of the deployment, whatever the Host header", async () => {
    const hook = await hookOf();
    const head = ["Host: evil.example", "X-Forwarded-Host: evil.example", `Authorization: Bearer ${hook.secret}`];
    const line = `POST /api/workflows/hooks/${hook.hook_token} HTTP/1.1`;
    const answer = await raw(stage.url, [line, ...head, "Content-Length: 0", "Connection: close", "", ""].join("\r\n"));
    expect(answer).toContain("202 Accepted");
    expect(answer).not.toContain("evil.example");
  });
});

test("an old secret stops working once its rotation is answered, under parallel requests", async () => {
  const workflow = await stage.register("echo");
  const hook = await home.hook(workflow);
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
    await expect.poll(() => answers.fresh.length).toBeGreaterThan(before + 6);
    const rotated = await home.made(home.owner("POST", `/workflows/${workflow.id}/triggers/${hook.id}/rotate`));
    stale.push(secret);
    secret = rotated.secret;
    await Promise.all(Array.from({ length: 8 }, () => ask("stale", stale.at(-1)!)));
    expect((await post({ ...hook, secret })).status).toBe(202);
  }
  over = true;
  await Promise.all(callers);
  expect(answers.stale.length).toBeGreaterThan(40);
  expect(new Set(answers.stale)).toEqual(new Set([401]));
  // a request sent during a rotation may arrive after it
  expect(answers.fresh.filter((status) => status === 202).length).toBeGreaterThan(30);
});
