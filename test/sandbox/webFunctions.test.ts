import { afterAll, describe, expect, test } from "vitest";
import { openWorkflows } from "#infra/sandbox/workflows/openWorkflows.ts";
import type { StepCall } from "#services/workflows/tick.ts";
import { moduleWithRun, runThrough, stepCallFor, tickCallFor } from "./workflowCalls.ts";

/* Functions of the web platform in workflows: what they give is compared with this process's own. */

const runner = openWorkflows({ processes: 1, cpu_ms: 500 });
afterAll(() => runner.close());
const done = async (body: string, more: Partial<StepCall> = {}): Promise<any> =>
  JSON.parse((await runner.step(stepCallFor(body, more))).json);
const AsyncFunction = (async () => {}).constructor as new (body: string) => () => Promise<unknown>;
/** What the same code gives outside of the sandbox. */
const outside = async (body: string) => JSON.parse(JSON.stringify(await new AsyncFunction(body)()));

describe("a step has the web functions", () => {
  test.each([
    [
      "URL",
      `const url = new URL("../b?x=1#y", "https://user:pw@a.example:8443/p/q/"); url.searchParams.append("ü", "a b"); url.pathname = "/c d"; url.port = "";
      return [url.href, url.origin, url.host, url.hash, url.username, String(url), JSON.stringify({ url }), URL.canParse("x"), url.searchParams.get("ü")];`,
    ],
    [
      "URL with another search",
      `const url = new URL("https://a.example/?a=1"); const { searchParams } = url; url.search = "?b=2"; url.searchParams.delete("b"); return [url.href, searchParams.size];`,
    ],
    [
      "URLSearchParams",
      `const p = new URLSearchParams("?a=1&b=2&a=3"); p.set("a", "x y"); p.append("c", "&="); p.sort();
      return [p.toString(), [...p], p.getAll("a"), p.has("b", "2"), new URLSearchParams({ q: "é" }).toString(), new URLSearchParams([["a", 1]]).toString()];`,
    ],
    [
      "TextEncoder and TextDecoder",
      `const bytes = new TextEncoder().encode("añ€😀\\ud800"); return [[...bytes], new TextDecoder().decode(bytes), new TextDecoder("latin1").decode(new Uint8Array([228])), new TextDecoder("utf-8").encoding];`,
    ],
    [
      "digests",
      `const data = new TextEncoder().encode("abc".repeat(20000)); const hex = (b) => [...new Uint8Array(b)].map((n) => n.toString(16).padStart(2, "0")).join("");
      return Promise.all(["SHA-1", "SHA-256", "SHA-384", { name: "sha-512" }].map(async (name) => hex(await crypto.subtle.digest(name, data))));`,
    ],
    [
      "HMAC",
      `const e = new TextEncoder(); const key = await crypto.subtle.importKey("raw", e.encode("It's a Secret to Everybody"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
      const mac = await crypto.subtle.sign("HMAC", key, e.encode("Hello, World!")); const verify = (s, t) => crypto.subtle.verify("HMAC", key, s, e.encode(t));
      return [btoa(String.fromCharCode(...new Uint8Array(mac))), await verify(mac, "Hello, World!"), await verify(mac, "Hello"), await verify(new Uint8Array(3), "Hello, World!")];`,
    ],
  ])("%s", async (_, body) => expect(await done(body)).toEqual(await outside(body)));

  test.each([
    ["an invalid address", 'new URL("x")', "Invalid URL"],
    ["an unknown encoding", 'new TextDecoder("none")', "none"],
    [
      "bytes that are no text",
      'new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))',
      "encoded data",
    ],
    ["another hash", 'await crypto.subtle.digest("MD5", new Uint8Array(1))', "must be one of SHA-1"],
    ["another algorithm", 'await crypto.subtle.sign("RSA-PSS", {}, new Uint8Array(1))', "must be HMAC"],
    ["text instead of bytes", 'await crypto.subtle.digest("SHA-256", "abc")', "must be an ArrayBuffer"],
    ["a long text", 'new TextEncoder().encode("x".repeat(7e6))', "longer than 1 MiB"],
  ])("with an error for %s", async (_, code, message) => {
    const caught = await done(`try { ${code}; return "no error"; } catch (error) { return error.message; }`);
    expect(caught.toLowerCase()).toContain(message.toLowerCase());
  });

  test("random values, which differ", async () => {
    const body = "return [crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(16))]]";
    const [[id, bytes], [other, others]] = [await done(body), await done(body)];
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([other === id, JSON.stringify(others) === JSON.stringify(bytes)]).toEqual([false, false]);
  });
});

test("timers of a step fire in the order of their times unless they are cleared", async () => {
  const body = `const told = [];
    setTimeout((what) => told.push(what), 40, "later");
    setTimeout(() => told.push("soon"), 5);
    clearTimeout(setTimeout(() => told.push("never"), 1));
    setTimeout(() => { throw new Error("in a timer"); }, 1);
    await new Promise((resolve) => setTimeout(resolve, 80));
    return told;`;
  const { json, logs } = await runner.step(stepCallFor(body));
  expect([JSON.parse(json), logs]).toEqual([["soon", "later"], ["setTimeout: in a timer"]]);
});

test("console writes to the log of the step and of the run", async () => {
  const { logs } = await runner.step(stepCallFor('console.log("a", { b: 1 }); console.error("c")'));
  expect(logs).toEqual(['a {"b":1}', "c"]);
  const js = moduleWithRun('console.warn("from run()"); return new URL("https://a.example/x").pathname;');
  const [outcome] = await runThrough(runner, tickCallFor(js));
  expect([outcome!.logs, outcome!.end]).toMatchObject([["from run()"], { type: "completed", json: '"/x"' }]);
});

test.each([
  ["setTimeout(() => {}, 1)", "use sleep()"],
  ["crypto.randomUUID()", "use uuid(label)"],
])("run() has no %s, because it would differ between ticks", async (code, instead) => {
  const [outcome] = await runThrough(runner, tickCallFor(moduleWithRun(code)));
  expect(outcome!.end).toMatchObject({ type: "failed", message: expect.stringContaining(instead) });
});

test("top-level code of a module may use web functions, in steps and in run()", async () => {
  const js = `const encoder = new TextEncoder(); const base = new URL("https://a.example/");\n${moduleWithRun("return encoder.encode(base.host).length")}`;
  const [outcome] = await runThrough(runner, tickCallFor(js));
  expect(outcome!.end).toMatchObject({ type: "completed", json: "9" });
});
