import { expect, test } from "vitest";
import type { Run } from "../../api/run.ts";
import { entriesOf } from "./span.ts";

test("steps and waits are in the order in which they began; steps of one moment keep theirs", () => {
  const run = {
    steps: [
      { id: "b", scheduled_at: "2026-01-01T00:00:01Z" },
      { id: "a", scheduled_at: "2026-01-01T00:00:01Z" },
      { id: "c", scheduled_at: "2026-01-01T00:00:05Z" },
    ],
    waits: [{ key: "wait", since: "2026-01-01T00:00:03Z" }],
  } as unknown as Run;
  expect(entriesOf(run).map(({ id }) => id)).toEqual(["b", "a", "wait", "c"]);
});
