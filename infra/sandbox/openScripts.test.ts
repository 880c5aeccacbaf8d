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
