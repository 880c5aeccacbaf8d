import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openSite, type Site } from "../tools/site.ts";
import { expectRefused, openStepAttempts, failureOf, type StepAttempts } from "./stepAttempts.ts";

/* Requests of a step: to the hosts of the envelope and nowhere else. */

let platform: StepAttempts;
let mine: Awaited<ReturnType<StepAttempts["organization"]>>;
let shop: Site;
let other: Site;
/** Opened by the envelope, and not by the deployment. */
let inside: Site;
/** A site that no longer listens. */
let gone: Site;
/** Answers that have sent nearly all that a download may have, and do not end. */
const held: ServerResponse[] = [];
const ALMOST_10_MIB = Buffer.alloc(9.9 * 1024 * 1024, "a");
const seen: { method: string; headers: IncomingMessage["headers"]; body: string }[] = [];

async function sell(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await Array.fromAsync(request)).join("");
  seen.push({ method: request.method!, headers: request.headers, body });
  const away = (status: number, location: string) => response.writeHead(status, { location }).end();
  if (request.url === "/home") return void away(307, "/");
  if (request.url === "/away") return void away(302, `${other.url}/landed`);
  if (request.url === "/round") return void away(302, `http://localhost:${shop.host.split(":")[1]}/`);
  if (request.url === "/large") return void response.end(Buffer.alloc(10 * 1024 * 1024, "a"));
  if (request.url === "/held") {
    held.push(response);
    return void response.writeHead(200).write(ALMOST_10_MIB);
  }
  if (request.url === "/larger") return void response.end(Buffer.alloc(10 * 1024 * 1024 + 1, "a"));
  response.writeHead(429, { "retry-after": "7", "content-type": "application/json" }).end('{"ok":"ü"}');
}

beforeAll(async () => {
  shop = await openSite((request, response) => void sell(request, response));
  other = await openSite((_, response) => void response.end("other"));
  inside = await openSite((_, response) => void response.end("inside"));
  gone = await openSite(() => {});
  gone.close();
  const open = [shop.host, other.host, gone.host, `localhost:${shop.host.split(":")[1]}`];
  platform = await openStepAttempts({ PRIVATE_FETCH_HOSTS: open.join(",") });
  mine = await platform.organization();
});
afterAll(async () => {
  for (const site of [shop, other, inside]) site.close();
});
beforeEach(() => {
  seen.length = 0;
  held.length = 0;
  other.paths.length = 0;
});

const fetching = async (...egress: string[]) => (await mine.run({ egress })).attempt().fetch;

test("a request reaches a host of the envelope unchanged, and so does its answer", async () => {
  const fetch = await fetching(shop.host);
  const answer = await fetch(`${shop.url}/orders`, {
    method: "POST",
    headers: [
      ["x-key", "a"],
      ["content-type", "application/json"],
    ],
    body: '{"a":"ä"}',
  });
  expect(seen).toMatchObject([{ method: "POST", headers: { "x-key": "a" }, body: '{"a":"ä"}' }]);
  expect(answer).toMatchObject({ status: 429, body: '{"ok":"ü"}' });
  expect(new Headers(answer.headers).get("retry-after")).toBe("7");
});

test("a step cannot fetch from a host outside its envelope", async () => {
  const fetch = await fetching(shop.host, "*.example.com");
  await expectRefused(fetch(other.url), "egress_not_allowed", `${other.host} is not among the hosts of the workflow's`);
  const port = shop.host.split(":")[1];
  await expectRefused(fetch(`http://localhost:${port}`), "egress_not_allowed", "localhost");
  await expectRefused(fetch("https://badexample.com"), "egress_not_allowed", "badexample.com");
  await expectRefused((await fetching())(shop.url), "egress_not_allowed", shop.host);
  expect([seen, other.paths]).toEqual([[], []]);
});

test("a redirect is followed only to hosts of the envelope", async () => {
  const fetch = await fetching(shop.host);
  expect((await fetch(`${shop.url}/home`, { method: "POST", body: "b" })).status).toBe(429);
  expect(seen.at(-1)).toMatchObject({ method: "POST", body: "b" });
  await expectRefused(fetch(`${shop.url}/away`), "egress_not_allowed", other.host);
  await expectRefused(fetch(`${shop.url}/round`), "egress_not_allowed", "localhost");
  expect(other.paths).toEqual([]);
  const both = await fetching(shop.host, other.host);
  expect(await both(`${shop.url}/away`)).toMatchObject({ status: 200, body: "other" });
});

test("an address that is not public is refused, even if the envelope allows it", async () => {
  const fetch = await fetching(inside.host, "169.254.169.254", "localhost");
  await expectRefused(fetch(inside.url), "egress_not_allowed", "127.0.0.1 is not a public address");
  await expectRefused(fetch("http://169.254.169.254/"), "egress_not_allowed", "not a public address");
  await expectRefused(fetch("http://localhost/"), "egress_not_allowed", "does not resolve to a public address");
  expect(inside.paths).toEqual([]);
});

test("an edit of the envelope applies from the next request on, and the step of a cancelled run may finish", async () => {
  const { attempt, edit, cancel } = await mine.run({ egress: [shop.host] });
  const { fetch } = attempt();
  expect((await fetch(shop.url)).status).toBe(429);
  await edit({ egress: [other.host] });
  await expectRefused(fetch(shop.url), "egress_not_allowed", shop.host);
  await cancel();
  expect((await fetch(other.url)).status).toBe(200);
});

test("an answer is limited to 10 MiB", async () => {
  const fetch = await fetching(shop.host);
  expect((await fetch(`${shop.url}/large`)).body).toHaveLength(10 * 1024 * 1024);
  expect(await failureOf(fetch(`${shop.url}/larger`))).toMatchObject({
    code: "step_error",
    message: expect.stringContaining("larger than 10 MiB"),
  });
});

test("endless answers of an organization are limited to 64 MiB together, and do not reduce the room of others", async () => {
  const fetch = await fetching(shop.host);
  const refused: unknown[] = [];
  const answers = Array.from({ length: 7 }, () => fetch(`${shop.url}/held`));
  for (const answer of answers) void answer.catch((error: unknown) => refused.push(error));
  await expect.poll(() => refused.length).toBe(1);
  expect(refused[0]).toMatchObject({
    code: "step_error",
    final: false,
    message: "fetch: The downloads of this organization hold too many bytes at once; try again later.",
  });
  const neighbour = await platform.organization("Neighbour");
  const theirs = (await neighbour.run({ egress: [shop.host] })).attempt().fetch(`${shop.url}/large`);
  expect((await theirs).body).toHaveLength(10 * 1024 * 1024);
  for (const response of held) response.end();
  const settled = await Promise.allSettled(answers);
  const read = settled.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.body.length] : []));
  expect(read).toEqual(Array(6).fill(ALMOST_10_MIB.length));
  expect((await fetch(`${shop.url}/large`)).body).toHaveLength(10 * 1024 * 1024);
});

test("an unreachable host is a retryable error", async () => {
  const fetch = await fetching(gone.host);
  const told = { code: "step_error", final: false, message: "fetch: The address cannot be reached (ECONNREFUSED)." };
  expect(await failureOf(fetch(gone.url))).toMatchObject(told);
});

test.each<[string, string, object, string]>([
  ["an invalid address", "nothing", {}, "fetch: url: must be an http or https address"],
  ["an unsupported scheme", "file:///etc/passwd", {}, "fetch: url: must be an http or https address"],
  ["an unsupported method", "http://a.example", { method: "CONNECT" }, "fetch: method"],
  ["a header of the connection", "http://a.example", { headers: [["Host", "b.example"]] }, "Host is set by"],
  ["an invalid header name", "http://a.example", { headers: [["a b", "c"]] }, "fetch: headers"],
  ["a header that contains a second one", "http://a.example", { headers: [["a", "b\r\nc: d"]] }, "fetch: headers"],
])("fetch reports %s at once", async (_, url, init, message) => {
  const fetch = await fetching("a.example");
  await expectRefused(fetch(url, init), "step_error", message);
});
