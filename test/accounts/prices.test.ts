import { describe, expect, test } from "vitest";
import { withCost } from "#services/turns/cost.ts";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf, say } from "../http/service.ts";
import { readAllEvents } from "./audit.ts";
import { openPeople } from "./people.ts";

/* Prices of models, and the cost of turns in everything that shows their usage (docs/spending.md). */

const people = await openPeople();

const set = (model: string, prices: object[], by = people.owner) => by("PUT", `/prices/${model}`, { prices });
const price = { input: "1", output: "10" };

describe("the prices of a model", () => {
  test("are set, listed, read, replaced and removed", async () => {
    const { owner } = people;
    const shown = {
      model: "acme/large",
      set_by: "organization",
      prices: [
        {
          valid_from: null,
          input: "1",
          output: "10",
          cached_input: null,
          cache_write: null,
          reasoning: null,
          per_call: null,
          per_page: null,
        },
      ],
      source: null,
      as_of: null,
      updated_at: expect.any(String),
    };
    expect((await set("acme/large", [price])).body).toEqual(shown);
    expect((await owner("GET", "/prices/acme/large")).body).toEqual(shown);
    expect((await owner("GET", "/prices")).body.data[0]).toEqual(shown);
    const full = { cached_input: "0.1", cache_write: "1.25", reasoning: "12", per_call: "0.01" };
    const later = { ...price, ...full, valid_from: "2027-01-01T00:00:00+01:00" };
    expect((await set("acme/large", [price, later])).body.prices).toEqual([
      shown.prices[0],
      { ...price, ...full, per_page: null, valid_from: "2026-12-31T23:00:00.000Z" },
    ]);
    expect((await owner("DELETE", "/prices/acme/large")).status).toBe(204);
    expectRefusal(await owner("GET", "/prices/acme/large"), 404, "price_not_found", "model");
    expectRefusal(await owner("DELETE", "/prices/acme/large"), 404, "price_not_found", "model");
    expect((await owner("GET", "/prices")).body.data.map(({ model }: any) => model)).not.toContain("acme/large");
  });

  test("have a default with source and date if the provider publishes it, and the organization's own price replaces it", async () => {
    const { owner } = people;
    const published = (await owner("GET", "/prices/openai/gpt-4o")).body;
    expect(published).toMatchObject({ set_by: "default", source: expect.stringMatching(/^https:/), updated_at: null });
    expect(published.as_of).toMatch(/^\d{4}-\d\d-\d\d$/);
    const count = (await owner("GET", "/prices")).body.total;
    await set("openai/gpt-4o", [price]);
    expect((await owner("GET", "/prices/openai/gpt-4o")).body).toMatchObject({ set_by: "organization" });
    expect((await owner("GET", "/prices")).body.total).toBe(count);
    await owner("DELETE", "/prices/openai/gpt-4o");
    expect((await owner("GET", "/prices/openai/gpt-4o")).body).toEqual(published);
  });

  test("show the default until the first of the organization's own begins", async () => {
    const { owner } = people;
    const model = "openai/gpt-4.1-nano";
    const published = (await owner("GET", `/prices/${model}`)).body;
    const beginAt = (valid_from: string) => set(model, [{ ...price, valid_from }]);
    const announced = (await beginAt("2090-01-01T00:00:00Z")).body;
    expect(announced).toMatchObject({ set_by: "organization", prices: [{ input: "1" }], published });
    expect((await owner("GET", `/prices/${model}`)).body).toEqual(announced);
    const listed = (await owner("GET", "/prices?limit=500")).body.data.filter((one: any) => one.model === model);
    expect(listed).toEqual([announced]);
    expect((await beginAt("2020-01-01T00:00:00Z")).body).not.toHaveProperty("published");
    expect((await owner("DELETE", `/prices/${model}`)).status).toBe(204);
  });

  test("have the default of a provider's API under the name that the organization gave the provider", async () => {
    const { owner } = people;
    const configure = (more: object = {}) =>
      owner("PUT", "/providers/claude-2", { api_key: "k", format: "anthropic", ...more });
    const read = () => owner("GET", "/prices/claude-2/claude-sonnet-4-5");
    expectRefusal(await read(), 404, "price_not_found", "model");
    expect((await configure()).status).toBe(200);
    const published = (await owner("GET", "/prices/anthropic/claude-sonnet-4-5")).body;
    const renamed = { ...published, model: "claude-2/claude-sonnet-4-5" };
    expect((await read()).body).toEqual(renamed);
    expect((await owner("GET", "/prices?limit=500")).body.data).toContainEqual(renamed);
    await configure({ base_url: "https://proxy.example" });
    expectRefusal(await read(), 404, "price_not_found", "model");
    expect((await owner("DELETE", "/providers/claude-2")).status).toBe(204);
  });

  test("have no default if the organization uses the provider at another address, where it does not apply", async () => {
    const { owner } = people;
    const read = () => owner("GET", "/prices/anthropic/claude-sonnet-4-5");
    expect((await read()).status).toBe(200);
    await owner("PUT", "/providers/anthropic", { api_key: "k", base_url: "https://proxy.example" });
    expectRefusal(await read(), 404, "price_not_found", "model");
    const later = [{ ...price, valid_from: "2090-01-01T00:00:00Z" }];
    expect((await set("anthropic/claude-sonnet-4-5", later)).body).not.toHaveProperty("published");
    expect((await owner("DELETE", "/prices/anthropic/claude-sonnet-4-5")).status).toBe(204);
    expect((await owner("DELETE", "/providers/anthropic")).status).toBe(204);
    expect((await read()).status).toBe(200);
  });

  test("may name a model with a slash", async () => {
    const model = `acme/${encodeURIComponent("accounts/us/models/large")}`;
    expect((await set(model, [price])).body.model).toBe("acme/accounts/us/models/large");
    expect((await people.owner("GET", `/prices/${model}`)).body.prices).toHaveLength(1);
  });

  test.each([
    ["a number", [{ ...price, input: 1 }], "prices[0].input"],
    ["a negative price", [{ ...price, output: "-1" }], "prices[0].output"],
    ["seven decimals", [{ ...price, output: "0.1234567" }], "prices[0].output"],
    ["a price with a comma", [price, { ...price, cached_input: "0,1" }], "prices[1].cached_input"],
    ["no price of the answer", [{ input: "1" }], "prices[0].output"],
    ["a price of pages", [{ ...price, per_page: "1" }], "prices[0].per_page"],
    ["no price", [], "prices"],
    ["too many prices", Array.from({ length: 21 }, () => price), "prices"],
    [
      "two of one moment",
      [
        { ...price, valid_from: "2027-01-01T00:00:00Z" },
        { ...price, valid_from: "2027-01-01T01:00:00+01:00" },
      ],
      "prices[1].valid_from",
    ],
    ["two that hold always", [price, price], "prices[1].valid_from"],
    ["a day instead of a moment", [{ ...price, valid_from: "2026-01-01" }], "prices[0].valid_from"],
    ["a field that does not exist", [{ ...price, cached: "1" }], "prices[0].cached"],
  ])("are refused with %s", async (_, prices, param) =>
    expectRefusal(await set("acme/bad", prices), 400, undefined, param),
  );

  test("of pages have only the field `per_page`", async () => {
    expect((await set("reading/pages", [{ per_page: "0.0015" }])).body.prices[0]).toMatchObject({ per_page: "0.0015" });
    expectRefusal(await set("reading/pages", [{}]), 400, undefined, "prices[0].per_page");
    expectRefusal(await set("reading/pages", [{ per_page: "1", input: "1" }]), 400, undefined, "prices[0].input");
    expect((await people.owner("DELETE", "/prices/reading%2Fpages")).status).toBe(404);
    expect((await people.owner("DELETE", "/prices/reading/pages")).status).toBe(204);
  });

  test("are refused for an invalid provider name", async () =>
    expectRefusal(await set("Not%20one/large", [price]), 400, "invalid_name", "model"));

  test("are limited to 5,000 models, and existing ones can still be changed and removed", async () => {
    const crowd = await people.service.organization("Crowd");
    const by = await people.signIn(crowd);
    expect((await set("acme/first", [price], by)).status).toBe(200);
    // as if they had been set one by one, which would take a minute
    await people.service.db.query(
      `insert into read.prices (id, organization_id, model, prices, created_at, updated_at)
       select gen_random_uuid(), organization_id, model, prices, created_at, updated_at
       from read.prices, generate_series(2, 5000) where organization_id = $1`,
      [crowd.organization_id],
    );
    expectRefusal(await set("acme/another", [price], by), 409, "too_many_prices", "model");
    expect((await set("acme/first", [{ ...price, input: "2" }], by)).status).toBe(200);
    expect((await set("acme/another", [price])).status).toBe(200);
    expect((await by("DELETE", "/prices/acme/first")).status).toBe(204);
    expect((await set("acme/another", [price], by)).status).toBe(200);
  });
});

describe("the cost of a turn", () => {
  const scripted = { valid_from: null, input: "1", output: "10" };
  const key = () => clientOf(people.service, people.service.credentials.api_key);
  const costOf = ({ prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details }: any) =>
    withCost(
      {
        prompt_tokens,
        completion_tokens,
        cached_tokens: prompt_tokens_details.cached_tokens,
        reasoning_tokens: completion_tokens_details.reasoning_tokens,
      },
      scripted,
    ).cost;

  test("is absent while the model has no price, and zero only if the model is free", async () => {
    const { body } = await key()("POST", "/chat/completions", say("Hi"));
    expect(body.usage).not.toHaveProperty("cost");
    await set("offline/echo", [{ input: "0", output: "0" }]);
    expect((await key()("POST", "/chat/completions", say("Hi"))).body.usage.cost).toBe("0");
  });

  test("is the same in the answer, stream, trace, request list and log, and a new price does not change it", async () => {
    const { owner } = people;
    await set("offline/scripted", [scripted]);
    const ask = (more: object = {}) =>
      key()("POST", "/chat/completions", say("/say Hello there", { model: "offline/scripted", ...more }));
    const { body } = await ask();
    const { cost } = body.usage;
    expect(cost).toBe(costOf(body.usage));
    const streamed = (await ask({ stream: true, stream_options: { include_usage: true } })).text;
    expect(streamed).toContain(`"cost":"${cost}"`);
    await set("offline/scripted", [{ input: "500", output: "500" }]);
    const id = body.id.slice("chatcmpl-".length);
    expect((await owner("GET", `/turns/${id}/trace`)).body.usage.cost).toBe(cost);
    expect((await owner("GET", "/turns")).body.data.find((turn: any) => turn.id === id).usage.cost).toBe(cost);
    const ended = (await readAllEvents(owner)).find(
      ({ type, data }) => type === "TurnCompleted" && data.turn_id === id,
    )!;
    expect(ended.data.usage.cost).toBe(cost);
  });

  test("follows the start dates of its prices", async () => {
    const [past, future] = ["2020-01-01T00:00:00Z", "2090-01-01T00:00:00Z"];
    const ask = async () =>
      (await key()("POST", "/chat/completions", say("/say Hi", { model: "offline/scripted" }))).body.usage;
    await set("offline/scripted", [{ ...price, valid_from: future }]);
    expect(await ask()).not.toHaveProperty("cost");
    await set("offline/scripted", [
      { ...price, valid_from: future },
      scripted,
      { input: "0", output: "0", valid_from: past },
    ]);
    expect((await ask()).cost).toBe("0");
  });

  test("is included in answers of agents and in answers to workflows, too", async () => {
    const { owner } = people;
    await set("offline/echo", [{ input: "1", output: "1", per_call: "2" }]);
    const agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo" })).body.id;
    const { body } = await owner("POST", `/agents/${agent}/v1/responses`, { input: "Hi" });
    expect(body.usage.cost).toBe(`2.${String(body.usage.total_tokens).padStart(6, "0").replace(/0+$/, "")}`);
    const source = `export const steps = {
        chat: (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] }),
      };
      export const run = (ctx) => ctx.runStep("chat");`;
    const definition = (await owner("POST", "/definitions", { type: "workflow", name: "asks", source })).body.id;
    const { id } = (await owner("POST", "/workflows", { definition_id: definition, name: "Asks" })).body;
    const run = (await owner("POST", `/workflows/${id}/runs`, { args: {} })).body.id;
    const ended = (await owner("GET", `/workflows/runs/${run}?wait=30`)).body;
    expect(ended.result.usage.cost).toMatch(/^2\.0000\d+$/);
  });
});
