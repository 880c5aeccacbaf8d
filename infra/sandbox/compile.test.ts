import { expect, test } from "vitest";
import { ScriptError } from "#services/scripting/runner.ts";
import { compile } from "./compile.ts";

const refusalPosition = (source: string) => {
  try {
    compile(source);
  } catch (error) {
    if (error instanceof ScriptError) return [error.line, error.column];
  }
  return expect.unreachable("it was compiled");
};

test("types are stripped, and every line keeps its position", () => {
  const source = "interface A { b: number }\nexport const meta: A = { b: 1 };\n  export let c = meta as A;";
  const { js, meta_at } = compile(source);
  expect(js.split("\n").map((line) => line.length)).toEqual(source.split("\n").map((line) => line.length));
  expect(js).not.toMatch(/interface|as A|: A/);
  expect(meta_at).toEqual([2, 14]);
});

test("the position of the export of meta is found", () => {
  expect(compile("const a = 1;\nexport { a as meta };").meta_at).toEqual([2, 15]);
  expect(compile("export const a = 1, meta = 2;").meta_at).toEqual([1, 21]);
  expect(compile("const meta = 1;").meta_at).toBeNull();
});

test.each([
  ["an enum", "export enum Kind { A }", 1, 8],
  ["a namespace over some lines", "let a;\n  namespace B {\n    export const b = 1;\n  }", 2, 3],
  ["a parameter property", "class A { constructor(private b: number) {} }", 1, 31],
  ["an unexpected end", "let a;\nfunction b( {", 2, 1],
  ["a missing type", "let a = 1;\nlet b: = 5;", 2, 8],
  ["a name that is declared twice", "let a;\n let a;", 2, 6],
  ["an await in a function", "function f() {\n  await 1;\n}", 2, 3],
])("a script with %s is refused with its position", (_, source, line, column) => {
  expect(refusalPosition(source)).toEqual([line, column]);
});
