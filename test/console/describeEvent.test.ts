import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventDefinitions } from "#events/index.ts";
import { describeEvent, EVENT_TYPES } from "../../console/format/describeEvent.ts";

const FROZEN = new URL("../../events/frozen/", import.meta.url);

test("every event type has a sentence, and no sentence is left over", () => {
  expect(EVENT_TYPES).toEqual([...eventDefinitions.keys()].toSorted());
});

test("a sentence is correct with every field, and with deleted personal fields", () => {
  for (const file of readdirSync(FROZEN)) {
    const { type, example } = JSON.parse(readFileSync(new URL(file, FROZEN), "utf8"));
    for (const personal of [example.personal ?? null, null]) {
      const sentence = describeEvent({ type, data: example.data, personal });
      expect(sentence, type).not.toMatch(/undefined|NaN|\[object|null|“”| {2}|: $/);
      expect(sentence.length, type).toBeGreaterThan(8);
    }
  }
});

test("what is counted is singular or plural", () => {
  const delivered = (reached: number) => describeEvent({ type: "MessageDelivered", data: { reached }, personal: null });
  expect([0, 1, 2].map(delivered)).toEqual([
    "The event reached 0 runs.",
    "The event reached 1 run.",
    "The event reached 2 runs.",
  ]);
});

test("long values are cut, and an unknown event type is named", () => {
  const sentence = describeEvent({ type: "ProjectCreated", data: {}, personal: { name: "x".repeat(5_000) } });
  expect(sentence).toMatch(/^The project “x{120}…” was created\.$/);
  expect(describeEvent({ type: "Later", data: {}, personal: null })).toBe("Later");
});
