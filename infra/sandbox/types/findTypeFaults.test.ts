import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { describe, expect, test } from "vitest";
import type { TypedScript } from "#http/base/typeChecker.ts";
import { findTypeFaults } from "./findTypeFaults.ts";
import { schemaType } from "./schemaType.ts";

const PARAMETERS = {
  type: "object",
  properties: { order: { type: "string" }, amount: { type: "number" } },
  required: ["order"],
};
const check = (source: string, more: Partial<TypedScript> = {}) =>
  findTypeFaults({
    type: "workflow",
    source,
    has_types: stripTypeScriptTypes(source) !== source,
    parameters: PARAMETERS,
    step_inputs: {},
    ...more,
  });
/** Each fault as `line:column-end: message`. */
const describeFaults = (source: string, more?: Partial<TypedScript>): string[] =>
  check(source, more).map(({ line, column, end_column, message }) => `${line}:${column}-${end_column}: ${message}`);

const EXAMPLES = await Array.fromAsync(
  glob("examples/{,workflows/}*.ts", { cwd: new URL("../../..", import.meta.url) }),
);

describe("the types of a script", () => {
  test.each(EXAMPLES.filter((name) => !name.endsWith(".d.ts")))("%s has no error", (name) => {
    const source = readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");
    expect(check(source, { parameters: {} })).toEqual([]);
  });

  test("ctx and the arguments have types without any annotation, at the columns of the source", () => {
    const source = `export async function run(ctx, args) {
  await ctx.sleep(args.ordr);
  return args.amount + 1;
}`;
    expect(describeFaults(source)).toEqual([
      "2:24-28: Property 'ordr' does not exist on type 'Args'. Did you mean 'order'?",
      "3:10-21: 'args.amount' is possibly 'undefined'.",
    ]);
    const same = "export const run = async (ctx, { ordr }) => ctx.complet(ordr);";
    expect(describeFaults(same)).toEqual([
      "1:34-38: Property 'ordr' does not exist on type 'Args'.",
      "1:49-56: Property 'complet' does not exist on type 'RunContext'. Did you mean 'complete'?",
    ]);
  });

  test("a step's arguments and result are known where run() calls it", () => {
    const source = `export const steps = {
  pay: defineStep({ retries: 2 }, async ({ to }, ctx) => ({ paid: await ctx.secrets.get(to) })),
  tell: ({ about }: { about: string }) => about.length,
};
export async function run(ctx, args) {
  const { piad } = await ctx.runStep("pay", { to: 5 });
  const told: string = await ctx.runStep("tell", { about: 1 });
  const many = await ctx.runStepMany("tell", [{ about: "a" }, {}]);
  const answer = await ctx.runStep("tell", { about: "a" }, { onError: "return" });
  return answer.ok ? answer.value : [many, piad];
}`;
    const inputs = { pay: { type: "object", properties: { to: { type: "string" } }, required: ["to"] } };
    expect(describeFaults(source, { step_inputs: inputs })).toEqual([
      "6:11-15: Property 'piad' does not exist on type '{ paid: string; }'.",
      "6:47-49: Type 'number' is not assignable to type 'string'.",
      "7:9-13: Type 'number' is not assignable to type 'string'.",
      "7:52-57: Type 'number' is not assignable to type 'string'.",
      expect.stringContaining("8:63-65: Property 'about' is missing"),
    ]);
  });

  test("a tool has its own context, and none of the globals of workflows", () => {
    const source = `export async function execute(args, { secrets, fetch, vars }) {
  console.log(await secrets.get(1));
  return (await fetch(args.order)).json();
}`;
    expect(describeFaults(source, { type: "tool" })).toEqual([
      "1:55-59: Property 'vars' does not exist on type 'ToolContext'.",
      "2:3-10: Cannot find name 'console'.",
      "2:33-34: Argument of type 'number' is not assignable to parameter of type 'string'.",
    ]);
  });

  test("plain JavaScript needs no types, and what the platform offers is known", () => {
    const source = `export const run = async (ctx, args) => {
  const found = {}, list = [];
  found.url = new URL("https://a.example").searchParams.get("q");
  list.push(new TextEncoder().encode(btoa(args.order)), crypto.randomUUID());
  setTimeout(() => console.log(found), 5);
  helper(1, 2);
  await ctx.sleepUntil(new Date(Date.UTC(2030, 0)));
  return { found, list, id: uuid("a"), error: new NonRetryableError("x") };
};
function helper(a, b) { return a[b]; }`;
    expect(describeFaults(source)).toEqual([]);
    expect(describeFaults("export const run = () => window.document;")).toEqual([
      "1:26-32: Cannot find name 'window'.",
    ]);
  });

  test("files cannot be reached, whatever is imported", () => {
    const faults = describeFaults(`/// <reference path="/etc/passwd" />
import text from "../../../../etc/passwd";
import { readFileSync } from "node:fs";
export const run = () => [text, readFileSync];`);
    expect(faults).toEqual([
      expect.stringContaining("Could not resolve the path '/etc/passwd'"),
      expect.stringContaining("Cannot find module '../../../../etc/passwd'"),
      expect.stringContaining("Cannot find module 'node:fs'"),
    ]);
  });

  test("a hundred faults are reported, and the name of a property cannot end a comment", () => {
    const wrong = Array.from({ length: 150 }, (_, n) => `const a${n}: string = ${n};`).join("\n");
    expect(check(`${wrong}\nexport const run = () => 1;`)).toHaveLength(100);
    const inputs = { a: { type: "object", properties: { "*/ x /*": { type: "string" } } } };
    const source = "export const steps = { a: (args) => args };\nexport const run = () => 1;";
    expect(describeFaults(source, { step_inputs: inputs })).toEqual([]);
  });
});

test.each<[unknown, string]>([
  [
    { type: "object", properties: { a: { type: "integer" }, "b-c": { type: ["string", "null"] } }, required: ["a"] },
    '{ "a": number; "b-c"?: string | null }',
  ],
  [{ type: "array", items: { enum: ["x", 1] } }, '("x" | 1)[]'],
  [{ type: "object", additionalProperties: { type: "boolean" } }, "Record<string, boolean>"],
  [{ properties: { a: { const: null } } }, '{ "a"?: null }'],
  [
    { type: "object", properties: { a: { anyOf: [{ type: "string" }] }, b: { $ref: "#/x" }, c: true } },
    '{ "a"?: any; "b"?: any; "c"?: any }',
  ],
  [{ type: "object" }, "any"],
  [{ type: "array" }, "(any)[]"],
])("the type of %j", (schema, type) => {
  expect(schemaType(schema)).toBe(type);
});

test("the type of a schema with thousands of values is not written", () => {
  expect(schemaType({ enum: Array.from({ length: 10_000 }, (_, n) => n) })).toBe("any");
});
