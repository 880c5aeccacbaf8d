import { expect, test } from "vitest";
import { openDescriptions } from "./descriptions.ts";

const settings = { BASE_URL: "https://assistant.example.com/base", SERVICE_NAME: "desk", BUS_PREFIX: "desk" };

test("requests of the same moment share one description, which contains the settings", async () => {
  const descriptions = openDescriptions(settings);
  const [first, second] = await Promise.all([descriptions(), descriptions()]);
  expect(second).toBe(first);
  expect(JSON.parse(first.openapi)).toMatchObject({ openapi: "3.1.0", servers: [{ url: settings.BASE_URL }] });
  expect(JSON.parse(first.asyncapi)).toMatchObject({
    asyncapi: "3.0.0",
    channels: { events: { address: "desk.evt.v1.{organization}.{aggregate}.{event}" } },
  });
});

test("a description that fails is made again for the next request", async () => {
  const wrong: { BUS_PREFIX?: string } = { ...settings, BUS_PREFIX: undefined };
  const descriptions = openDescriptions(wrong as typeof settings);
  await expect(descriptions()).rejects.toThrow("toUpperCase");
  wrong.BUS_PREFIX = "desk";
  expect(JSON.parse((await descriptions()).asyncapi)).toMatchObject({ asyncapi: "3.0.0" });
});
