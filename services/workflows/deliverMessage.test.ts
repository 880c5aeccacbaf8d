import { expect, test } from "vitest";
import { deliverMessage, type DeliveryDeps, type MessageWait } from "./deliverMessage.ts";

const RUNS = 3;
const WAITS_OF_RUN = 400;
const BYTES = 200 * 1024;

test("copies of a message's data are few: one for each run, and 64 MiB of answers at most", async () => {
  const data = JSON.stringify({ text: "x".repeat(BYTES) });
  const waits: MessageWait[] = Array.from({ length: RUNS * WAITS_OF_RUN }, (_, n) => ({
    run_id: `run-${n % RUNS}`,
    key: String(n),
    match: {},
  }));
  const stored: string[] = [];
  const answered: string[] = [];
  const deps = {
    worker: "w",
    log: {
      read: async () => [
        { position: 1, data: { message_id: "m", project_id: null }, personal: { name: "order", data: { json: data } } },
      ],
      slice: async () => ({ events: [], more: false }),
    },
    vault: {
      findKey: async () => "key",
      put: async ({ thing }: { thing: string }) => {
        stored.push(thing);
        return `blob-${stored.length}`;
      },
    },
    handle: async ({ type, data: fields }: { type: string; data: { key: string } }) => {
      if (type === "DeliverMessage") answered.push(fields.key);
    },
    findMessageWaits: async () => waits,
  } as unknown as DeliveryDeps;
  await deliverMessage(deps, { stream: "message:m", organization_id: "o" } as never);
  expect(stored).toHaveLength(RUNS);
  expect(answered.length).toBeLessThanOrEqual(Math.ceil((64 * 1024 * 1024) / BYTES));
  expect(answered.length).toBeGreaterThan(300);
  expect(new Set(answered)).toEqual(new Set(waits.slice(0, answered.length).map(({ key }) => key)));
});
