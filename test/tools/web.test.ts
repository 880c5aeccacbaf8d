import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PRIVATE_ADDRESSES } from "../doubles/privateAddresses.ts";
import type { OpenaiDouble } from "../doubles/openai.ts";
import { eventsIn } from "../agents/grammar.ts";
import { expectRefusal } from "../hostile/target.ts";
import { chunksOf, clientOf } from "../http/service.ts";
import { openDesk, type Desk } from "./desk.ts";
import { openSite, type Site } from "./site.ts";

/* web_search and web_fetch, from the request to the model's result and its citations. The web is on loopback. */

const LONG = `# Long\n\n${Array.from({ length: 9_000 }, (_, n) => `Word ${n}.`).join(" ")}\n`;
const FILES: Record<string, [type: string, body: string | Buffer]> = {
  "/page": [
    "text/html",
    "<title>t</title><nav>Menu</nav><h1>Tides</h1><p>High at <b>noon</b>. <a href='https://a.example/x'>More</a></p>",
  ],
  "/plain": ["text/plain; charset=utf-8", "Ebb and flow.\n"],
  "/data": ["application/json", '{"high":"noon"}'],
  "/handbook.pdf": ["application/pdf", readFileSync(new URL("../../examples/handbook.pdf", import.meta.url))],
  "/long": ["text/markdown", LONG],
  "/image": ["image/png", "x"],
  "/empty": ["text/html", "<p></p>"],
  "/large": ["text/plain", Buffer.alloc(10 * 1024 * 1024 + 1, "x")],
};
const REDIRECTS: Record<string, string> = {
  "/moved": "/page",
  "/inside": "http://127.0.0.1:1/secret",
  "/metadata": "http://169.254.169.254/latest/meta-data",
  "/slashes": "//127.0.0.1:1/",
  "/file": "file:///etc/passwd",
  "/gopher": "gopher://127.0.0.1:1/",
  "/round": "/round",
};
const serveWeb: RequestListener = (request, response) => {
  const path = request.url!;
  if (FILES[path]) return void response.writeHead(200, { "content-type": FILES[path][0] }).end(FILES[path][1]);
  if (REDIRECTS[path]) return void response.writeHead(302, { location: REDIRECTS[path] }).end();
  if (path === "/slow") return void response.writeHead(200, { "content-type": "text/plain" }).write("a");
  if (path === "/cut")
    return void response.writeHead(200, { "content-length": "10" }).write("a", () => response.destroy());
  return void response.writeHead(404).end();
};

let engineAnswers: RequestListener;
const BRAVE = {
  web: {
    results: [
      { url: "https://a.example/1", title: "<b>One</b>", description: "first" },
      { url: "https://a.example/2", title: "Two", description: "second" },
    ],
  },
};
const SEARXNG = { results: [{ url: "https://b.example/", title: "Three", content: "third", engine: "x" }] };
const answering =
  (body: unknown): RequestListener =>
  (_, response) =>
    void response.end(JSON.stringify(body));

let site: Site;
let engine: Site;
let provider: OpenaiDouble;
let desk: Desk;
let slow: Promise<any>;
beforeAll(async () => {
  site = await openSite(serveWeb);
  engine = await openSite((request, response) => engineAnswers(request, response));
  desk = await openDesk({
    PRIVATE_FETCH_HOSTS: site.host,
    PRIVATE_PROVIDER_HOSTS: engine.host,
    WEB_SEARCH_URL: `${engine.url}/deployment`,
    WEB_SEARCH_API_KEY: "deployment-key",
  });
  provider = desk.service.provider;
  slow = webFetch({ url: `${site.url}/slow` });
  // awaited by the last test of web_fetch
  slow.catch(() => {});
});
afterAll(() => {
  site.close();
  engine.close();
});
beforeEach(() => {
  engineAnswers = answering(BRAVE);
  engine.paths.length = 0;
  site.paths.length = 0;
});

/** The result of a tool call, as the model receives it. */
async function callTool(name: string, args: object, more: object = {}): Promise<string> {
  provider.script(({ method, body }) => {
    if (method !== "POST") return undefined;
    // Several turns run at once: the user message identifies each.
    const request = JSON.parse(body.messages.find(({ role }: any) => role === "user").content);
    const result = body.messages.findLast(({ role }: any) => role === "tool");
    return result ? { text: result.content } : { tool_calls: [{ name: request.name, arguments: request.args }] };
  });
  const { status, body, text } = await desk.complete({
    model: "openai/gpt-test",
    messages: [{ role: "user", content: JSON.stringify({ name, args }) }],
    tools: [{ type: "function", function: { name } }],
    ...more,
  });
  if (status !== 200) throw new Error(text);
  return body.choices[0].message.content;
}
const webFetch = async (args: object) => JSON.parse(await callTool("web_fetch", args));
const webSearch = async (args: object) => JSON.parse(await callTool("web_search", args));

describe("web_fetch", () => {
  test.each([
    ["/page", "Tides", /^# Tides\n\nHigh at \*\*noon\*\*\. \[More\]\(https:\/\/a\.example\/x\)/],
    ["/plain", undefined, /^Ebb and flow\./],
    ["/data", undefined, /"high": ?"noon"/],
    ["/handbook.pdf", undefined, /\S/],
  ])("reads %s as Markdown", async (path, title, text) => {
    const page = await webFetch({ url: site.url + path });
    expect(page).toEqual({
      url: site.url + path,
      title: title ?? expect.any(String),
      text: expect.stringMatching(text),
      next: null,
    });
    expect(page.text).not.toContain("Menu");
  });

  test("reads a long page in windows", async () => {
    let text = "";
    const sizes: number[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const page: { text: string; next: number | null } = await webFetch({ url: `${site.url}/long`, from });
      text += page.text;
      sizes.push(page.text.length);
      from = page.next;
    }
    expect(sizes.slice(0, -1)).toEqual(sizes.slice(0, -1).map(() => 40_000));
    expect(sizes.length).toBeGreaterThan(2);
    expect(text.trim()).toBe(LONG.trim());
    expect((await webFetch({ url: `${site.url}/long`, from: 9_999_999 })).error).toMatch(/from: the page has/);
  });

  test("follows a redirect and returns the final address", async () => {
    expect(await webFetch({ url: `${site.url}/moved` })).toMatchObject({ url: `${site.url}/page`, title: "Tides" });
  });

  test.each(["/inside", "/metadata", "/slashes", "/file", "/gopher", "/round"])(
    "refuses the target of the redirect %s",
    async (path) => {
      expect((await webFetch({ url: site.url + path })).error).toMatch(/^The address is refused: /);
    },
  );

  test.each([
    ["/none", "The server answered 404."],
    ["/image", "image/png"],
    ["/empty", "no text"],
    ["/large", "larger than 10 MiB"],
    ["/cut", "cannot be reached"],
  ])("reports why it cannot read %s", async (path, words) => {
    expect((await webFetch({ url: site.url + path })).error).toContain(words);
  });

  test("refuses every spelling of an address that is not public", async () => {
    const urls = [
      ...PRIVATE_ADDRESSES.map((host) => `http://${host}/`),
      "http://localhost/",
      "http://user:word@example.com/",
      "http://example.com:22/",
      "ftp://example.com/",
    ];
    const errors = [];
    for (const url of urls) errors.push([url, (await webFetch({ url })).error]);
    expect(errors).toEqual(urls.map((url) => [url, expect.stringMatching(/^The address is refused: /)]));
  });

  test("reports invalid arguments to the model", async () => {
    expect((await webFetch({ url: "not an address" })).error).toMatch(/arguments do not fit: url/);
    expect((await webFetch({})).error).toMatch(/arguments do not fit: url/);
  });

  test("gives up on a slow server after 20 seconds", async () => {
    expect((await slow).error).toBe("The answer took longer than 20 seconds.");
  });
});

describe("web_search", () => {
  test("asks the deployment's endpoint, and reads both response formats", async () => {
    expect(await webSearch({ query: "high tide", limit: 1 })).toEqual({
      results: [{ url: "https://a.example/1", title: "One", snippet: "first" }],
    });
    engineAnswers = answering(SEARXNG);
    expect(await webSearch({ query: "ebb" })).toEqual({
      results: [{ url: "https://b.example/", title: "Three", snippet: "third" }],
    });
    expect(engine.paths).toEqual([
      "/deployment?q=high+tide&count=1&format=json",
      "/deployment?q=ebb&count=8&format=json",
    ]);
  });

  test.each<[string, RequestListener, string]>([
    ["fails", (_, response) => void response.writeHead(500).end(), "The search endpoint answered 500."],
    ["answers no JSON", (_, response) => void response.end("<html>"), "did not answer with JSON"],
    [
      "breaks off",
      (_, response) => void response.writeHead(200).write("{", () => response.destroy()),
      "cannot be reached",
    ],
  ])("reports to the model that the endpoint %s", async (_, listener, words) => {
    engineAnswers = listener;
    expect((await webSearch({ query: "tide" })).error).toContain(words);
  });

  test("prefers the organization's own endpoint, with its key and through the guarded fetch", async () => {
    const keys: unknown[] = [];
    engineAnswers = (request, response) => {
      keys.push(request.headers["x-subscription-token"]);
      answering(SEARXNG)(request, response);
    };
    await webSearch({ query: "tide" });
    const put = (base_url: string) => desk.person("PUT", "/providers/web_search", { api_key: "own-key", base_url });
    expect((await put(`${engine.url}/own`)).status).toBe(200);
    expect((await webSearch({ query: "tide" })).results).toHaveLength(1);
    expect(engine.paths.map((path) => path.split("?")[0])).toEqual(["/deployment", "/own"]);
    expect(keys).toEqual(["deployment-key", "own-key"]);
    await put("http://127.0.0.1:1/search");
    expect((await webSearch({ query: "tide" })).error).toMatch(/^The address is refused/);
    await desk.person("DELETE", "/providers/web_search");
    await webSearch({ query: "tide" });
    expect(engine.paths.at(-1)).toContain("/deployment");
  });
});

describe("the sources of a web search", () => {
  const CITED = [
    { url: "https://a.example/1", title: "One" },
    { url: "https://a.example/2", title: "Two" },
  ];
  const lines = ['/tool web_search {"query":"tide"}', "/say High at noon."].join("\n");
  const request = {
    model: "offline/scripted",
    messages: [{ role: "user", content: lines }],
    tools: [{ type: "function", function: { name: "web_search" } }],
  };

  test("are cited in a chat, buffered and streamed", async () => {
    const { body } = await desk.complete(request);
    const { content, annotations } = body.choices[0].message;
    const wanted = CITED.map((source) => ({
      type: "url_citation",
      url_citation: { ...source, start_index: 0, end_index: content.length },
    }));
    expect(annotations).toEqual(wanted);
    const { text } = await desk.complete({ ...request, stream: true });
    expect(chunksOf(text).flatMap(({ choices }) => choices[0]?.delta.annotations ?? [])).toEqual(wanted);
  });

  test("are cited by an agent, buffered and streamed", async () => {
    const { body: agent } = await desk.person("POST", "/agents", {
      name: "Pilot",
      model: "offline/scripted",
      tools: ["web_search"],
    });
    const call = clientOf({ chat: `${desk.api}/agents/${agent.id}/v1` }, desk.service.credentials.api_key);
    const { body } = await call("POST", "/responses", { input: lines });
    const part = body.output.findLast(({ type }: any) => type === "message").content[0];
    const wanted = CITED.map((source) => ({
      type: "url_citation",
      ...source,
      start_index: 0,
      end_index: part.text.length,
    }));
    expect(part.annotations).toEqual(wanted);
    const { text } = await call("POST", "/responses", { input: lines, stream: true });
    const events = eventsIn(text);
    expect(
      events.at(-1).response.output.findLast(({ type }: any) => type === "message").content[0].annotations,
    ).toEqual(wanted);
    expect(
      events.flatMap(({ type, annotation }) => (type === "response.output_text.annotation.added" ? [annotation] : [])),
    ).toEqual(wanted);
  });
});

describe("without an endpoint of the deployment", () => {
  let bare: Desk;
  beforeAll(async () => {
    bare = await openDesk({ PRIVATE_PROVIDER_HOSTS: engine.host });
  });

  test("web_search needs an endpoint of the organization, and web_fetch needs none", async () => {
    const ask = () => bare.obey(['/tool web_search {"query":"tide"}'], ["web_search"]);
    expectRefusal(await ask(), 400, "tool_not_configured");
    expect((await bare.obey(["/tool web_fetch {}"], ["web_fetch"])).status).toBe(200);
    await bare.person("PUT", "/providers/web_search", { api_key: "own", base_url: `${engine.url}/own` });
    const { status, body } = await ask();
    expect([status, body.choices[0].message.content]).toEqual([200, expect.stringContaining("a.example")]);
  });
});
