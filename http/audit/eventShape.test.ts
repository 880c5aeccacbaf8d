import { expect, test } from "vitest";
import { z } from "zod";
import type { EventDefinition } from "#events/define.ts";
import type { AuditedEvent } from "#events/auditLog.ts";
import { eventDefinitions } from "#events/index.ts";
import { KeyCreated } from "#events/key.ts";
import { SecretSet } from "#events/secret.ts";
import { presentEvent, toSseFrame } from "./eventShape.ts";

const ID = "0198c0de-0000-7000-8000-00000000000a";
const toCursor = (position: number): string => `cursor-${position}`;
const recorded = (event: { type: string; data: unknown; personal?: unknown }): AuditedEvent => ({
  position: 7,
  stream: `thing-${ID}`,
  version: 2,
  organization_id: ID,
  command_id: "c",
  recorded_at: new Date("2026-01-02T03:04:05.000Z"),
  meta: { principal: "system", request_id: "r" },
  personal: undefined,
  sealed_hash: null,
  ...event,
});

/** Names of all fields in a schema. Keys of records, which clients choose, are no fields. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {} } = schema as { properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(namesIn)];
}
const fieldsOf = ({ public: open, personal }: EventDefinition) =>
  [open, personal].flatMap((half) => (half ? namesIn(z.toJSONSchema(half, { unrepresentable: "any" })) : []));

/** They sound like secrets, but are counts, names, ids, hints, or worthless without a secret. */
const HARMLESS = new Set([
  ..."prompt_tokens completion_tokens cached_tokens cache_write_tokens reasoning_tokens max_output_tokens tokens_per_minute tokens_per_day tokens_per_week tokens_per_month tokens_total".split(
    " ",
  ),
  ..."secrets secret_hint key_hint hook_token credential_id ends_credential_id allow_api_key allow_api_key_when_restricted".split(
    " ",
  ),
]);

test("the audit API shows no event field that sounds like a credential", () => {
  const suspicious = [...eventDefinitions.values()]
    .flatMap((definition) => fieldsOf(definition).map((field) => ({ type: definition.type, field })))
    .filter(
      ({ field }) => /hash|secret|token|passw|sealed|credential|api_key|hint/.test(field) && !HARMLESS.has(field),
    );
  expect(new Set(suspicious.map(({ field }) => field)).size).toBeGreaterThan(4);
  for (const { type, field } of suspicious) {
    const shown = presentEvent(
      recorded({ type, data: { [field]: "x", kept: 1 }, personal: { [field]: "x", kept: 1 } }),
      toCursor,
    );
    expect(shown, `${type}.${field}`).toMatchObject({ data: { kept: 1 }, personal: { kept: 1 } });
    expect(JSON.stringify(shown), `${type}.${field}`).not.toContain("x");
  }
});

test("the audit API distinguishes present, erased and never existing personal fields", () => {
  const set = { name: "n", credential_id: ID, ends_credential_id: null };
  expect(presentEvent(recorded(SecretSet.of(set, { sealed_value: "s" })), toCursor)).toMatchObject({
    personal: {},
    erased: false,
  });
  expect(presentEvent(recorded({ type: "SecretSet", data: set }), toCursor)).toMatchObject({
    personal: null,
    erased: true,
  });
  expect(presentEvent(recorded({ type: "SecretRemoved", data: set }), toCursor)).toMatchObject({
    personal: null,
    erased: false,
  });
});

test("an SSE frame of an event has its cursor as id, its type as event, and one line of data", () => {
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
  const [id, type, data, ...rest] = toSseFrame(event, toCursor).split("\n");
  expect([id, type, rest]).toEqual(["id: cursor-7", "event: KeyCreated", ["", ""]]);
  expect(JSON.parse(data!.replace("data: ", ""))).toEqual(presentEvent(event, toCursor));
});
