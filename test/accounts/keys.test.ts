import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { clientOf, say } from "../http/service.ts";
import { expectRefusal } from "../hostile/target.ts";
import { openPeople, type People } from "./people.ts";

/* What an API key may still do: until when, and with which models (decisions: accounts). */

let people: People;
beforeAll(async () => {
  people = await openPeople();
});

const made = async (body: object) => {
  const { key } = (await people.owner("POST", "/keys", { name: "K", ...body })).body;
  return clientOf(people.service, key);
};

test("a key works until its second, and from then on no more, whichever zone it was told in", async () => {
  const end = Math.ceil((Date.now() + 1_500) / 1_000) * 1_000;
  const inZone = new Date(end + 5.5 * 3_600_000).toISOString().replace("Z", "+05:30");
  const keys = [await made({ expires_at: new Date(end).toISOString() }), await made({ expires_at: inZone })];
  for (const use of keys) {
    for (let before = 0; ; before++) {
      const { status, body } = await use("GET", "/files");
      if (status !== 200) {
        expect([status, body.error.code]).toEqual([401, "expired_api_key"]);
        expect(Date.now()).toBeGreaterThanOrEqual(end);
        break;
      }
      // nothing is said of an answer that was under way at the end
      expect(Date.now()).toBeLessThan(end + 1_000);
      if (before > 0) await sleep(20);
    }
    expectRefusal(await use("POST", "/chat/completions", say("x")), 401, "expired_api_key");
  }
});

test("a key with models names those alone, wherever a model is named", async () => {
  const use = await made({ allowed_models: ["offline/echo", "none/at-all"] });
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

test("a key with none of the models has none, and one whose models are given back has all", async () => {
  const { key, id } = (await people.owner("POST", "/keys", { name: "K", allowed_models: [] })).body;
  const use = clientOf(people.service, key);
  expect((await use("GET", "/models")).body.data).toEqual([]);
  expectRefusal(await use("POST", "/chat/completions", say("x")), 400, "model_not_found", "model");
  await people.owner("PATCH", `/keys/${id}`, { allowed_models: null });
  expect((await use("GET", "/models")).body.data.length).toBeGreaterThan(1);
  expect((await use("POST", "/chat/completions", say("x"))).status).toBe(200);
});

test("an agent brings its own model, whatever the key's are", async () => {
  const { id } = (await people.owner("POST", "/agents", { name: "A", model: "offline/echo" })).body;
  const { key } = (await people.owner("POST", "/keys", { name: "K", allowed_models: [] })).body;
  const use = clientOf({ chat: `${people.api}/agents/${id}/v1` }, key);
  expect((await use("POST", "/responses", { input: "x" })).body.status).toBe("completed");
});
