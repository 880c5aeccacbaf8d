import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { listRequests, type RequestFilter } from "./listRequests.ts";

const NO_FILTER: RequestFilter = {
  status: null,
  principal: null,
  model: null,
  agent_id: null,
  thread_id: null,
  scopes: null,
  error: null,
  words: null,
  from: null,
  to: null,
};

test("a page of 500 requests with 64 kB of messages each lets others run while it is read", async () => {
  const input = JSON.stringify(
    Array.from({ length: 1_000 }, (_, n) => ({ role: "user", text: `${n} ${"x".repeat(35)}` })),
  );
  const stored = { model: '"offline/echo"', agent: null, usage: null, error: null, code: null, principal_name: null };
  const row = { ...stored, agent_name: null, exists: true, input };
  const db = { query: async () => Array.from({ length: 500 }, (_, n) => ({ ...row, id: `turn ${n}` })) as never[] };
  let read = 0;
  const longest = await longestTurn(async () => {
    const { rows } = await listRequests(db, "o", NO_FILTER, { after: undefined, limit: 500 });
    read = rows.length;
  });
  expect(read).toBe(500);
  expect(longest).toBeLessThan(50);
});
