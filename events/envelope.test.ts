import { expect, test } from "vitest";
import { newCommand } from "./envelope.ts";
import { newId, streamName } from "./ids.ts";

const fields = {
  stream: streamName("agent", newId()),
  organization_id: newId(),
  request_id: "r",
  data: { a: 1 },
  timeout_ms: 5_000,
};

test("a new command has a random id, the system's principal and a deadline after its timeout", () => {
  const { timeout_ms, ...sent } = fields;
  const command = newCommand("DeleteAgent", fields);
  expect(command).toMatchObject({ ...sent, type: "DeleteAgent", principal: "system" });
  expect(command.id).toMatch(/^[0-9a-f]{64}$/);
  expect(Date.parse(command.deadline) - Date.parse(command.at)).toBe(timeout_ms);
  expect(newCommand("DeleteAgent", fields).id).not.toBe(command.id);
});

test("a new command keeps the id, the principal and the keys that its caller chose", () => {
  const chosen = { id: "f".repeat(64), principal: "key:1", keys: { a: "b" }, fresh: true, http: "h" } as const;
  expect(newCommand("DeleteAgent", { ...fields, ...chosen })).toMatchObject(chosen);
});
