import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { toFileText } from "#services/reading/passageLines.ts";
import { readFile } from "#services/reading/read.ts";
import type { FileToRead } from "#services/reading/reader.ts";
import { WebError } from "#services/turns/tools/web.ts";
import { fencedServers } from "#test/doubles/fencedServers.ts";
import { guardedFetch } from "./guardedFetch.ts";
import { readPage } from "./readPage.ts";
import { searchWeb } from "./searchWeb.ts";

const { serve, dialled } = fencedServers();

const signal = new AbortController().signal;
const reader = { read: async (file: FileToRead) => toFileText(await readFile(file)) };
const fetchFor = (...privateHosts: string[]) => guardedFetch({ privateHosts, webOnly: true });

test("a page is read as Markdown, without its scripts and its head", async () => {
  const { host } = await serve((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(
      "<html><head><title>t</title><script>bad()</script></head><body><h1>Tides</h1><p>High at <b>noon</b>.</p></body></html>",
    );
  });
  expect(await readPage({ fetch: fetchFor(host), reader }, `http://${host}/a`, signal)).toEqual({
    url: `http://${host}/a`,
    title: "Tides",
    text: "# Tides\n\nHigh at **noon**.",
  });
});

test("a page counts while it is downloaded and read, and no longer, also when that fails", async () => {
  const { host } = await serve((request, response) => {
    if (request.url === "/gone") return void response.writeHead(404).end("x".repeat(100));
    response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(200_000));
  });
  let counted = 0;
  const memory = { take: (bytes: number) => void (counted += bytes), release: () => void (counted = 0) };
  const whileRead: number[] = [];
  const watching = { read: (file: FileToRead) => (whileRead.push(counted), reader.read(file)) };
  const failing = { read: () => Promise.reject(new Error("the reader died")) };
  const read = (path: string, by: typeof watching | typeof failing) =>
    readPage({ fetch: fetchFor(host), reader: by, memory }, `http://${host}${path}`, signal);
  await read("/", watching);
  expect([whileRead, counted]).toEqual([[200_000], 0]);
  await expect(read("/", failing)).rejects.toThrow("the reader died");
  await expect(read("/gone", watching)).rejects.toThrow("The server answered 404.");
  expect(counted).toBe(0);
  const full = {
    ...memory,
    take() {
      throw new WebError("no room");
    },
  };
  await expect(readPage({ fetch: fetchFor(host), reader, memory: full }, `http://${host}/`, signal)).rejects.toThrow(
    "no room",
  );
});

test("a page that cannot be read fails with the reason", async () => {
  const { host } = await serve((request, response) => {
    if (request.url === "/gone") return void response.writeHead(404).end();
    if (request.url === "/image") return void response.writeHead(200, { "content-type": "image/png" }).end("x");
    if (request.url === "/empty") return void response.writeHead(200, { "content-type": "text/html" }).end("<p></p>");
    response.writeHead(200, { "content-type": "text/plain" });
    const piece = "x".repeat(1024 * 1024);
    for (let n = 0; n < 12; n++) response.write(piece);
    response.end();
  });
  const reading = (path: string) => readPage({ fetch: fetchFor(host), reader }, `http://${host}${path}`, signal);
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
])("the page %s is refused before a connection is opened", async (url) => {
  await expect(readPage({ fetch: fetchFor(), reader }, url, signal)).rejects.toThrow("The address is refused");
  expect(dialled()).toEqual([]);
});

test("a page that redirects to a private address is refused", async () => {
  const { host } = await serve((_, response) => response.writeHead(302, { location: "http://127.0.0.2/secret" }).end());
  await expect(readPage({ fetch: fetchFor(host), reader }, `http://${host}/`, signal)).rejects.toThrow(
    "not a public address",
  );
});

test.each([
  [
    "Brave",
    { web: { results: [{ url: "https://a.example/1", title: "<strong>One</strong>", description: "first" }] } },
  ],
  ["SearXNG", { results: [{ url: "https://a.example/1", title: "One", content: "first" }, { title: "no address" }] }],
])("a search API like %s is understood", async (_, answer) => {
  let received: IncomingMessage | undefined;
  const { host } = await serve((request, response) => {
    received = request;
    response.end(JSON.stringify(answer));
  });
  const endpoint = { url: `http://${host}/search?lang=en`, api_key: "k" };
  expect(await searchWeb(fetchFor(host), endpoint, "high tide", 5, signal)).toEqual([
    { url: "https://a.example/1", title: "One", snippet: "first" },
  ]);
  expect(received!.url).toBe("/search?lang=en&q=high+tide&count=5&format=json");
  expect(received!.headers["x-subscription-token"]).toBe("k");
});

test("a search fails when its endpoint fails or does not answer with JSON, not when there are no results", async () => {
  const { host } = await serve((request, response) => {
    if (request.url!.startsWith("/down")) return void response.writeHead(500).end();
    response.end(request.url!.startsWith("/none") ? "{}" : "<html>");
  });
  const search = (path: string) =>
    searchWeb(fetchFor(host), { url: `http://${host}${path}`, api_key: null }, "q", 5, signal);
  await expect(search("/down")).rejects.toThrow("answered 500");
  await expect(search("/html")).rejects.toThrow("did not answer with JSON");
  expect(await search("/none")).toEqual([]);
});

test("an excerpt of 200 KB of open tags costs next to nothing, and a result keeps 2,000 characters of text", async () => {
  const results = [
    { url: "https://a.example/1", title: "<a".repeat(100_000), content: `<b>${"word ".repeat(40_000)}` },
  ];
  const { host } = await serve((_, response) => response.end(JSON.stringify({ results })));
  const search = () => searchWeb(fetchFor(host), { url: `http://${host}/`, api_key: null }, "q", 5, signal);
  await search();
  const start = process.threadCpuUsage();
  const [hit] = await search();
  const { user, system } = process.threadCpuUsage(start);
  // before the limit, this took 11 s
  expect((user + system) / 1000).toBeLessThan(500);
  expect([hit!.title.length, hit!.snippet.length]).toEqual([2_000, 2_000]);
});

test("an answer of a search endpoint with more values than the event loop has time for is refused", async () => {
  const { host } = await serve((_, response) => void response.end(`[${"{},".repeat(100_000)}{}]`));
  const endpoint = { url: `http://${host}/`, api_key: null };
  await expect(searchWeb(fetchFor(host), endpoint, "q", 3, signal)).rejects.toThrow("has more than 250000 values");
});

test("an answer of a search endpoint over 1 MiB is refused", async () => {
  const { host } = await serve((_, response) => response.end(" ".repeat(1024 * 1024 + 1)));
  await expect(searchWeb(fetchFor(host), { url: `http://${host}/`, api_key: null }, "q", 5, signal)).rejects.toThrow(
    "larger than 1 MiB",
  );
});

test("a private name and an unknown one are answered alike", async () => {
  const resolve = async (name: string) => {
    if (name === "inside.example") return [{ address: "10.0.0.7", family: 4 }];
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND", hostname: name });
  };
  const reading = async (name: string) => {
    const fetch = guardedFetch({ privateHosts: [], webOnly: true }, resolve);
    const failure = await readPage({ fetch, reader }, `http://${name}/`, signal).catch((error: unknown) => error);
    return (failure as Error).message.replace(name, "NAME");
  };
  expect(await reading("inside.example")).toBe("The address is refused: NAME does not resolve to a public address.");
  expect(await reading("unknown.example")).toBe(await reading("inside.example"));
  expect(dialled()).toEqual([]);
});
