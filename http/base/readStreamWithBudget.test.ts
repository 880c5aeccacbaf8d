import { expect, test } from "vitest";
import { readStreamWithBudget, releaseAfter } from "./readStreamWithBudget.ts";

/** A request that counts what it holds. */
function openRequest() {
  const state = { held: 0, most: 0, places: 0 };
  const request = {
    acquireLongRead: async () => void state.places++,
    countBytes(bytes: number) {
      state.held += bytes;
      state.most = Math.max(state.most, state.held);
    },
  };
  return { state, request };
}
const streamPages = async function* () {
  for (let n = 0; n < 3; n++) yield { events: [{ n }] as never[], bytes: 50_000 };
};

test("a long stream is read with a place, and its bytes count", async () => {
  const { state, request } = openRequest();
  expect(await readStreamWithBudget({ streamPages }, request, "run-1")).toHaveLength(3);
  expect(state).toEqual({ held: 150_000, most: 150_000, places: 2 });
});

test("what is read one after the other counts once at a time, also if it fails", async () => {
  const { state, request } = openRequest();
  for (let n = 0; n < 5; n++)
    await releaseAfter(request, (budget) => readStreamWithBudget({ streamPages }, budget, "run-1"));
  expect(state).toMatchObject({ held: 0, most: 150_000, places: 10 });
  const failing = releaseAfter(request, async (budget) => {
    budget.countBytes(7);
    throw new Error("away");
  });
  await expect(failing).rejects.toThrow("away");
  expect(state.held).toBe(0);
});
