import { expect, test } from "vitest";
import { openContentLimits } from "./budgets.ts";

const owner = { organization_id: "o", project_id: null };

/** Asks for room for what a step stores, while this many files wait to be read. Resolves with what budgets were asked for. */
async function ask(unread: number, isRead: boolean) {
  const resources = {
    settings: { ORGANIZATION_MEGABYTES: 1 },
    db: { query: async (_: string, [ids]: [string[]]) => ids.map((id) => ({ id, bytes: 0, unread })) },
    logLimits: { refusal: () => undefined },
  };
  const budgets = { admit: async (_: object, wanted: object) => ({ admitted: wanted }) };
  const admit = openContentLimits(resources as never, budgets as never);
  // a step replaces a document, or saves a file
  return admit(owner, { bytes: 10, documents: 0, isRead });
}

test("a step that replaces a document waits for room among the unread files, and one that saves a file does not", async () => {
  const admitted = { admitted: { bytes: 10, documents: 0, pages: 0 } };
  expect(await ask(50_000, true)).toEqual({ refused: expect.stringContaining("wait to be read") });
  expect(await ask(49_999, true)).toEqual(admitted);
  expect(await ask(50_000, false)).toEqual(admitted);
});
