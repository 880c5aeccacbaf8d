import { expect } from "vitest";
import type { Tenant } from "../workflows/tenant.ts";

/** What the example of the first start creates, by name. */
export async function readExample(tenant: Tenant) {
  const names = async (path: string): Promise<string[]> =>
    (await tenant.made(tenant.owner("GET", path))).data.map(({ name }: { name: string }) => name);
  return {
    workflows: await names("/workflows"),
    runs: (await tenant.made(tenant.owner("GET", "/workflows/runs"))).total,
    collections: await names("/v1/knowledge/collections"),
    documents: (await names("/v1/knowledge/collections/handbook/documents")).toSorted(),
    agents: await names("/agents"),
  };
}

/** Everything, once. */
export const EXAMPLE: Awaited<ReturnType<typeof readExample>> = {
  workflows: ["Refund (example)"],
  runs: 3,
  collections: ["Handbook"],
  documents: expect.toSatisfy((documents: string[]) => new Set(documents).size === 3 && documents.length === 3),
  agents: ["First agent", "Handbook"],
};
