import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startProvider, type Provider } from "../doubles/provider.ts";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { openDesk, toolOf, type Desk } from "./desk.ts";

/* An organization's own tools in chats and agents, from the request to what the model is told and back. */

const seen: { method: string; path: string; headers: Record<string, unknown>; body: string }[] = [];
async function sell(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await Array.fromAsync(request)).join("");
  seen.push({ method: request.method!, path: request.url!, headers: request.headers, body });
  if (request.url === "/away") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
  else response.writeHead(201, { "content-type": "application/json", "x-kind": "a" }).end('{"stock":3}');
}
const shop = createServer((request, response) => void sell(request, response));

let provider: Provider;
let desk: Desk;
let shop_url: string;
beforeAll(async () => {
  provider = await startProvider();
  shop.listen(0, "127.0.0.1");
  await once(shop, "listening");
  const { port } = shop.address() as AddressInfo;
  shop_url = `http://127.0.0.1:${port}`;
  desk = await openDesk({
    OPENAI_API_KEY: "sk-x",
    OPENAI_BASE_URL: provider.url,
    PRIVATE_FETCH_HOSTS: `127.0.0.1:${port}`,
  });
});
afterAll(async () => {
  await provider.close();
  shop.close();
});
beforeEach(() => {
  provider.requests.length = 0;
  seen.length = 0;
});

const define = async (name: string, source: string, more: object = {}) => {
  const { status, text, body } = await desk.define(source, { name, ...more });
  if (status !== 201) throw new Error(text);
  return body;
};
/** The model calls the tool once, then says what it was told. */
const calls = (name: string, args: unknown = {}) =>
  provider.script(({ method, body }) => {
    if (method !== "POST") return undefined;
    const told = body.messages.findLast(({ role }: any) => role === "tool");
    return told ? { text: `told: ${told.content}` } : { tool_calls: [{ name, arguments: args as object }] };
  });
const chat = (name: string, more: object = {}) =>
  desk.complete({
    model: "openai/gpt-test",
    messages: [{ role: "user", content: "Go" }],
    tools: [{ type: "function", function: { name } }],
    ...more,
  });
const toldIn = async (name: string, more: object = {}): Promise<string> => {
  const { status, body, text } = await chat(name, more);
  if (status !== 200) throw new Error(text);
  return body.choices[0].message.content.replace("told: ", "");
};
const agentOf = async (tools: string[]) => {
  const { body } = await desk.person("POST", "/agents", { name: "Seller", model: "openai/gpt-test", tools });
  return clientOf({ chat: `${desk.api}/agents/${body.id}/v1` }, desk.service.credentials.api_key);
};

const parameters = { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] };

describe("a scripted tool", () => {
  test("is offered as it says, and gets arguments, vars and user", async () => {
    const source = toolOf("return { sku: args.sku, ...meta };", { description: "Looks up stock", parameters });
    await define("stock", source);
    calls("stock", { sku: "A-1" });
    const told = await toldIn("stock", { user: "anna", metadata: { region: "eu", plan: "gold" } });
    expect(JSON.parse(told)).toEqual({
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
    expect(JSON.parse(await toldIn("stock"))).toMatchObject({ vars: {}, user: null });
  });

  test("is a function call of an agent, and gets its vars", async () => {
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
    expect(JSON.parse(body.output[1].content[0].text.replace("told: ", ""))).toMatchObject({
      sku: "A-2",
      vars: { a: "1", b: "3" },
      user: "ben",
    });
  });

  test("may be chosen by name", async () => {
    calls("stock", { sku: "A-3" });
    await toldIn("stock", { tool_choice: { type: "function", function: { name: "stock" } } });
    const [{ body }] = provider.requests.filter(({ method }) => method === "POST") as [any];
    expect(body.tool_choice).toEqual({ type: "function", function: { name: "stock" } });
    const other = { type: "function", function: { name: "other" } };
    expectRefusal(await chat("stock", { tool_choice: other }), 400, "invalid_tool_choice");
  });

  test("that there is not is refused", async () => {
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

  test("that was deleted is unknown to the next request, and the model of a running turn hears of it", async () => {
    const { id } = await define("brief", toolOf("return 1"));
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

  test("that changes while a turn runs is what it was when the turn began", async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { id } = await define("changing", toolOf("return 'first'"));
    provider.script(({ method, body }) => {
      if (method !== "POST") return undefined;
      const told = body.messages.findLast(({ role }: any) => role === "tool");
      if (told) return { text: `told: ${told.content}` };
      return {
        async write(response) {
          asked.resolve();
          await gate.promise;
          const call = { id: "c1", type: "function", function: { name: "changing", arguments: "{}" } };
          const message = { role: "assistant", content: null, tool_calls: [call] };
          const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
          const whole = { id: "x", object: "chat.completion", created: 1, model: "gpt-test", choices };
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
        },
      };
    });
    const running = toldIn("changing");
    await asked.promise;
    expect((await desk.person("PATCH", `/definitions/${id}`, { source: toolOf("return 'second'") })).status).toBe(200);
    gate.resolve();
    expect(await running).toBe('"first"');
    calls("changing");
    expect(await toldIn("changing")).toBe('"second"');
  });
});

describe("a tool that fails", () => {
  test.each([
    ["throws", "throw new RangeError('no such article')", "RangeError: no such article (line 3)"],
    ["returns what JSON does not know", "return () => 1", "a value that JSON knows"],
    ["never answers", "await new Promise(() => {})", "never comes"],
    ["answers too much", "return 'x'.repeat(2e6)", "larger than 1 MiB"],
  ])("since it %s: the model is told, a chat is answered, an agent's item is incomplete", async (_, body, told) => {
    const name = `failing_${failing++}`;
    await define(name, toolOf(body));
    calls(name);
    expect(JSON.parse(await toldIn(name)).error).toContain(told);
    const call = await agentOf([name]);
    const { body: response } = await call("POST", "/responses", { input: "Go" });
    expect(response).toMatchObject({ status: "completed", error: null });
    expect(response.output.map(({ type, status }: any) => [type, status])).toEqual([
      ["function_call", "incomplete"],
      ["message", "completed"],
    ]);
    expect(response.output[1].content[0].text).toContain(told.replaceAll('"', '\\"'));
  });
  let failing = 0;

  test("since its arguments are no JSON: the model is told", async () => {
    calls("stock", "{sku:");
    expect(JSON.parse(await toldIn("stock")).error).toMatch(/not valid JSON/);
  });
});

describe("secrets", () => {
  const canary = "canary-of-a-shop-key";
  beforeAll(async () => {
    await desk.person("PUT", "/secrets/shop_key", { value: canary });
  });

  test("are given where the script asks for them and they are granted, and no model reads them", async () => {
    const body = `const key = await secrets.get("shop_key");
      await fetch("${shop_url}/orders", { headers: { "X-Key": key } });
      return { key, length: key.length, in: "the key is " + key };`;
    await define("orders", toolOf(body, { secrets: ["shop_key"] }), { grants: ["shop_key"] });
    calls("orders");
    expect(JSON.parse(await toldIn("orders"))).toEqual({ key: "***", length: canary.length, in: "the key is ***" });
    expect(seen[0]!.headers["x-key"]).toBe(canary);
    await define(
      "leaky",
      toolOf(`throw new Error("no " + (await secrets.get("shop_key")))`, { secrets: ["shop_key"] }),
      {
        grants: ["shop_key"],
      },
    );
    calls("leaky");
    expect(JSON.parse(await toldIn("leaky")).error).toContain("no ***");
    expect(JSON.stringify(provider.requests)).not.toContain(canary);
  });

  test("are refused where they are not asked for, not granted, or not set", async () => {
    const refused = "return await secrets.get(args.name).catch((error) => error.message)";
    const { id } = await define("asking", toolOf(refused, { secrets: ["shop_key", "unset"] }), { grants: ["unset"] });
    const ask = async (name: string) => {
      calls("asking", { name });
      return JSON.parse(await toldIn("asking"));
    };
    expect(await ask("shop_key")).toBe("The secret shop_key is not granted to this script.");
    expect(await ask("other")).toBe("The script does not name the secret other in meta.secrets.");
    expect(await ask("unset")).toBe("The secret unset is not set.");
    await desk.person("PATCH", `/definitions/${id}`, { grants: ["shop_key"] });
    expect(await ask("shop_key")).toBe("***");
    expect(await ask("unset")).toBe("The secret unset is not granted to this script.");
  });
});

describe("fetch", () => {
  const fetching = toolOf(
    `const answer = await fetch(args.url, args.init);
     return { status: answer.status, ok: answer.ok, kind: answer.headers.get("X-Kind"), none: answer.headers.get("x-none"), json: await answer.json() };`,
  );
  const trying = toolOf(
    "return await fetch(args.url, args.init).then((answer) => answer.status, (error) => error.message)",
  );
  beforeAll(async () => {
    await define("fetching", fetching);
    await define("trying", trying);
  });

  test("reaches what is open to it, with method, headers and body", async () => {
    calls("fetching", {
      url: `${shop_url}/stock?a=1`,
      init: { method: "POST", headers: { "Content-Type": "text/plain", "X-A": "b" }, body: "hello" },
    });
    expect(JSON.parse(await toldIn("fetching"))).toEqual({
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
    expect(JSON.parse(await toldIn("trying"))).toMatch(/refused|reached/);
  });

  test("refuses a redirect to where it may not go, other methods, and headers that are none", async () => {
    calls("trying", { url: `${shop_url}/away` });
    expect(JSON.parse(await toldIn("trying"))).toMatch(/refused/);
    calls("trying", { url: shop_url, init: { method: "TRACE" } });
    expect(JSON.parse(await toldIn("trying"))).toMatch(/method TRACE is not allowed/);
    for (const headers of [{ "a b": "c" }, { a: "b\r\nc: d" }, { a: "x".repeat(9_000) }]) {
      calls("trying", { url: shop_url, init: { headers } });
      expect(JSON.parse(await toldIn("trying"))).toEqual(expect.any(String));
    }
    expect(seen.map(({ path }) => path)).toEqual(["/away"]);
  });
});

test("scripted tools that are off are unavailable", async () => {
  const off = await openDesk({ SCRIPTED_TOOLS: "off" });
  expect((await off.define(toolOf("return 1"), { name: "own" })).status).toBe(201);
  expectRefusal(await off.obey(["/tool own {}"], ["own"]), 400, "tools_unavailable");
  expectRefusal(
    await off.person("POST", "/agents", { name: "A", tools: ["own"] }),
    400,
    "tools_unavailable",
    "tools[0]",
  );
  expect((await off.obey(["hello"], [])).status).toBe(200);
});
