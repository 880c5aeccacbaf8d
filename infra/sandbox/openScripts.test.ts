import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { openScripts } from "./openScripts.ts";

test("vars as large as a request are refused without writing their JSON", async () => {
  const scripts = openScripts({ processes: 1 });
  const call = {
    organization_id: "o",
    js: "",
    args: {},
    meta: { vars: { text: "x".repeat(60_000_000) }, user: null, thread_id: "t", response_id: "r" },
    signal: new AbortController().signal,
    host: { fetch: () => Promise.reject(new Error()), secret: () => Promise.reject(new Error()) },
  };
  const run = () => expect(scripts.run(call)).rejects.toThrow("larger than 1 MiB");
  expect(await longestTurn(run)).toBeLessThan(40);
  await scripts.close();
});

test("a script is not checked while many of its organization wait, and those of others are", async () => {
  const scripts = openScripts({ processes: 1 });
  const inspect = (organization_id: string) => scripts.inspect(organization_id, "export const meta = {};");
  // four run at a time
  const waiting = Array.from({ length: 4 + 64 }, () => inspect("o"));
  await expect(inspect("o")).rejects.toMatchObject({ name: "Unavailable", retry_after_ms: 2_000 });
  expect(await inspect("other")).toMatchObject({ meta: {} });
  await Promise.all(waiting);
  expect(await inspect("o")).toMatchObject({ meta: {} });
  await scripts.close();
});
