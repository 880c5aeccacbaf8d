import { expect, test } from "vitest";
import { readAgentVersions } from "./agentVersions.ts";

test("a page of an agent's versions reads no event after those of the page", async () => {
  let pages = 0;
  const stream = async function* () {
    for (let version = 1; version <= 10; version++) {
      pages += 1;
      const type = version === 1 ? "AgentCreated" : "AgentChanged";
      const data = { agent_id: "a", version };
      const about = { type, meta: { principal: "person:p" }, recorded_at: new Date(version) };
      yield { bytes: 1, events: [{ ...about, data, personal: { name: `name ${version}` } }] as never[] };
    }
  };
  const { rows, total } = await readAgentVersions(stream(), 10, new Map(), { limit: 2, offset: 5 });
  expect([rows.map(({ version, settings }) => [version, settings.name]), total, pages]).toEqual([
    [
      [5, "name 5"],
      [4, "name 4"],
    ],
    10,
    6,
  ]);
});
