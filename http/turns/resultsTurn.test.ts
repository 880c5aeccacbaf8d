import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { nextCommand } from "../base/idempotency.ts";
import type { TurnIdentity } from "./previousTurn.ts";
import { findResultsTurn } from "./resultsTurn.ts";

const sent: TurnIdentity = {
  organization_id: newId(),
  id: "random",
  fingerprint: "f",
  hasKey: false,
  thread_id: undefined,
};
const stream = `thread-${newId()}`;

/** The turn of a request with tool results, of whose earlier deliveries `failed` have failed, and one may have `status`. */
async function find(failed: number, status?: "running" | "completed") {
  const turns = failed + (status ? 1 : 0);
  const indexes = new Map<string, number>();
  let identity = nextCommand({ ...sent, id: sent.fingerprint, hasKey: true }, "results");
  for (let n = 0; n <= turns; n++) {
    indexes.set(identity.id, n);
    identity = nextCommand(identity, "again");
  }
  let looks = 0;
  const http = {
    outcomes: {
      async find(_organization: string, id: string) {
        looks += 1;
        const n = indexes.get(id);
        if (n === undefined || n >= turns) return undefined;
        return { fingerprint: "f", rejection: null, event: { stream, version: 1, position: n + 1 } };
      },
    },
    db: { query: async (_text: string, [, , at]: unknown[]) => [{ status: at === failed + 1 ? status : "failed" }] },
    waitForProjections: async () => true,
  };
  const found = await findResultsTurn(http as never, { headers: {} } as never, sent);
  return { index: indexes.get(found.identity.id), position: found.previous?.position, looks };
}

test.each([0, 1, 2, 3, 6, 7, 8, 100])("after %i failed turns, the request starts the next one", async (failed) => {
  expect(await find(failed)).toMatchObject({ index: failed, position: undefined });
  for (const status of ["running", "completed"] as const)
    expect(await find(failed, status)).toMatchObject({ index: failed, position: failed + 1 });
});

test("a thousand failed turns cost a few look-ups", async () => {
  expect((await find(1_000)).looks).toBeLessThan(25);
  expect((await find(0)).looks).toBe(1);
});
