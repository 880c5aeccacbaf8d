import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { newId } from "#events/ids.ts";
import { cancelResponse } from "./cancelResponse.ts";

const row = {
  id: newId(),
  thread_id: newId(),
  organization_id: newId(),
  scope: "s",
  model: "a/m",
  status: "running",
  agent: { previous_turn_id: null, expose_tool_items: false },
  attempt: 1,
  wrapped_key: "key",
  input: null,
  said: null,
  usage: null,
  error: null,
  code: null,
  asked: null,
  started_at: new Date(),
  ended_at: null,
  parked_at: new Date(),
};
/** As the read model has it afterwards. */
const stopped = { ...row, model: '"a/m"', status: "stopped", agent: JSON.stringify(row.agent), ended_at: new Date() };

test("the output of 8 MB that a cancelled response keeps is written without holding up the process", async () => {
  const text = "\u0001".repeat(8_000_000);
  let stored = { bytes: 0, start: "" };
  const put = async (_key: object, bytes: Buffer): Promise<string> => {
    stored = { bytes: bytes.length, start: bytes.toString("utf8", 0, 30) };
    return "blob";
  };
  const http = {
    db: { query: async () => [stopped] },
    frames: { requestStop: () => undefined, loadFrames: async () => [{ type: "text", text, attempt: 1, n: 0 }] },
    turnHistory: { roundUsage: async () => [] },
    vault: { put },
    send: async () => ({ position: 0 }),
  };
  const request = { id: "r", caller: { principal: "key:k" } };
  const cancel = () => cancelResponse(http as never, request as never, "s", row as never);
  expect(await longestTurn(cancel)).toBeLessThan(50);
  const json = JSON.stringify([{ type: "text", text }]);
  expect(stored).toEqual({ bytes: json.length, start: json.slice(0, 30) });
});
