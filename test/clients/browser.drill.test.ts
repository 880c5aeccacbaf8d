import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { openConsole } from "../console/browser.ts";

/* OpenAI's client in a browser, on a page of another origin. */

const PACKAGE = new URL("../../node_modules/openai/", import.meta.url).pathname;

/** A site with one empty page, and the files of the package. */
async function openSite(): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url!.startsWith("/openai/") ? request.url!.slice("/openai/".length) : undefined;
    const file =
      path && /\.m?js$/.test(path)
        ? readFile(join(PACKAGE, path))
        : Promise.resolve("<!doctype html><title>App</title>");
    file.then(
      (content) => response.writeHead(200, { "content-type": path ? "text/javascript" : "text/html" }).end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterFile(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const [listed, other] = [await openSite(), await openSite()];
const { service, open, newPage } = await openConsole({ CORS_ORIGINS: listed });

/** Runs the body of a function of `client` and `errors` on a page of the site. Its result is JSON. */
async function runOn(site: string, script: string, apiKey = service.credentials.api_key): Promise<any> {
  const page = await newPage();
  await page.goto(site);
  const options = JSON.stringify({ apiKey, baseURL: service.chat, dangerouslyAllowBrowser: true, maxRetries: 0 });
  return page.evaluate(`(async () => {
    const { default: OpenAI } = await import("/openai/index.mjs");
    const client = new OpenAI(${options});
    ${script}
  })()`);
}

const MESSAGES = '{ model: "offline/echo", messages: [{ role: "user", content: "Hello" }] }';

test("completions, streams, models and files work from a page of a listed origin, which can read the headers", async () => {
  const seen = await runOn(
    listed,
    `const { data, response, request_id } = await client.chat.completions.create(${MESSAGES}).withResponse();
     let streamed = "";
     for await (const { choices } of await client.chat.completions.create({ ...${MESSAGES}, stream: true }))
       streamed += choices[0]?.delta.content ?? "";
     const models = [];
     for await (const { id } of client.models.list()) models.push(id);
     const file = await client.files.create({ file: new File(["text"], "a.txt"), purpose: "user_data" });
     const content = await (await client.files.content(file.id)).text();
     const { deleted } = await client.files.delete(file.id);
     const headers = ["x-thread-id", "x-turn-id", "x-turn-model"].map((name) => response.headers.get(name) !== null);
     return { text: data.choices[0].message.content, request_id, headers, streamed, models, content, deleted };`,
  );
  expect(seen).toEqual({
    text: "Hello",
    request_id: expect.any(String),
    headers: [true, true, true],
    streamed: "Hello",
    models: expect.arrayContaining(["offline/echo"]),
    content: "text",
    deleted: true,
  });
});

test("refusals are the client's own errors in the browser, even without a valid key", async () => {
  const script = `return client.chat.completions.create({ ...${MESSAGES}, model: "offline/none" }).then(
    () => "answered", ({ status, code, requestID }) => ({ status, code, requestID }));`;
  expect(await runOn(listed, script)).toEqual({ status: 400, code: "model_not_found", requestID: expect.any(String) });
  expect(await runOn(listed, script, "sk-svc-wrong")).toMatchObject({ status: 401, code: "invalid_api_key" });
});

test("a page of another origin cannot read anything", async () => {
  const script = `return client.chat.completions.create(${MESSAGES}).then(
    () => "answered", ({ constructor, status }) => [constructor.name, status ?? null]);`;
  expect(await runOn(other, script)).toEqual(["APIConnectionError", null]);
});

test("a page of an allowed origin can do nothing with the browser session of a signed-in person", async () => {
  const page = await open();
  await page.goto(listed);
  const attempt = (method: string, path: string, credentials: string) =>
    page.evaluate(`fetch(${JSON.stringify(service.base + path)}, {
      method: "${method}", credentials: "${credentials}",
      ...("${method}" === "POST" && { headers: { "content-type": "application/json" }, body: JSON.stringify(${MESSAGES}) }),
    }).then((answer) => answer.status, () => "hidden")`);
  expect(await attempt("GET", "/api/openai/v1/models", "include")).toBe("hidden");
  expect(await attempt("POST", "/api/openai/v1/chat/completions", "include")).toBe("hidden");
  expect(await attempt("GET", "/api/openai/v1/models", "omit")).toBe(401);
  expect(await attempt("GET", "/api/auth/me", "include")).toBe("hidden");
});
