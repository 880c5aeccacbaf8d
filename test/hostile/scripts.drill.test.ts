import { afterAll, describe, expect, test } from "vitest";
import { openScripts } from "#infra/sandbox/openScripts.ts";
import { ScriptError, type ScriptCall } from "#services/scripting/runner.ts";

const runner = openScripts({ processes: 2, cpu_ms: 300 });
afterAll(() => runner.close());

let requests: [what: string, request: unknown][] = [];
const host: ScriptCall["host"] = {
  fetch: async (request) => {
    requests.push(["fetch", request]);
    return { status: 200, headers: [["content-type", "text/plain"]], body: "hello" };
  },
  secret: async (name) => {
    requests.push(["secret", name]);
    return "s3cret";
  },
};

const runModule = async (js: string, organization_id = "hostile"): Promise<unknown> => {
  requests = [];
  const call = { organization_id, js, args: {}, meta: { vars: {} }, host, signal: new AbortController().signal };
  return JSON.parse(await runner.run(call));
};
const run = (body: string, organization_id?: string) =>
  runModule(`export async function execute(args, { meta, secrets, fetch }) { ${body} }`, organization_id);
const failure = async (body: string): Promise<ScriptError> => {
  const error = await run(body).then(
    (value) => expect.unreachable(`it returned ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ScriptError);
  return error as ScriptError;
};
const TOO_LONG = /computed for longer than 0.3 seconds/;

describe("a script that never ends is stopped, and another runs:", () => {
  test.each([
    ["a search in native code", "return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)"],
    ["a search for a long text", "return 'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')"],
    ["endless microtasks", "const f = () => Promise.resolve().then(f); await f()"],
    ["an async generator", "async function* g() { for (;;) yield 1 } for await (const x of g()) ;"],
    ["a getter of an error's message", "throw { get message() { for (;;) {} } }"],
    ["toString of a thrown value", "throw { toString() { for (;;) {} } }"],
    ["a proxy that is thrown", "throw new Proxy({}, { get() { for (;;) {} } })"],
    ["toJSON of the result", "return { toJSON() { for (;;) {} } }"],
    ["a proxy as the result", "return new Proxy({}, { ownKeys() { for (;;) {} } })"],
    ["a thenable as the result", "return { then() { for (;;) {} } }"],
    ["toString of an address", "await fetch({ toString() { for (;;) {} } })"],
    ["numbers that grow", "let n = 3n; for (;;) n *= n"],
    ["eval", "eval('for (;;) {}')"],
    ["a function from text", "new Function('for (;;) {}')()"],
  ])("%s", async (_, body) => {
    expect((await failure(body)).message).toMatch(/computed for longer than 0.3 seconds|too large|out of memory/);
    expect(await run("return 1", "other")).toBe(1);
  });

  test("a loop at the top level", async () => {
    await expect(runModule("for (;;) {}")).rejects.toThrow(TOO_LONG);
    await expect(runModule("await new Promise(() => {}); export function execute() {}")).rejects.toThrow(
      /never settles/,
    );
  });
});

describe("a script that grows without end is stopped, and another runs:", () => {
  test.each([
    ["promises by the thousand", "const all = []; for (;;) all.push(new Promise(() => {}))"],
    ["a buffer", "const all = []; for (;;) all.push(new ArrayBuffer(8e6))"],
    ["a map", "const m = new Map(); for (let n = 0; ; n++) m.set(n, String(n))"],
    [
      "finalizers and weak references",
      "const r = new FinalizationRegistry(() => {}); const all = []; for (;;) { const o = {}; r.register(o, 1); all.push(o, new WeakRef(o)); }",
    ],
    ["a typed array", "return new Uint8Array(2 ** 31).length"],
    ["padding", "return 'x'.padEnd(2 ** 29).length"],
    ["a result in layers", "let a = []; for (let n = 0; n < 1e6; n++) a = [a]; return a"],
    ["recursion in toJSON", "const o = { toJSON: () => ({ o }) }; return o"],
    ["recursion in a getter", "const o = { get a() { return o.a } }; return o"],
    ["recursion through a proxy", "const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x"],
    ["recursion of an error's message", "const e = { get message() { throw e } }; throw e"],
  ])("%s", async (_, body) => {
    expect((await failure(body)).message).not.toBe("");
    expect(await run("return 1", "other")).toBe(1);
  });
});

describe("a source that attacks compilers is refused or compiled, and the next one is compiled:", () => {
  const nested = (open: string, close: string, times: number) => open.repeat(times) + "1" + close.repeat(times);
  test.each([
    ["brackets", `export const meta = ${nested("(", ")", 60_000)}`],
    ["lists", `export const meta = ${nested("[", "]", 60_000)}`],
    ["blocks", nested("{", "}", 60_000)],
    ["arrows that may be conditions", `export const meta = ${nested("a ? (b) : (c => ", ")", 40)}`],
    ["types that may be comparisons", `let a = ${"f<".repeat(60)}1`],
    ["arrows with types", `let a = ${"(b: (c = ".repeat(40)}1${") => 1".repeat(40)}`],
    ["templates", `let a = ${"`${".repeat(3_000)}1${"}`".repeat(3_000)}`],
    ["a long number", `let a = ${"9".repeat(200_000)}n`],
    ["a long regular expression", `let a = /${"(a|b)*".repeat(20_000)}/`],
    ["types in layers", `type A = ${"{ a: ".repeat(10_000)}1${" }".repeat(10_000)}`],
    ["NUL and lone surrogates", "export const meta = { description: '\u0000\ud800' }"],
  ])("%s", async (_, source) => {
    const outcome = await runner.inspect("hostile", source).catch((error: unknown) => error);
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ScriptError);
    expect(await runner.inspect("other", "export const execute = () => 1")).toMatchObject({ executes: true });
  });
});

describe("a request of a script", () => {
  test("is refused above the limits and has no side effects", async () => {
    const answer = await run(
      "let refused = 0; const all = []; for (let n = 0; n < 2000; n++) all.push(fetch('https://a.example/' + n).catch(() => { refused++ })); await Promise.all(all); return refused",
    );
    expect(answer).toBe(1_980);
    expect(requests).toHaveLength(20);
    expect((await failure("for (;;) await fetch('https://a.example')")).message).toBe("Too many requests.");
    expect(requests).toHaveLength(200);
  });

  test("is refused when it is too large", async () => {
    const large = "'x'.repeat(2e6)";
    for (const init of [`{ body: ${large} }`, `{ headers: { a: ${large} } }`, `{ method: ${large} }`])
      expect((await failure(`await fetch('https://a.example', ${init})`)).message).toMatch(/too large/);
    expect((await failure(`await secrets.get(${large})`)).message).toMatch(/too large/);
    expect(requests).toEqual([]);
  });

  test.each([
    ["toJSON of objects", "Object.prototype.toJSON = () => undefined"],
    ["toJSON of lists", "Array.prototype.toJSON = () => ({ url: 1 })"],
    ["setters of lists", "Object.defineProperty(Array.prototype, '0', { set() {}, get: () => 'x' })"],
    ["JSON", "JSON.stringify = () => 'x'; JSON.parse = () => ({})"],
    ["Object", "Object.entries = () => [[1, 2]]; Object.setPrototypeOf = () => ({}); Object.freeze = () => 1"],
    ["iterators", "Array.prototype[Symbol.iterator] = function* () { yield 'x' }"],
    ["calls", "Function.prototype.call = Function.prototype.apply = () => 'x'; Reflect.apply = () => 'x'"],
    ["promises", "Promise.prototype.then = () => 1; Promise.resolve = () => 1"],
    [
      "strings",
      "String.prototype.toLowerCase = () => 'x'; String.prototype.slice = () => 'x'; globalThis.String = () => 'x'",
    ],
  ])("stays intact when the script breaks %s", async (_, tricks) => {
    await run(
      `${tricks}; const answer = await fetch("https://a.example/", { method: "PUT", headers: { "X-A": "b" }, body: "c" });
       if (answer.status !== 200 || await answer.text() !== "hello") throw new Error("broken"); await secrets.get("key")`,
    ).catch(() => {});
    expect(requests).toEqual([
      ["fetch", { url: "https://a.example/", method: "PUT", headers: [["X-A", "b"]], body: "c" }],
      ["secret", "key"],
    ]);
  });

  test("is aborted when the script ends", async () => {
    const aborted = Promise.withResolvers<void>();
    const call = {
      organization_id: "hostile",
      js: "export async function execute(_, { fetch, secrets }) { fetch('https://slow.example'); await secrets.get('key'); return 1 }",
      args: {},
      meta: {},
      host: {
        // answered after the other request has arrived
        secret: () => answer.promise,
        fetch: (_: unknown, signal: AbortSignal) => {
          answer.resolve("s3cret");
          signal.addEventListener("abort", () => aborted.resolve());
          return new Promise<never>(() => {});
        },
      },
      signal: new AbortController().signal,
    };
    const answer = Promise.withResolvers<string>();
    expect(await runner.run(call)).toBe("1");
    await aborted.promise;
  });
});

describe("a script cannot leave its VM through", () => {
  test.each([
    ["the constructor of a function", "return fetch.constructor('return typeof process')()"],
    ["the constructor of a generator", "return (function* () {}).constructor('yield typeof process')().next().value"],
    ["the constructor of an async function", "return (async () => {}).constructor('return typeof process')()"],
    [
      "an error of the host",
      "return await fetch('https://a.example', { body: 'x'.repeat(2e6) }).catch((e) => e.constructor.constructor('return typeof process')())",
    ],
    ["a proxy around everything", "return new Proxy(fetch, {}).constructor.constructor('return typeof process')()"],
    ["the arguments of a caller", "return (function () { return typeof (arguments.callee.caller ?? undefined) })()"],
    ["indirect eval", "return (0, eval)('typeof process')"],
  ])("%s", async (_, body) => {
    expect(await run(body).catch((error: Error) => error.message)).not.toBe("object");
  });

  test("a global that shares memory or measures time", async () => {
    const names = [
      "SharedArrayBuffer",
      "Atomics",
      "performance",
      "WebAssembly",
      "Worker",
      "gc",
      "std",
      "os",
      "console",
    ];
    expect(await run(`return ${JSON.stringify(names)}.filter((name) => name in globalThis)`)).toEqual([]);
  });

  test("an import, which fails without a path of this machine", async () => {
    for (const name of ["node:fs", "std", "os", "qjs:std", "./vm.ts", "file:///etc/passwd", "script.js.map"]) {
      const message = await run(
        `return await import("${name}").then(() => "in", (e) => [e.message, e.stack, String(e.cause)].join())`,
      );
      expect(message).toContain(`imports nothing: ${name}`);
      expect(message).not.toMatch(/infra|node_modules|file:\/\/\/(?!etc\/passwd)/);
    }
    await expect(runModule('import fs from "node:fs"; export function execute() {}')).rejects.toThrow(
      /imports nothing/,
    );
    expect(
      await run("return await fetch('https://a.example', { body: 'x'.repeat(2e6) }).catch((e) => String(e.stack))"),
    ).not.toMatch(/infra|node_modules/);
  });
});

describe("a thrown value has a message of limited length:", () => {
  test.each([
    ["a long message", "throw new Error('m'.repeat(1e7))"],
    ["a long stack", "const e = new Error('m'); e.stack = 'script.js:' + '9'.repeat(1e7); throw e"],
    ["a long name", "const e = new Error('m'); e.name = 'n'.repeat(1e7); throw e"],
    ["a stack that is not text", "const e = new Error('m'); e.stack = { toString() { for (;;) {} } }; throw e"],
    ["a symbol", "throw Symbol('x')"],
    ["undefined", "throw undefined"],
    ["an object without a prototype", "throw Object.create(null)"],
    ["a value that cannot be read", "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy"],
    [
      "prepareStackTrace",
      "Error.prepareStackTrace = () => { for (let n = 0; n < 10; n++); return [] }; throw new Error('m')",
    ],
  ])("%s", async (_, body) => {
    const { message } = await failure(body);
    expect(message).not.toBe("");
    expect(message.length).toBeLessThanOrEqual(2_000);
  });
});
