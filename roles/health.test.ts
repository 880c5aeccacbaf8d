import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { projections } from "#projections/index.ts";
import { readHealth } from "./health.ts";
import type { Resources } from "./resources.ts";

const rows: Record<string, unknown>[] = [
  { version: "18", read_only: "off", name: "none", index_id: "passages-1", lag: 0, parked: 0 },
];

const FAILING = { ok: false, detail: "not read within 3 s" };
const SILENT = "no answer within 2.5 s";

/** A search server that reports good health. */
async function startSearch(): Promise<string> {
  const server = createHttpServer((_, response) => response.end('{"status":"available"}')).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const resourcesAt = (meili_url: string, others: object = {}) =>
  ({
    db: { query: async () => rows },
    reach: { isReachable: () => true },
    appends: { problem: () => undefined },
    freeSpace: { look: async () => ({}), isRefused: () => false },
    bus: { health: async () => ({ connected: true, streams: {} }), checkDelivery: async () => {} },
    sameBus: { isOpen: () => true },
    addresses: { meili_url },
    settings: { DATA_DIR: "." },
    ...others,
  }) as unknown as Resources;

test("a search server that does not answer is not asked for its index, so the check ends within 5 s", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  onTestFinished(() => void silent.close());
  const has = vi.fn(async () => true);
  const health = await readHealth(resourcesAt(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`), { has });
  expect(health).toMatchObject({ postgres: { ok: true }, meilisearch: { ok: false, detail: SILENT } });
  expect(has).not.toHaveBeenCalled();
});

test("read models and the index that cannot be read in time are named as failing", async () => {
  const query = (text: string) => (text.includes("server_version") ? Promise.resolve(rows) : new Promise(() => {}));
  const health = await readHealth(resourcesAt(await startSearch(), { db: { query } }), { has: async () => true });
  expect(health).toMatchObject({ postgres: { ok: true }, meilisearch: { ok: true }, "index passages": FAILING });
  const models = projections.map(({ name }) => [`projection ${name}`, FAILING]);
  expect(health).toMatchObject(Object.fromEntries(models));
});

test("an index that is not read leaves the read models as they are", async () => {
  const built = projections.map(({ name, version }) => ({ name, version, lag: 0, parked: 0 }));
  const query = async (text: string) => (text.includes("log.checkpoints c, log.head") ? built : rows);
  const engine = { has: () => new Promise<boolean>(() => {}) };
  const health = await readHealth(resourcesAt(await startSearch(), { db: { query } }), engine);
  expect(health["index passages"]).toEqual(FAILING);
  expect(health["projection turns"]).toMatchObject({ ok: true });
});

test("a process whose log takes no appends, or that does not reach its database, is not ready", async () => {
  const url = await startSearch();
  const has = async () => true;
  const full = resourcesAt(url, { appends: { problem: () => "The disk of the database is full." } });
  expect((await readHealth(full, { has }))["log"]).toEqual({
    ok: false,
    detail: "The log takes no appends: The disk of the database is full.",
  });
  const cut = resourcesAt(url, { reach: { isReachable: () => false } });
  expect((await readHealth(cut, { has }))["postgres"]).toMatchObject({ ok: false });
});

test("docs/alerts.md has the texts of checks that take too long", () => {
  const page = readFileSync(new URL("../docs/alerts.md", import.meta.url), "utf8");
  const times = [...page.matchAll(/no answer within [\d.]+ s|read within [\d.]+ s/g)].map(([text]) => text);
  expect(new Set(times)).toEqual(new Set([SILENT, FAILING.detail.replace("not ", "")]));
});

test("the lag of the relays is shown, and is no failure", async () => {
  const followers = ["feed", "reactions", "passages"].map((name, n) => ({
    name,
    version: 1,
    lag: 5_000 + n,
    parked: 0,
  }));
  const query = async (text: string) => (text.includes("log.checkpoints c, log.head") ? followers : rows);
  const health = await readHealth(resourcesAt(await startSearch(), { db: { query } }), { has: async () => true });
  expect(health).toMatchObject({
    "relay feed": { ok: true, detail: { lag: 5_000 } },
    "relay reactions": { ok: true, detail: { lag: 5_001 } },
  });
});

test("a search server whose address has a path is asked below it", async () => {
  const server = createHttpServer(({ url }, response) =>
    response.writeHead(url === "/search/health" ? 200 : 404).end('{"status":"available"}'),
  ).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/search/`;
  const health = await readHealth(resourcesAt(url), { has: async () => true });
  expect(health["meilisearch"]).toEqual({ ok: true, detail: "available" });
});
