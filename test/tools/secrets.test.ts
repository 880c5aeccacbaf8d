import { expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { tablesWith } from "../tables.ts";
import { openDesk, toolSource } from "./desk.ts";

/* /api/secrets: values are written and never read back. */

const desk = await openDesk();

const put = (name: string, value: unknown) => desk.person("PUT", `/secrets/${name}`, { value });

test("the value of a secret appears in no answer and in no table", async () => {
  const canary = "canary-8d1f-of-a-secret";
  const { status, body, text } = await put("shop_key", canary);
  expect([status, Object.keys(body)]).toEqual([200, ["name", "created_at", "updated_at"]]);
  const one = await desk.person("GET", "/secrets/shop_key");
  const list = await desk.person("GET", "/secrets");
  expect(one.body).toEqual(body);
  expect(list.body).toMatchObject({ data: [body], total: 1 });
  const events = await desk.person("GET", "/events?limit=500");
  for (const answer of [text, one.text, list.text, events.text]) expect(answer).not.toContain(canary);
  expect(await tablesWith(desk.service.db, "shop_key")).not.toEqual([]);
  expect(await tablesWith(desk.service.db, canary)).toEqual([]);
});

test("a secret is replaced and removed", async () => {
  const source = toolSource("return (await secrets.get('turning')).length", { secrets: ["turning"] });
  expect((await desk.define(source, { name: "turning_tool", grants: ["turning"] })).status).toBe(201);
  const ask = async (): Promise<string> =>
    (await desk.obey(["/tool turning_tool {}"], ["turning_tool"])).body.choices[0].message.content;
  expect(await ask()).toContain("The secret turning is not set.");
  await put("turning", "1234567");
  expect(await ask()).toContain("turning_tool: 7");
  const { body: before } = await desk.person("GET", "/secrets/turning");
  const { body: after } = await put("turning", "123456789");
  expect(after.created_at).toBe(before.created_at);
  expect(await ask()).toContain("turning_tool: 9");
  expect((await desk.person("DELETE", "/secrets/turning")).status).toBe(204);
  expect(await ask()).toContain("The secret turning is not set.");
  expectRefusal(await desk.person("GET", "/secrets/turning"), 404, "secret_not_found", "name");
  expectRefusal(await desk.person("DELETE", "/secrets/turning"), 404, "secret_not_found", "name");
});

test("names and values of secrets are limited", async () => {
  expectRefusal(await put("short", "abc"), 400, undefined, "value");
  expect((await put("short", "abcd")).status).toBe(200);
  for (const name of ["1a", "a-b", "a%20b", "a".repeat(65), "%C3%A4"])
    expectRefusal(await put(name, "xxxx"), 400, "invalid_name", "name");
  for (const value of ["", 5, null, "x".repeat(16_385)])
    expectRefusal(await put("limits", value), 400, undefined, "value");
  expect((await put("limits", "x".repeat(16_384))).status).toBe(200);
});
