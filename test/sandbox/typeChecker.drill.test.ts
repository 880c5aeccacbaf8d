import { afterAll, expect, test } from "vitest";
import type { TypedScript } from "#http/base/typeChecker.ts";
import { openTypeChecker } from "#infra/sandbox/types/openTypeChecker.ts";

/* Types are checked in processes with limits; infra/sandbox/types/findTypeFaults.test.ts has what is found. */

const checker = openTypeChecker();
afterAll(() => checker.close());

const script = (source: string): TypedScript => ({
  type: "workflow",
  source,
  has_types: true,
  parameters: {},
  step_inputs: {},
});
const WRONG = script("export const run = (ctx) => ctx.slep(1);");
const ONE_FAULT = { errors: [{ code: 2551, line: 1, column: 33, end_line: 1, end_column: 37 }], unchecked: null };

/** Types that double at each level. */
const ENDLESS = `type Twice<T extends any[]> = [...T, ...T];
type Grow<N extends any[], T extends any[] = [1]> = N extends [any, ...infer R] ? Grow<R, Twice<T>> : T["length"];
${Array.from({ length: 4_000 }, (_, n) => `export const x${n}: Grow<[${"1,".repeat(12)}${n}]> = "${n}";`).join("\n")}
type Digits = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
type All = \`\${Digits}\${Digits}\${Digits}\${Digits}\`;
type Pairs<A, B> = A extends string ? B extends string ? \`\${A}\${B}\` extends \`\${infer X}9\` ? X : never : never : never;
export const run = (): Pairs<All, All> => "a";`;

test("types that never finish are given up, and the next check gets another process", async () => {
  const [endless, other] = await Promise.all([
    checker.checkTypes("a", script(ENDLESS)),
    checker.checkTypes("b", WRONG),
  ]);
  expect(endless).toEqual({ errors: [], unchecked: expect.stringContaining("take too long, or too much memory") });
  expect(other).toMatchObject(ONE_FAULT);
  expect(await checker.checkTypes("a", WRONG)).toMatchObject(ONE_FAULT);
});

test("code that nests deeper than the compiler can follow is not checked and crashes nothing", async () => {
  const deep = script(`export const run = () => ${"[".repeat(60_000)}${"]".repeat(60_000)};`);
  expect((await checker.checkTypes("a", deep)).unchecked).toEqual(expect.any(String));
  expect(await checker.checkTypes("a", WRONG)).toMatchObject(ONE_FAULT);
});

test("an organization that sends many checks at once has some refused, and another organization gets its check", async () => {
  const many = Array.from({ length: 20 }, () => checker.checkTypes("a", WRONG));
  expect(await checker.checkTypes("b", WRONG)).toMatchObject(ONE_FAULT);
  const answers = await Promise.all(many);
  expect(answers.filter(({ errors }) => errors.length === 1).length).toBeGreaterThanOrEqual(9);
  expect(answers.filter(({ unchecked }) => unchecked?.startsWith("Many sources"))).toHaveLength(11);
});
