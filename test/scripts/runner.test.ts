import { afterAll, expect, test } from "vitest";
import { openScripts } from "#infra/scripts/openScripts.ts";
import { ScriptFailed, type ScriptCall } from "#services/scripting/runner.ts";

const runner = openScripts({ processes: 2, cpu_ms: 500 });
afterAll(() => runner.close());

const host: ScriptCall["host"] = {
  fetch: async ({ url, method, headers, body }) => ({
    status: 200,
    headers: [["content-type", "application/json"]],
    body: JSON.stringify({ url, method, headers, body }),
  }),
  secret: (name) => (name === "key" ? Promise.resolve("s3cret") : Promise.reject(new Error(`no secret ${name}`))),
};

const run = async (body: string, more: Partial<ScriptCall> = {}): Promise<unknown> =>
  JSON.parse(
    await runner.run({
      organization_id: "o1",
      js: `export async function execute(args, { meta, secrets, fetch }) { ${body} }`,
      args: {},
      meta: {},
      host,
      signal: new AbortController().signal,
      ...more,
    }),
  );
const failure = (body: string, more: Partial<ScriptCall> = {}): Promise<ScriptFailed> =>
  run(body, more).then(
    (value) => expect.unreachable(`it came to ${JSON.stringify(value)}`),
    (error) => error,
  );

test("a script gets its arguments, what it is told of the call, secrets and fetch", async () => {
  const answer = await run(
    `const key = await secrets.get("key");
     const response = await fetch("https://shop.example/orders", { method: "POST", headers: { "X-Key": key }, body: "{}" });
     return { sum: args.a + args.b, vars: meta.vars, type: response.headers.get("Content-Type"), sent: await response.json() };`,
    { args: { a: 1, b: 2 }, meta: { vars: { region: "eu" } } },
  );
  expect(answer).toEqual({
    sum: 3,
    vars: { region: "eu" },
    type: "application/json",
    sent: { url: "https://shop.example/orders", method: "POST", headers: [["X-Key", "s3cret"]], body: "{}" },
  });
});

test("what a script throws is told with its line", async () => {
  expect(await failure("\n\n throw new TypeError('bad order')")).toMatchObject({
    name: "ScriptFailed",
    message: "TypeError: bad order",
    line: 3,
  });
  expect((await failure("await secrets.get('other')")).message).toBe("no secret other");
});

test.each([
  ["a loop", "while (true) {}", /longer than 0.5 seconds/],
  ["a loop that catches", "for (;;) { try { for (;;) {} } catch {} }", /longer than 0.5 seconds/],
  ["a regular expression without end", "return /^(a+)+$/.test('a'.repeat(40) + 'b')", /longer than 0.5 seconds/],
  ["a memory bomb", "const all = []; for (;;) all.push(new Array(1e5).fill(1))", /out of memory/],
  ["a string that doubles", "let s = 'x'; for (;;) s += s", /too long|out of memory/],
  ["an endless recursion", "const f = () => f() + 1; return f()", /stack/],
  ["a promise that nobody keeps", "await new Promise(() => {})", /never comes/],
  ["a flood of output", "return 'x'.repeat(2e6)", /larger than 1 MiB/],
  ["a flood of asking", "await Promise.all(Array.from({ length: 50 }, () => fetch('https://a.example')))", /at once/],
  ["a result that JSON does not know", "return () => 1", /JSON/],
])("%s ends as a failure, and the next script runs", async (_, body, message) => {
  expect((await failure(body)).message).toMatch(message);
  expect(await run("return 1")).toBe(1);
});

test("what a script asks for at once is answered some at a time", async () => {
  let open = 0;
  let most = 0;
  const fetch: ScriptCall["host"]["fetch"] = async () => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 20));
    open -= 1;
    return { status: 200, headers: [], body: "" };
  };
  const twenty = "return (await Promise.all(Array.from({ length: 20 }, () => fetch('https://a.example')))).length";
  expect(await run(twenty, { host: { ...host, fetch } })).toBe(20);
  expect(most).toBe(4);
});

test("a script that would be given too much is not run", async () => {
  const meta = { vars: { long: "x".repeat(1024 * 1024) } };
  expect((await failure("return 1", { meta })).message).toMatch(/larger than 1 MiB/);
});

test("a script finds nothing of the process that runs it", async () => {
  const names = ["process", "require", "WebAssembly", "performance", "__ask", "__execute", "__meta", "setTimeout"];
  expect(await run(`return ${JSON.stringify(names)}.filter((name) => name in globalThis)`)).toEqual([]);
  expect(await run("return Function('return typeof process')()")).toBe("undefined");
  expect(await run("return [].constructor.constructor('return typeof require')()")).toBe("undefined");
  expect((await failure("return await import('node:fs')")).message).toMatch(/imports nothing/);
});

test("what a script breaks of its own world is broken for nobody else", async () => {
  await run(
    "Object.prototype.leak = 1; JSON.parse = () => ({}); Promise.prototype.then = null; globalThis.mark = 1;",
  ).catch(() => {});
  expect(await run("return [typeof leak, typeof mark, ({}).leak === undefined, JSON.parse('[1]')[0]]")).toEqual([
    "undefined",
    "undefined",
    true,
    1,
  ]);
});

test("scripts that are busy hold up no others for longer than they may compute", async () => {
  const busy = Array.from({ length: 4 }, () => failure("for (;;) {}"));
  expect(await run("return 2")).toBe(2);
  for (const { message } of await Promise.all(busy)) expect(message).toMatch(/longer than 0.5 seconds/);
});

test("a call that is not wanted any more ends at once", async () => {
  const cut = new AbortController();
  const waiting = failure("await fetch('https://slow.example')", {
    signal: cut.signal,
    host: {
      ...host,
      fetch: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("gone")))),
    },
  });
  setTimeout(() => cut.abort(new Error("stopped")), 50);
  expect((await waiting).message).toBe("stopped");
});
