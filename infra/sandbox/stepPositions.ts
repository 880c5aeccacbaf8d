import { getLineInfo, type Program } from "acorn";
import { declaresSteps } from "./signalCalls.ts";
import { walkSyntax } from "./walkSyntax.ts";

/** Line and column, from 1, of each step in `export const steps = {…}`. */
export function stepPositions(program: Program, js: string): Record<string, [line: number, column: number]> {
  const positions: [string, [number, number]][] = [];
  walkSyntax(program, (node, ancestors) => {
    if (node.type !== "Property" || node.computed || !declaresSteps(ancestors.at(-2) ?? node)) return;
    const { key } = node;
    const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : undefined;
    const { line, column } = getLineInfo(js, key.start);
    if (name !== undefined) positions.push([name, [line, column + 1]]);
  });
  return Object.fromEntries(positions);
}
