import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { findPreviousTurn, type TurnIdentity } from "./previousTurn.ts";

/** Counts the look-ups of retries that arrive together, while the client of the first delivery is still there. */
async function countClaims(retries: number): Promise<number> {
  let claims = 0;
  const abandonedTurns = { claim: async () => void claims++, isRunning: async () => true };
  const request = { headers: { "x-stainless-retry-count": "1" } };
  const organization_id = newId();
  const identity: TurnIdentity = { organization_id, id: "c", fingerprint: "f", hasKey: false, thread_id: undefined };
  const find = () => findPreviousTurn({ abandonedTurns } as never, request as never, identity);
  const found = await Promise.all(Array.from({ length: retries }, find));
  expect(found.every((turn) => turn === undefined)).toBe(true);
  return claims;
}

test("retries that wait for the same turn poll less often the more of their organization wait", async () => {
  expect(await countClaims(1)).toBeGreaterThan(3);
  // 1,600 at full speed
  expect(await countClaims(80)).toBeLessThan(500);
});
