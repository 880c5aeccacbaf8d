import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { FormSchema } from "../api/types.ts";
import { SchemaFields } from "./SchemaField.tsx";

const draw = (field: FormSchema, required: string[] = []) =>
  renderToStaticMarkup(createElement(SchemaFields, { schema: { properties: { what: field }, required } }));
const chosen = (html: string) => /<option value="([^"]*)"[^>]* selected=""/.exec(html)?.[1];

test("a required choice starts without a selection", () => {
  const html = draw({ enum: ["reject", "pay"] }, ["what"]);
  expect(html).toMatch(/<select[^>]* required=""/);
  expect(html).toContain('<option value="" disabled="" selected="">Choose one</option>');
  expect(chosen(draw({ enum: ["reject", "pay"], default: "pay" }, ["what"]))).toBe("pay");
  expect(draw({ enum: ["reject", "pay"] })).toContain('<option value="" selected="">–</option>');
});

test("a list field shows its purpose and that it expects JSON", () => {
  expect(draw({ type: "array", description: "Whom to tell" })).toContain("Whom to tell, as JSON");
  expect(draw({ type: "object" })).toContain(">as JSON<");
  expect(draw({ type: "string", description: "Why" })).toContain(">Why<");
});
