import { afterAll, expect, test } from "vitest";
import { openScripts } from "#infra/sandbox/openScripts.ts";
import { ScriptError, type ScriptCall } from "#services/scripting/runner.ts";

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
const failure = (body: string, more: Partial<ScriptCall> = {}): Promise<ScriptError> =>
  run(body, more).then(
    (value) => expect.unreachable(`it returned ${JSON.stringify(value)}`),
    (error) => error,
  );

test("a script gets its arguments, the meta of the call, secrets and fetch", async () => {
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

test("an error of a script includes its line", async () => {
  expect(await failure("\n\n throw new TypeError('bad order')")).toMatchObject({
    name: "ScriptError",
    message: "TypeError: bad order",
    line: 3,
  });
  expect((await failure("await secrets.get('other')")).message).toBe("no secret other");
});

test.each([
  ["a loop", "while (true) {}", /longer than 0.5 seconds/],
  ["a loop that catches", "for (;;) { try { for (;;) {} } catch {} }", /longer than 0.5 seconds/],
  [
    "a regular expression that backtracks for ever",
    "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
    /longer than 0.5 seconds/,
  ],
  ["a memory bomb", "const all = []; for (;;) all.push(new Array(1e5).fill(1))", /out of memory/],
  ["a string that doubles", "let s = 'x'; for (;;) s += s", /too long|out of memory/],
  ["an endless recursion", "const f = () => f() + 1; return f()", /stack/],
  ["a promise that never settles", "await new Promise(() => {})", /never settles/],
  ["too large a result", "return 'x'.repeat(2e6)", /larger than 1 MiB/],
  [
    "too many requests at once",
    "await Promise.all(Array.from({ length: 50 }, () => fetch('https://a.example')))",
    /at once/,
  ],
  ["a result that JSON cannot represent", "return () => 1", /JSON/],
])("%s fails the script, and the next script runs", async (_, body, message) => {
  expect((await failure(body)).message).toMatch(message);
  expect(await run("return 1")).toBe(1);
});

test("four requests of a script are answered at once", async () => {
  let open = 0;
  let peak = 0;
  const fetch: ScriptCall["host"]["fetch"] = async () => {
    peak = Math.max(peak, ++open);
    await new Promise((resolve) => setTimeout(resolve, 20));
    open -= 1;
    return { status: 200, headers: [], body: "" };
  };
  const twenty = "return (await Promise.all(Array.from({ length: 20 }, () => fetch('https://a.example')))).length";
  expect(await run(twenty, { host: { ...host, fetch } })).toBe(20);
  expect(peak).toBe(4);
});

test("a script does not run if its input is too large", async () => {
  const meta = { vars: { long: "x".repeat(1024 * 1024) } };
  expect((await failure("return 1", { meta })).message).toMatch(/larger than 1 MiB/);
});

test("a script cannot access the process that runs it", async () => {
  const names = ["process", "require", "WebAssembly", "performance", "__ask", "__execute", "__meta", "setTimeout"];
  expect(await run(`return ${JSON.stringify(names)}.filter((name) => name in globalThis)`)).toEqual([]);
  expect(await run("return Function('return typeof process')()")).toBe("undefined");
  expect(await run("return [].constructor.constructor('return typeof require')()")).toBe("undefined");
  expect((await failure("return await import('node:fs')")).message).toMatch(/imports nothing/);
});

test("a script sees no changes of an earlier one", async () => {
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

test("busy scripts delay another script no longer than their CPU limit", async () => {
  const busy = Array.from({ length: 4 }, () => failure("for (;;) {}"));
  expect(await run("return 2")).toBe(2);
  for (const { message } of await Promise.all(busy)) expect(message).toMatch(/longer than 0.5 seconds/);
});

test("an aborted call ends at once", async () => {
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
