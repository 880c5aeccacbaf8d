import { expect, test } from "vitest";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { openWorkflows, WAITING } from "./harness.ts";

/* What test/accounts/permissions.test.ts does not cover: its walk finds one item per path, and changes nothing. */

const { home, join } = await openWorkflows();

test("a trigger cannot be accessed through a workflow of another organization", async () => {
  const { id } = await home.register(WAITING);
  const { id: trigger } = await home.hook({ id });
  const { owner: stranger, register } = await join("Other");
  const own = await register();
  const readTriggers = async () => (await home.owner("GET", `/workflows/${id}/triggers`)).body;
  const before = await readTriggers();
  for (const [method, rest] of [
    ["POST", "/rotate"],
    ["DELETE", ""],
  ] as const) {
    const at = (named: string) => stranger(method, `/workflows/${own.id}/triggers/${named}${rest}`);
    const theirs = await at(trigger);
    expectRefusal(theirs, 404, "trigger_not_found", "trigger_id");
    expect(theirs.text).toBe((await at(UNKNOWN)).text);
  }
  expect(await readTriggers()).toEqual(before);
});

test("a builder can manage workflows and triggers", async () => {
  const { call } = await home.member("builder");
  const path = `/workflows/${(await home.register()).id}`;
  const { status, body } = await call("POST", `${path}/triggers`, {});
  expect(status).toBe(201);
  const trigger = `${path}/triggers/${body.id}`;
  expect((await call("POST", `${trigger}/rotate`)).status).toBe(200);
  expect((await call("DELETE", trigger)).status).toBe(204);
  expect((await call("PATCH", path, { name: "built" })).status).toBe(200);
  expect((await call("DELETE", path)).status).toBe(204);
  const { definition } = await home.register();
  expect((await call("POST", "/workflows", { definition_id: definition.id })).status).toBe(201);
});
