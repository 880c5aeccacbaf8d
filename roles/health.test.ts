import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { readHealth } from "./health.ts";
import type { Resources } from "./resources.ts";

const rows: Record<string, unknown>[] = [
  { version: "18", read_only: "off", name: "none", index_id: "passages-1", lag: 0, parked: 0 },
];

const resourcesAt = (meili_url: string) =>
  ({
    db: { query: async () => rows },
    bus: { health: async () => ({ connected: true, streams: {} }), checkDelivery: async () => {} },
    sameBus: { isOpen: () => true },
    addresses: { meili_url },
    settings: { DATA_DIR: "." },
  }) as unknown as Resources;

test("a search server that is silent is asked for its index no more: the check ends within 5 s", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  onTestFinished(() => void silent.close());
  const has = vi.fn(async () => true);
  const health = await readHealth(resourcesAt(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`), { has });
  expect(health).toMatchObject({ postgres: { ok: true }, meilisearch: { ok: false } });
  expect(has).not.toHaveBeenCalled();
});
