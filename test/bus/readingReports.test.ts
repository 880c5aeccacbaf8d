import { expect, test } from "vitest";
import { testBus } from "#test/harness.ts";
import { openBus, until } from "./bus.ts";

test("the progress of a reading reaches its own process and the others", async () => {
  const server = testBus();
  const [one, other] = await Promise.all([openBus(server), openBus(server)]);
  const [here, there]: [string[], string[]] = [[], []];
  one.readings.subscribe((stream, { pages_read, pages_total }) => here.push(`${stream} ${pages_read}/${pages_total}`));
  other.readings.subscribe((stream, { pages_read, pages_total }) =>
    there.push(`${stream} ${pages_read}/${pages_total}`),
  );
  // reports are repeated, because one may be sent before the server has the subscription
  await until(() => {
    one.readings.publish("document-1", { pages_read: 3, pages_total: 9 });
    return there.length > 0;
  });
  expect(new Set(here)).toEqual(new Set(["document-1 3/9"]));
  expect(new Set(there)).toEqual(new Set(["document-1 3/9"]));
});
