import { expect, test } from "vitest";
import type { StreamPage } from "#events/ports.ts";
import { createBodyBudget } from "./bodyBudget.ts";
import { ApiError } from "./errors.ts";
import { openPart, openPatientPart, readCounted } from "./readCounted.ts";

const KB = 1024;

/** Requests of one organization that may hold 300 KB together. */
function stage() {
  const budget = createBodyBudget({ total: 1_000 * KB, perOwner: 300 * KB });
  const open = () => {
    const request = {
      caller: { organization_id: "a" },
      holds: (bytes: number) => budget.countArrived(request as never, bytes),
    };
    return request;
  };
  const pages = (...bytes: number[]) => ({
    streamPages: async function* (): AsyncGenerator<StreamPage> {
      for (const size of bytes) yield { bytes: size, events: [] };
    },
  });
  return { budget, open, pages };
}

test("a long stream counts while it is read, a short one does not", async () => {
  const { budget, open, pages } = stage();
  await readCounted(pages(30 * KB, 30 * KB), open(), "run-1");
  expect(budget.heldBytes()).toBe(0);
  await readCounted(pages(100 * KB, 50 * KB), open(), "run-1");
  expect(budget.heldBytes()).toBe(150 * KB);
});

test("the parts of a request's work do not add up", async () => {
  const { budget, open, pages } = stage();
  const request = open();
  for (let n = 0; n < 10; n++) {
    const part = openPart(request);
    await readCounted(pages(200 * KB), part, "run-1");
    expect(budget.heldBytes()).toBe(200 * KB);
    part.release();
  }
  expect(budget.heldBytes()).toBe(0);
});

test("a request beyond its organization's share is refused, and what it lets go is never refused", async () => {
  const { budget, open, pages } = stage();
  const [first, second] = [openPart(open()), openPart(open())];
  await readCounted(pages(280 * KB), first, "run-1");
  await expect(readCounted(pages(100 * KB), second, "run-2")).rejects.toThrow(ApiError);
  first.holds(100 * KB);
  first.release();
  expect(budget.heldBytes()).toBe(0);
});

test("an answer that is being sent waits for room instead", async () => {
  const { budget, open, pages } = stage();
  const first = openPart(open());
  first.holds(280 * KB);
  const reading = readCounted(pages(100 * KB), openPatientPart(open()), "run-2");
  setTimeout(first.release, 20);
  await reading;
  expect(budget.heldBytes()).toBe(100 * KB);
});
