import { expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { openDesk } from "./desk.ts";

/* POST /api/definitions/check-types: what an editor marks, and a save takes. */

const desk = await openDesk();

const checkTypes = async (type: string, source: string) =>
  (await desk.person("POST", "/definitions/check-types", { type, source })).body;

test("check-types reports a mismatch with the schema of meta and its position, and the source can still be saved", async () => {
  const source = `export const meta = { parameters: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] } };
export const execute = (args) => args.skuu;
`;
  expect(await checkTypes("tool", source)).toEqual({
    errors: [
      {
        code: 2551,
        message: "Property 'skuu' does not exist on type 'Args'. Did you mean 'sku'?",
        line: 2,
        column: 39,
        end_line: 2,
        end_column: 43,
      },
    ],
    unchecked: null,
  });
  expect((await desk.define(source, { name: "misspelled" })).status).toBe(201);
});

test("the schema of a step's settings is the type of its arguments", async () => {
  const source = `export const steps = {
  pay: defineStep({ input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] } }, (args) => args.to),
};
export const run = (ctx) => ctx.runStep("pay", { to: 5 });`;
  expect(await checkTypes("workflow", source)).toMatchObject({ errors: [{ code: 2322, line: 4, column: 50 }] });
});

test("a source with an error is not checked, and the check says so", async () => {
  const { errors, unchecked } = await checkTypes("tool", "export const = 1");
  expect(errors).toEqual([]);
  expect(unchecked).toContain("would refuse the source");
  expectRefusal(
    await desk.person("POST", "/definitions/check-types", { type: "tool", source: "x".repeat(300_000) }),
    400,
    undefined,
    "source",
  );
});
