import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { openDescriptions } from "./descriptions.ts";

const settings = { BASE_URL: "https://assistant.example.com/base", SERVICE_NAME: "desk", BUS_PREFIX: "desk" };
const parse = (json: Buffer): unknown => JSON.parse(json.toString());

test("requests of the same moment share one description, which contains the settings and does not hold the event loop", async () => {
  const descriptions = openDescriptions(settings);
  const work = async () => {
    const [first, second] = await Promise.all([descriptions(), descriptions()]);
    expect(second).toBe(first);
  };
  expect(await longestTurn(work)).toBeLessThan(50);
  const { openapi, asyncapi } = await descriptions();
  expect(parse(openapi)).toMatchObject({ openapi: "3.1.0", servers: [{ url: settings.BASE_URL }] });
  expect(parse(asyncapi)).toMatchObject({
    asyncapi: "3.0.0",
    channels: { events: { address: "desk.evt.v1.{organization}.{aggregate}.{event}" } },
  });
});

test("a description that fails is made again for the next request", async () => {
  const wrong: { BUS_PREFIX?: string } = { ...settings, BUS_PREFIX: undefined };
  const descriptions = openDescriptions(wrong as typeof settings);
  await expect(descriptions()).rejects.toThrow("toUpperCase");
  wrong.BUS_PREFIX = "desk";
  expect(parse((await descriptions()).asyncapi)).toMatchObject({ asyncapi: "3.0.0" });
});
