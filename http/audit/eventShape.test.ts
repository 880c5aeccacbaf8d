import { expect, test } from "vitest";
import { z } from "zod";
import type { EventDefinition } from "#events/define.ts";
import type { Recorded } from "#events/envelope.ts";
import { eventDefinitions } from "#events/index.ts";
import { KeyCreated } from "#events/key.ts";
import { SecretSet } from "#events/secret.ts";
import { frameOf, presentEvent } from "./eventShape.ts";

const ID = "0198c0de-0000-7000-8000-00000000000a";
const recorded = (event: { type: string; data: unknown; personal?: unknown }): Recorded => ({
  position: 7,
  stream: `thing-${ID}`,
  version: 2,
  organization_id: ID,
  command_id: "c",
  recorded_at: new Date("2026-01-02T03:04:05.000Z"),
  meta: { principal: "system", request_id: "r" },
  personal: undefined,
  ...event,
});

/** Names of all fields in a schema; those that a person chose are none. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {} } = schema as { properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(namesIn)];
}
const fieldsOf = ({ public: open, personal }: EventDefinition) =>
  [open, personal].flatMap((half) => (half ? namesIn(z.toJSONSchema(half, { unrepresentable: "any" })) : []));

/** They sound like a secret, and are a count, a name, an id, a hint, or worth nothing without one. */
const HARMLESS = new Set([
  ..."prompt_tokens completion_tokens cached_tokens reasoning_tokens max_output_tokens".split(" "),
  ..."secrets secret_hint key_hint hook_token credential_id ends_credential_id allow_api_key".split(" "),
]);

test("no field of an event that sounds like a credential is shown", () => {
  const suspicious = [...eventDefinitions.values()]
    .flatMap((definition) => fieldsOf(definition).map((field) => ({ type: definition.type, field })))
    .filter(
      ({ field }) => /hash|secret|token|passw|sealed|credential|api_key|hint/.test(field) && !HARMLESS.has(field),
    );
  expect(new Set(suspicious.map(({ field }) => field)).size).toBeGreaterThan(4);
  for (const { type, field } of suspicious) {
    const shown = presentEvent(
      recorded({ type, data: { [field]: "x", kept: 1 }, personal: { [field]: "x", kept: 1 } }),
    );
    expect(shown, `${type}.${field}`).toMatchObject({ data: { kept: 1 }, personal: { kept: 1 } });
    expect(JSON.stringify(shown), `${type}.${field}`).not.toContain("x");
  }
});

test("personal fields are shown, are said to be gone, or were never there", () => {
  const set = { name: "n", credential_id: ID, ends_credential_id: null };
  expect(presentEvent(recorded(SecretSet.of(set, { sealed_value: "s" })))).toMatchObject({
    personal: {},
    erased: false,
  });
  expect(presentEvent(recorded({ type: "SecretSet", data: set }))).toMatchObject({ personal: null, erased: true });
  expect(presentEvent(recorded({ type: "SecretRemoved", data: set }))).toMatchObject({ personal: null, erased: false });
});

test("a frame says where it stands, of what type it is, and everything else on one line", () => {
  const key = {
    key_id: ID,
    key_hash: "h",
    key_hint: "abcd",
    project_id: null,
    products: [],
    expires_at: null,
    enabled: true,
    allowed_models: null,
  };
  const event = recorded(KeyCreated.of(key, { name: "two\nlines" }));
  const [id, type, data, ...rest] = frameOf(event).split("\n");
  expect([id, type, rest]).toEqual(["id: 7", "event: KeyCreated", ["", ""]]);
  expect(JSON.parse(data!.replace("data: ", ""))).toEqual(presentEvent(event));
});
