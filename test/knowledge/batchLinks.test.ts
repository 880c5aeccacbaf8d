import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLibrary, type Library } from "./library.ts";

/* Addresses in POST /documents/batch. */

let library: Library;
let host: string;
let visits = 0;
const server = createServer((request, response) => {
  visits++;
  if (request.url === "/gone") return void response.writeHead(404).end();
  if (request.url === "/inside") return void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(`<html><body><h1>Tides</h1><p>High tide is at noon, visit ${visits}.</p></body></html>`);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  library = await openLibrary({ PRIVATE_FETCH_HOSTS: host });
  await library.collect("Links");
});
afterAll(() => void server.close());

const send = (documents: object[], headers?: Record<string, string>) =>
  library.call("POST", "/documents/batch", { collection: "links", tags: ["web"], documents }, headers);

test("an address is fetched and becomes a document", async () => {
  const { body } = await send([
    { url: `http://${host}/sea/tides.html`, metadata: { kind: "page" } },
    { text: "A text between.", name: "between" },
    { url: `http://${host}/gone` },
    { url: `http://${host}/inside` },
    { url: "http://127.0.0.1:1/private" },
    { url: "http://10.0.0.1/private" },
    { url: "file:///etc/passwd" },
  ]);
  expect(body.data.map(({ name, result, error }: any) => [name, result, error?.code])).toEqual([
    [`http://${host}/sea/tides.html`, "accepted", undefined],
    ["between", "accepted", undefined],
    [`http://${host}/gone`, "failed", "link_failed"],
    [`http://${host}/inside`, "failed", "link_failed"],
    ["http://127.0.0.1:1/private", "failed", "link_failed"],
    ["http://10.0.0.1/private", "failed", "link_failed"],
    ["file:///etc/passwd", "failed", null],
  ]);
  expect(body.data[2].error.message).toContain("404");
  expect(body.data[4].error.message).toContain("refused");
  const document = await library.ended(body.data[0].id);
  expect(document).toMatchObject({ status: "ready", name: "tides.html", tags: ["web"], metadata: { kind: "page" } });
  const { results } = (await library.search({ query: "high tide" })).body;
  expect(results[0].document.id).toBe(document.id);
});

test("a repeated request stores the page once, even if it has changed meanwhile", async () => {
  const headers = { "idempotency-key": `links-${Date.now()}` };
  const [one, two] = [
    await send([{ url: `http://${host}/news` }], headers),
    await send([{ url: `http://${host}/news` }], headers),
  ];
  expect(two.body.data[0].id).toBe(one.body.data[0].id);
});

test("more addresses than a request may have are refused without a fetch", async () => {
  const before = visits;
  const { status, body } = await send(Array.from({ length: 21 }, (_, n) => ({ url: `http://${host}/${n}` })));
  expect([status, body.error.param, visits]).toEqual([400, "documents", before]);
});
