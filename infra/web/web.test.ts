import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { keepable } from "#services/reading/passageLines.ts";
import { readFile } from "#services/reading/read.ts";
import type { FileToRead } from "#services/reading/reader.ts";
import { fencedServers } from "#test/doubles/fencedServers.ts";
import { guardedFetch } from "./guardedFetch.ts";
import { readPage } from "./page.ts";
import { searchWeb } from "./search.ts";

const { serve, dialled } = fencedServers();

const signal = new AbortController().signal;
const reader = { read: async (file: FileToRead) => keepable(await readFile(file)) };
const fetchFor = (...privateHosts: string[]) => guardedFetch({ privateHosts, webOnly: true });

test("a page is read as Markdown, without what stands around it", async () => {
  const { host } = await serve((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(
      "<html><head><title>t</title><script>bad()</script></head><body><h1>Tides</h1><p>High at <b>noon</b>.</p></body></html>",
    );
  });
  expect(await readPage(fetchFor(host), reader, `http://${host}/a`, signal)).toEqual({
    url: `http://${host}/a`,
    title: "Tides",
    text: "# Tides\n\nHigh at **noon**.",
  });
});

test("what cannot be read says why", async () => {
  const { host } = await serve((request, response) => {
    if (request.url === "/gone") return void response.writeHead(404).end();
    if (request.url === "/image") return void response.writeHead(200, { "content-type": "image/png" }).end("x");
    if (request.url === "/empty") return void response.writeHead(200, { "content-type": "text/html" }).end("<p></p>");
    response.writeHead(200, { "content-type": "text/plain" });
    const piece = "x".repeat(1024 * 1024);
    for (let n = 0; n < 12; n++) response.write(piece);
    response.end();
  });
  const reading = (path: string) => readPage(fetchFor(host), reader, `http://${host}${path}`, signal);
  await expect(reading("/gone")).rejects.toThrow("The server answered 404.");
  await expect(reading("/image")).rejects.toThrow("image/png");
  await expect(reading("/empty")).rejects.toThrow("no text");
  await expect(reading("/large")).rejects.toThrow("larger than 10 MiB");
});

test.each([
  "http://127.0.0.1/",
  "http://127.1:80/",
  "http://[::1]/",
  "http://169.254.169.254/latest/meta-data",
  "http://10.0.0.1/",
  "ftp://example.com/",
  "http://user:word@example.com/",
  "http://93.184.216.34:22/",
])("%s is refused before anything is dialled", async (url) => {
  await expect(readPage(fetchFor(), reader, url, signal)).rejects.toThrow("The address is refused");
  expect(dialled()).toEqual([]);
});

test("a redirect to a private address is refused", async () => {
  const { host } = await serve((_, response) => response.writeHead(302, { location: "http://127.0.0.2/secret" }).end());
  await expect(readPage(fetchFor(host), reader, `http://${host}/`, signal)).rejects.toThrow("not a public address");
});

test.each([
  [
    "Brave",
    { web: { results: [{ url: "https://a.example/1", title: "<strong>One</strong>", description: "first" }] } },
  ],
  ["SearXNG", { results: [{ url: "https://a.example/1", title: "One", content: "first" }, { title: "no address" }] }],
])("an endpoint in the shape of %s is understood", async (_, answer) => {
  let asked: IncomingMessage | undefined;
  const { host } = await serve((request, response) => {
    asked = request;
    response.end(JSON.stringify(answer));
  });
  const endpoint = { url: `http://${host}/search?lang=en`, api_key: "k" };
  expect(await searchWeb(fetchFor(host), endpoint, "high tide", 5, signal)).toEqual([
    { url: "https://a.example/1", title: "One", snippet: "first" },
  ]);
  expect(asked!.url).toBe("/search?lang=en&q=high+tide&count=5&format=json");
  expect(asked!.headers["x-subscription-token"]).toBe("k");
});

test("an endpoint that fails or talks nonsense is an error, one that found nothing is not", async () => {
  const { host } = await serve((request, response) => {
    if (request.url!.startsWith("/down")) return void response.writeHead(500).end();
    response.end(request.url!.startsWith("/none") ? "{}" : "<html>");
  });
  const search = (path: string) =>
    searchWeb(fetchFor(host), { url: `http://${host}${path}`, api_key: null }, "q", 5, signal);
  await expect(search("/down")).rejects.toThrow("answered 500");
  await expect(search("/html")).rejects.toThrow("something else than JSON");
  expect(await search("/none")).toEqual([]);
});
