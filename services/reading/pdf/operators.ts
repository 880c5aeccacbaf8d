import { getResolvedPDFJS } from "unpdf";
import { type Matrix, multiply } from "./geometry.ts";
import type { Layers } from "./layers.ts";
import type { PdfPage } from "./openPdf.ts";

export const { OPS } = await getResolvedPDFJS();

const NO_ARGUMENTS: readonly unknown[] = [];

export interface PageView {
  /** Converts from PDF units to page coordinates. */
  matrix: Matrix;
  layers: Layers;
}

/**
 * Visits the operators of a page with their arguments, the current matrix, and whether they are in a layer that is switched off,
 * until `visit` returns false.
 */
export async function visitOperators(
  page: PdfPage,
  { matrix, layers }: PageView,
  visit: (operator: number, args: unknown[], current: Matrix, isHidden: boolean) => boolean,
): Promise<void> {
  const { fnArray, argsArray } = await page.getOperatorList();
  const saved: Matrix[] = [];
  /** Whether the marked content around the operator is hidden, by itself or by an outer one. */
  const hidden: boolean[] = [];
  const asMatrix = (numbers: unknown): Matrix => Array.from(numbers as ArrayLike<number>) as unknown as Matrix;
  let current = matrix;
  for (let index = 0; index < fnArray.length; index++) {
    const operator = fnArray[index]!;
    const args = (argsArray[index] ?? NO_ARGUMENTS) as unknown[];
    const isHidden = hidden.at(-1) ?? false;
    if (operator === OPS.save) saved.push(current);
    else if (operator === OPS.restore) current = saved.pop() ?? matrix;
    else if (operator === OPS.transform) current = multiply(current, args as unknown as Matrix);
    else if (operator === OPS.paintFormXObjectBegin) {
      saved.push(current);
      if (args[0] != null) current = multiply(current, asMatrix(args[0]));
    } else if (operator === OPS.paintFormXObjectEnd || operator === OPS.endAnnotation) current = saved.pop() ?? matrix;
    else if (operator === OPS.beginAnnotation) {
      // its id and its box, then the matrices that place its drawing on the page
      saved.push(current);
      current = multiply(multiply(matrix, asMatrix(args[2])), asMatrix(args[3]));
    } else if (operator === OPS.beginMarkedContent) hidden.push(isHidden);
    else if (operator === OPS.beginMarkedContentProps)
      hidden.push(isHidden || (args[0] === "OC" && !layers.isVisible(args[1])));
    else if (operator === OPS.endMarkedContent) hidden.pop();
    if (!visit(operator, args, current, isHidden)) break;
  }
}
