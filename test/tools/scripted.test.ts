import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { openDesk, toolSource } from "./desk.ts";

/* An organization's own tools in chats and agents. */

const seen: { method: string; path: string; headers: Record<string, unknown>; body: string }[] = [];
async function sell(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await Array.fromAsync(request)).join("");
  seen.push({ method: request.method!, path: request.url!, headers: request.headers, body });
  if (request.url === "/away") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
  else response.writeHead(201, { "content-type": "application/json", "x-kind": "a" }).end('{"stock":3}');
}
const shop = createServer((request, response) => void sell(request, response));

shop.listen(0, "127.0.0.1");
await once(shop, "listening");
const { port } = shop.address() as AddressInfo;
const shop_url = `http://127.0.0.1:${port}`;
const desk = await openDesk({ PRIVATE_FETCH_HOSTS: `127.0.0.1:${port}` });
const provider = desk.service.provider;
afterAll(() => void shop.close());
beforeEach(() => {
  provider.requests.length = 0;
  seen.length = 0;
});

const define = async (name: string, source: string, more: object = {}) => {
  const { status, text, body } = await desk.define(source, { name, ...more });
  if (status !== 201) throw new Error(text);
  return body;
};
/** The model calls the tool once, then repeats the result. */
const calls = (name: string, args: unknown = {}) =>
  provider.script(({ method, body }) => {
    if (method !== "POST") return undefined;
    const result = body.messages.findLast(({ role }: any) => role === "tool");
    return result ? { text: `result: ${result.content}` } : { tool_calls: [{ name, arguments: args as object }] };
  });
const chat = (name: string, more: object = {}) =>
  desk.complete({
    model: "openai/gpt-test",
    messages: [{ role: "user", content: "Go" }],
    tools: [{ type: "function", function: { name } }],
    ...more,
  });
const resultIn = async (name: string, more: object = {}): Promise<string> => {
  const { status, body, text } = await chat(name, more);
  if (status !== 200) throw new Error(text);
  return body.choices[0].message.content.replace("result: ", "");
};
const agentOf = async (tools: string[]) => {
  const { body } = await desk.person("POST", "/agents", { name: "Seller", model: "openai/gpt-test", tools });
  return clientOf({ chat: `${desk.api}/agents/${body.id}/v1` }, desk.service.credentials.api_key);
};

const parameters = { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] };

describe("a scripted tool", () => {
  test("is offered with its own description, and receives arguments, vars and user", async () => {
    const source = toolSource("return { sku: args.sku, ...meta };", { description: "Looks up stock", parameters });
    await define("stock", source);
    calls("stock", { sku: "A-1" });
    const result = await resultIn("stock", { user: "anna", metadata: { region: "eu", plan: "gold" } });
    expect(JSON.parse(result)).toEqual({
      sku: "A-1",
      vars: { region: "eu", plan: "gold" },
      user: "anna",
      thread_id: expect.any(String),
      response_id: expect.any(String),
    });
    const [{ body }] = provider.requests.filter(({ method }) => method === "POST") as [any];
    expect(body.tools).toEqual([
      {
        type: "function",
        function: expect.objectContaining({ name: "stock", description: "Looks up stock", parameters }),
      },
    ]);
    expect(JSON.parse(await resultIn("stock"))).toMatchObject({ vars: {}, user: null });
  });

  test("is a function call of an agent, and receives the request's vars", async () => {
    const call = await agentOf(["stock"]);
    calls("stock", { sku: "A-2" });
    const { body } = await call("POST", "/responses", {
      input: "Go",
      user: "ben",
      vars: { a: "1" },
      metadata: { a: "2", b: "3" },
    });
    expect(body.status).toBe("completed");
    expect(body.output.map(({ type, status }: any) => [type, status])).toEqual([
      ["function_call", "completed"],
      ["message", "completed"],
    ]);
    expect(body.output[0]).toMatchObject({ name: "stock", arguments: '{"sku":"A-2"}' });
    expect(JSON.parse(body.output[1].content[0].text.replace("result: ", ""))).toMatchObject({
      sku: "A-2",
      vars: { a: "1", b: "3" },
      user: "ben",
    });
  });

  test("receives no arguments that its parameters refuse, and the model reads why", async () => {
    for (const [args, error] of [
      [{ sku: 5 }, "/sku"],
      [{}, "sku"],
    ] as const) {
      calls("stock", args);
      expect(JSON.parse(await resultIn("stock")).error).toMatch(/^The arguments do not fit: /);
      expect(JSON.parse(await resultIn("stock")).error).toContain(error);
    }
    const optional = { ...parameters, properties: { ...parameters.properties, size: { type: "integer" } } };
    await define("sized", toolSource("return args;", { parameters: optional }));
    calls("sized", { sku: "A-1", size: null });
    expect(JSON.parse(await resultIn("sized"))).toEqual({ sku: "A-1" });
  });

  test("of an agent cannot be deleted or renamed until the agent no longer uses it", async () => {
    const { id } = await define("owned", toolSource("return 1"));
    const agent = (
      await desk.person("POST", "/agents", { name: "Owner of it", model: "offline/echo", tools: ["owned"] })
    ).body;
    const refused = await desk.person("DELETE", `/definitions/${id}`);
    expectRefusal(refused, 409, "definition_in_use", "id");
    expect(refused.body.error.message).toContain('"Owner of it"');
    expectRefusal(await desk.person("PATCH", `/definitions/${id}`, { name: "mine" }), 409, "definition_in_use", "id");
    expect((await desk.person("PATCH", `/definitions/${id}`, { source: toolSource("return 2") })).status).toBe(200);
    await desk.person("PATCH", `/agents/${agent.id}`, { tools: [] });
    expect((await desk.person("DELETE", `/definitions/${id}`)).status).toBe(204);
  });

  test("can be forced by name", async () => {
    calls("stock", { sku: "A-3" });
    await resultIn("stock", { tool_choice: { type: "function", function: { name: "stock" } } });
    const [{ body }] = provider.requests.filter(({ method }) => method === "POST") as [any];
    expect(body.tool_choice).toEqual({ type: "function", function: { name: "stock" } });
    const other = { type: "function", function: { name: "other" } };
    expectRefusal(await chat("stock", { tool_choice: other }), 400, "invalid_tool_choice");
  });

  test("that does not exist is refused", async () => {
    expectRefusal(await chat("no_such_tool"), 400, "unknown_tool");
    await desk.person("POST", "/definitions", {
      type: "workflow",
      name: "a_workflow",
      source: "export function run() {}",
    });
    expectRefusal(await chat("a_workflow"), 400, "unknown_tool");
    const other = await desk.service.organization("Other");
    const stranger = clientOf(desk.service, other.api_key);
    expectRefusal(
      await stranger("POST", "/chat/completions", {
        model: "offline/echo",
        messages: [{ role: "user", content: "Go" }],
        tools: [{ type: "function", function: { name: "stock" } }],
      }),
      400,
      "unknown_tool",
    );
  });

  test("that was deleted is unknown to the next request, and fails in a running turn", async () => {
    const { id } = await define("brief", toolSource("return 1"));
    expect((await desk.person("DELETE", `/definitions/${id}`)).status).toBe(204);
    expectRefusal(await chat("brief"), 400, "unknown_tool");
    const call = await agentOf(["stock"]);
    const { body: list } = await desk.person("GET", "/definitions?limit=500");
    expect(list.data.some(({ name }: any) => name === "brief")).toBe(false);
    calls("brief");
    const { body } = await call("POST", "/responses", { input: "Go" });
    expect(body.output[0]).toMatchObject({ type: "function_call", status: "incomplete" });
    expect(body.status).toBe("completed");
  });

  test("that changes during a turn runs in the version from the start of the turn", async () => {
    const gate = Promise.withResolvers<void>();
    const requested = Promise.withResolvers<void>();
    const { id } = await define("changing", toolSource("return 'first'"));
    provider.script(({ method, body }) => {
      if (method !== "POST") return undefined;
      const result = body.messages.findLast(({ role }: any) => role === "tool");
      if (result) return { text: `result: ${result.content}` };
      return {
        async write(response) {
          requested.resolve();
          await gate.promise;
          const call = { id: "c1", type: "function", function: { name: "changing", arguments: "{}" } };
          const message = { role: "assistant", content: null, tool_calls: [call] };
          const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
          const whole = { id: "x", object: "chat.completion", created: 1, model: "gpt-test", choices };
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
        },
      };
    });
    const running = resultIn("changing");
    await requested.promise;
    expect((await desk.person("PATCH", `/definitions/${id}`, { source: toolSource("return 'second'") })).status).toBe(
      200,
    );
    gate.resolve();
    expect(await running).toBe('"first"');
    calls("changing");
    expect(await resultIn("changing")).toBe('"second"');
  });
});

describe("a failing scripted tool", () => {
  test.each([
    ["that throws", "throw new RangeError('no such article')", "RangeError: no such article (line 3, column 11)"],
    ["that returns no JSON", "return () => 1", "a value that JSON can represent"],
    ["that never answers", "await new Promise(() => {})", "never settles"],
    ["that returns too much", "return 'x'.repeat(2e6)", "larger than 1 MiB"],
  ])("%s reports its error to the model, and an agent's item is incomplete", async (_, body, message) => {
    const name = `failing_${failing++}`;
    await define(name, toolSource(body));
    calls(name);
    expect(JSON.parse(await resultIn(name)).error).toContain(message);
    const call = await agentOf([name]);
    const { body: response } = await call("POST", "/responses", { input: "Go" });
    expect(response).toMatchObject({ status: "completed", error: null });
    expect(response.output.map(({ type, status }: any) => [type, status])).toEqual([
      ["function_call", "incomplete"],
      ["message", "completed"],
    ]);
    expect(response.output[1].content[0].text).toContain(message.replaceAll('"', '\\"'));
  });
  let failing = 0;

  test("with arguments that are no JSON reports that to the model", async () => {
    calls("stock", "{sku:");
    expect(JSON.parse(await resultIn("stock")).error).toMatch(/not valid JSON/);
  });
});

describe("the secrets of a scripted tool", () => {
  const canary = "canary-of-a-shop-key";
  beforeAll(async () => {
    await desk.person("PUT", "/secrets/shop_key", { value: canary });
  });

  test("are readable if the script declares them and they are granted, and reach no model", async () => {
    const body = `const key = await secrets.get("shop_key");
      await fetch("${shop_url}/orders", { headers: { "X-Key": key } });
      return { key, length: key.length, in: "the key is " + key };`;
    await define("orders", toolSource(body, { secrets: ["shop_key"] }), { grants: ["shop_key"] });
    calls("orders");
    expect(JSON.parse(await resultIn("orders"))).toEqual({
      key: "[secret shop_key]",
      length: canary.length,
      in: "the key is [secret shop_key]",
    });
    expect(seen[0]!.headers["x-key"]).toBe(canary);
    await define(
      "leaky",
      toolSource(`throw new Error("no " + (await secrets.get("shop_key")))`, { secrets: ["shop_key"] }),
      {
        grants: ["shop_key"],
      },
    );
    calls("leaky");
    expect(JSON.parse(await resultIn("leaky")).error).toContain("no [secret shop_key]");
    expect(JSON.stringify(provider.requests)).not.toContain(canary);
  });

  test.each([
    ["backwards", "key.split('').reverse().join('')"],
    ["as base64", "btoa('user:' + key)"],
    ["in an address", "encodeURIComponent(key)"],
  ])("reach no model %s, in results and errors", async (_, form) => {
    await desk.person("PUT", "/secrets/odd_key", { value: "odd/key+of a=shop" });
    const options = { secrets: ["odd_key"] };
    const source = `const key = await secrets.get("odd_key"); const told = ${form};`;
    const [returning, throwing] = [++coded, ++coded].map((n) => `coded_${n}`) as [string, string];
    await define(returning, toolSource(`${source} return { told };`, options), { grants: ["odd_key"] });
    await define(throwing, toolSource(`${source} throw new Error(told);`, options), { grants: ["odd_key"] });
    for (const name of [returning, throwing]) {
      calls(name);
      expect(await resultIn(name)).toContain("[secret odd_key]");
    }
  });
  let coded = 0;

  test("appear in the trace of the turn by name, with the version of the tool", async () => {
    const source = toolSource("return (await secrets.get('shop_key')).length;", { secrets: ["shop_key"] });
    const { id } = await define("counted", source, { grants: ["shop_key"] });
    await desk.person("PATCH", `/definitions/${id}`, { source });
    calls("counted");
    const { body } = await chat("counted");
    const traced = await desk.person("GET", `/turns/${body.id.replace("chatcmpl-", "")}/trace`);
    expect(traced.body.rounds[0].calls[0]).toMatchObject({ name: "counted", tool_version: 2, secrets: ["shop_key"] });
  });

  test("are refused if they are not declared, not granted, or not set", async () => {
    const refused = "return await secrets.get(args.name).catch((error) => error.message)";
    const { id } = await define("asking", toolSource(refused, { secrets: ["shop_key", "unset"] }), {
      grants: ["unset"],
    });
    const ask = async (name: string) => {
      calls("asking", { name });
      return JSON.parse(await resultIn("asking"));
    };
    expect(await ask("shop_key")).toBe("The secret shop_key is not granted to this script.");
    expect(await ask("other")).toBe("The script does not name the secret other in meta.secrets.");
    expect(await ask("unset")).toBe("The secret unset is not set.");
    await desk.person("PATCH", `/definitions/${id}`, { grants: ["shop_key"] });
    expect(await ask("shop_key")).toBe("[secret shop_key]");
    expect(await ask("unset")).toBe("The secret unset is not granted to this script.");
  });
});

describe("fetch of a scripted tool", () => {
  const fetching = toolSource(
    `const answer = await fetch(args.url, args.init);
     return { status: answer.status, ok: answer.ok, kind: answer.headers.get("X-Kind"), none: answer.headers.get("x-none"), json: await answer.json() };`,
  );
  const trying = toolSource(
    "return await fetch(args.url, args.init).then((answer) => answer.status, (error) => error.message)",
  );
  beforeAll(async () => {
    await define("fetching", fetching);
    await define("trying", trying);
  });

  test("reaches an allowed address with method, headers and body", async () => {
    calls("fetching", {
      url: `${shop_url}/stock?a=1`,
      init: { method: "POST", headers: { "Content-Type": "text/plain", "X-A": "b" }, body: "hello" },
    });
    expect(JSON.parse(await resultIn("fetching"))).toEqual({
      status: 201,
      ok: true,
      kind: "a",
      none: null,
      json: { stock: 3 },
    });
    expect(seen).toMatchObject([
      { method: "POST", path: "/stock?a=1", body: "hello", headers: { "content-type": "text/plain", "x-a": "b" } },
    ]);
  });

  test.each([
    ["http://127.0.0.1:5432/"],
    ["http://localhost/"],
    ["http://[::1]/"],
    ["http://169.254.169.254/latest/meta-data"],
    ["http://user:pass@example.com/"],
    ["file:///etc/passwd"],
    ["ftp://example.com/"],
    ["http://example.com:8080/"],
    ["nonsense"],
  ])("refuses %s", async (url) => {
    calls("trying", { url });
    expect(JSON.parse(await resultIn("trying"))).toMatch(/refused|reached/);
  });

  test("refuses a redirect to a refused address, other methods, and invalid headers", async () => {
    calls("trying", { url: `${shop_url}/away` });
    expect(JSON.parse(await resultIn("trying"))).toMatch(/refused/);
    calls("trying", { url: shop_url, init: { method: "TRACE" } });
    expect(JSON.parse(await resultIn("trying"))).toMatch(/method TRACE is not allowed/);
    for (const headers of [{ "a b": "c" }, { a: "b\r\nc: d" }, { a: "x".repeat(9_000) }]) {
      calls("trying", { url: shop_url, init: { headers } });
      expect(JSON.parse(await resultIn("trying"))).toEqual(expect.any(String));
    }
    expect(seen.map(({ path }) => path)).toEqual(["/away"]);
  });
});

test("an owner switches scripted tools off and on: requests with them are refused, and agents answer without them", async () => {
  const own = await openDesk();
  await own.define(toolSource("return 1"), { name: "own" });
  const agent = (
    await own.person("POST", "/agents", { name: "A", model: "offline/scripted", tools: ["own", "web_fetch"] })
  ).body;
  const callOfAgent = async () => {
    const { body } = await own.key("POST", `/agents/${agent.id}/v1/responses`, { input: "/tool own {}\n/say Done." });
    return body.output.map(({ status }: { status: string }) => status);
  };
  const turn = (enabled: boolean) => own.person("PUT", "/tools/scripted", { enabled });
  for (let n = 0; n < 2; n++) {
    expect((await turn(false)).body).toEqual({ enabled: false, available: false });
    const refused = await own.obey(["/tool own {}"], ["own"]);
    expectRefusal(refused, 400, "tools_unavailable", "tools[0].function.name");
    expect(refused.body.error.message).toContain("switched off for the organization");
    expectRefusal(await own.person("POST", "/agents", { name: "B", tools: ["own"] }), 400, "tools_unavailable");
    expect(await callOfAgent()).toEqual(["incomplete", "completed"]);
    expect((await own.key("GET", "/tools/scripted")).body).toEqual({ enabled: false, available: false });
    expect((await turn(true)).body).toEqual({ enabled: true, available: true });
    expect((await own.obey(["/tool own {}"], ["own"])).status).toBe(200);
    expect(await callOfAgent()).toEqual(["completed", "completed"]);
  }
  expect((await turn(true)).status).toBe(200);
  const { body } = await own.person("GET", "/events?type=ScriptedToolsSwitched");
  expect(body.data.map(({ data }: { data: object }) => data)).toEqual(
    [false, true, false, true].map((enabled) => ({ enabled })),
  );
});

test("scripted tools are unavailable if the deployment disables them", async () => {
  const off = await openDesk({ SCRIPTED_TOOLS: "off" });
  expect((await off.define(toolSource("return 1"), { name: "own" })).status).toBe(201);
  expectRefusal(await off.obey(["/tool own {}"], ["own"]), 400, "tools_unavailable");
  expectRefusal(
    await off.person("POST", "/agents", { name: "A", tools: ["own"] }),
    400,
    "tools_unavailable",
    "tools[0]",
  );
  expect((await off.obey(["hello"], [])).status).toBe(200);
  expect((await off.key("GET", "/tools/scripted")).body).toEqual({ enabled: true, available: false });
});
