import { expect, test } from "vitest";
import type { Principal } from "#events/envelope.ts";
import { createMatcher, type Subject } from "./exportSubject.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const person: Subject = { kind: "principal", principal: `person:${id}`, actor: { type: "person", id } };
const user: Subject = {
  kind: "user",
  user: "zoe",
  user_mark: "mark",
  scopes: ["s"],
  run_ids: [],
  document_ids: [],
};
const matches = (subject: Subject, data: object, personal?: object, principal: Principal = "system") =>
  createMatcher(subject)({ data, personal, meta: { principal, request_id: "r" } });

test("an export has the events that a person caused or that name it, also budgets of one model", () => {
  expect(matches(person, {}, {}, `person:${id}`)).toBe(true);
  expect(matches(person, { started_by: { type: "person", id } })).toBe(true);
  expect(matches(person, { subject: `person:${id}@openai/gpt-5` })).toBe(true);
  expect(matches(person, { subject: "organization" }, { name: "Ada" })).toBe(false);
});

test("an export has the events of an external user, by scope, value and mark", () => {
  expect(matches(user, { scope: "s" })).toBe(true);
  expect(matches(user, {}, { input: { prompt: { user: "zoe" } } })).toBe(true);
  expect(matches(user, {}, { readers: [{ role: "member" }, { external_user: "zoe" }] })).toBe(true);
  expect(matches(user, { user_mark: "mark" })).toBe(true);
  expect(matches(user, { owner: "user:mark" })).toBe(true);
  expect(matches(user, { subject: "user:mark@openai/gpt-5" })).toBe(true);
});

test("a text that only mentions an external user is not about it", () => {
  expect(matches(user, {}, { name: "zoe" })).toBe(false);
  expect(matches(user, {}, { readers: [{ external_user: "zoe@example.com" }] })).toBe(false);
});
