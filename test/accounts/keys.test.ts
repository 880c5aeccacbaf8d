import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { clientOf, say } from "../http/service.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openPeople } from "./people.ts";

/* Limits of an API key: its expiry and its models. */

const people = await openPeople();

const createKey = async (body: object) => {
  const { key } = (await people.owner("POST", "/keys", { name: "K", ...body })).body;
  return clientOf(people.service, key);
};

test("an API key works until its expiry to the second, whatever time zone the expiry was sent in", async () => {
  const end = Math.ceil((Date.now() + 3_000) / 1_000) * 1_000;
  const inZone = new Date(end + 5.5 * 3_600_000).toISOString().replace("Z", "+05:30");
  const keys = [await createKey({ expires_at: new Date(end).toISOString() }), await createKey({ expires_at: inZone })];
  for (const use of keys) {
    for (let before = 0; ; before++) {
      const sent = Date.now();
      const { status, body } = await use("GET", "/files");
      if (status !== 200) {
        expect([status, body.error.code]).toEqual([401, "expired_api_key"]);
        expect(Date.now()).toBeGreaterThanOrEqual(end);
        break;
      }
      expect(sent).toBeLessThan(end);
      if (before > 0) await sleep(20);
    }
    expectRefusal(await use("POST", "/chat/completions", say("x")), 401, "expired_api_key");
  }
});

test("an API key with allowed models can list, read and use only these", async () => {
  const use = await createKey({ allowed_models: ["offline/echo", "none/at-all"] });
  const { data } = (await use("GET", "/models")).body;
  expect(data.map(({ id }: { id: string }) => id)).toEqual(["offline/echo"]);
  expect((await use("GET", "/models/offline/echo")).status).toBe(200);
  expectRefusal(await use("GET", "/models/offline/scripted"), 404, "model_not_found");
  expect((await use("POST", "/chat/completions", say("x"))).status).toBe(200);
  for (const more of [{}, { stream: true }]) {
    const refused = await use("POST", "/chat/completions", say("x", { model: "offline/scripted", ...more }));
    expectRefusal(refused, 400, "model_not_found", "model");
  }
});

test("an API key with an empty model list can use no model, and with null can use every model", async () => {
  const { key, id } = (await people.owner("POST", "/keys", { name: "K", allowed_models: [] })).body;
  const use = clientOf(people.service, key);
  expect((await use("GET", "/models")).body.data).toEqual([]);
  expectRefusal(await use("POST", "/chat/completions", say("x")), 400, "model_not_found", "model");
  await people.owner("PATCH", `/keys/${id}`, { allowed_models: null });
  expect((await use("GET", "/models")).body.data.length).toBeGreaterThan(1);
  expect((await use("POST", "/chat/completions", say("x"))).status).toBe(200);
});

test("a request that sets unchangeable fields is refused with their names and changes nothing", async () => {
  const { id } = (await people.owner("POST", "/keys", { name: "K" })).body;
  for (const body of [{ project_id: null }, { key_hint: "abcd" }, { unknown: 1 }])
    expectRefusal(
      await people.owner("PATCH", `/keys/${id}`, { name: "L", ...body }),
      400,
      undefined,
      Object.keys(body)[0],
    );
  expect((await people.owner("GET", `/keys/${id}`)).body.name).toBe("K");
  const project = (await people.owner("POST", "/projects", { name: "P" })).body;
  expectRefusal(await people.owner("PATCH", `/projects/${project.id}`, { id }), 400, undefined, "id");
  const agent = (await people.owner("POST", "/agents", { name: "A", model: "offline/echo" })).body;
  expectRefusal(await people.owner("PATCH", `/agents/${agent.id}`, { project: null }), 400, undefined, "project");
  const [member] = (await people.owner("GET", "/members")).body.data;
  expectRefusal(
    await people.owner("PATCH", `/members/${member.id}`, { email: "a@b.example" }),
    400,
    undefined,
    "email",
  );
  const definition = (await people.owner("GET", "/definitions")).body.data[0] ?? { id };
  expectRefusal(await people.owner("PATCH", `/definitions/${definition.id}`, { type: "tool" }), 400, undefined, "type");
});

test("an agent uses its own model even if the API key does not allow it", async () => {
  const { id } = (await people.owner("POST", "/agents", { name: "A", model: "offline/echo" })).body;
  const { key } = (await people.owner("POST", "/keys", { name: "K", allowed_models: [] })).body;
  const use = clientOf({ chat: `${people.api}/agents/${id}/v1` }, key);
  expect((await use("POST", "/responses", { input: "x" })).body.status).toBe("completed");
});

test("a rotated API key loses its old secret at once and keeps its threads", async () => {
  const { key, id } = (await people.owner("POST", "/keys", { name: "K" })).body;
  const old = clientOf(people.service, key);
  const thread = (await old("POST", "/chat/completions", say("x"))).headers.get("x-thread-id")!;
  const rotate = () => people.owner("POST", `/keys/${id}/rotate`, undefined, { "idempotency-key": "rotate-1" });
  const rotated = await rotate();
  expect([rotated.status, rotated.body.id]).toEqual([200, id]);
  expect(rotated.body.key).not.toBe(key);
  expect(rotated.body.key_hint).toBe(rotated.body.key.slice(-4));
  expectRefusal(await old("GET", `/threads/${thread}/messages`), 401, "invalid_api_key");
  const renewed = clientOf(people.service, rotated.body.key);
  expect((await renewed("GET", `/threads/${thread}/messages`)).body.data).toHaveLength(2);
  const repeated = await rotate();
  expect([repeated.status, repeated.body.key, repeated.body.key_hint]).toEqual([200, undefined, rotated.body.key_hint]);
  expectRefusal(await people.owner("POST", "/keys/unknown/rotate"), 404, "key_not_found", "id");
});
