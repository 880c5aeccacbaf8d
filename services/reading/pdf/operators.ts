import { getResolvedPDFJS } from "unpdf";
import { type Matrix, multiply } from "./geometry.ts";
import type { PdfPage } from "./openPdf.ts";

export const { OPS } = await getResolvedPDFJS();

/**
 * Visits the operators of a page with their arguments and the matrix that holds for them, until `visit` returns false. `matrix`
 * converts from PDF units to page coordinates.
 */
export async function visitOperators(
  page: PdfPage,
  matrix: Matrix,
  visit: (operator: number, args: unknown[], current: Matrix) => boolean,
): Promise<void> {
  const { fnArray, argsArray } = await page.getOperatorList();
  const saved: Matrix[] = [];
  const asMatrix = (numbers: unknown): Matrix => Array.from(numbers as ArrayLike<number>) as unknown as Matrix;
  let current = matrix;
  for (const [index, operator] of fnArray.entries()) {
    const args = (argsArray[index] ?? []) as unknown[];
    if (operator === OPS.save) saved.push(current);
    else if (operator === OPS.restore) current = saved.pop() ?? matrix;
    else if (operator === OPS.transform) current = multiply(current, args as unknown as Matrix);
    else if (operator === OPS.paintFormXObjectBegin) {
      saved.push(current);
      if (args[0] != null) current = multiply(current, asMatrix(args[0]));
    } else if (operator === OPS.paintFormXObjectEnd || operator === OPS.endAnnotation) current = saved.pop() ?? matrix;
    else if (operator === OPS.beginAnnotation) {
      // its id and its box, then how its drawing is placed on the page
      saved.push(current);
      current = multiply(multiply(matrix, asMatrix(args[2])), asMatrix(args[3]));
    }
    if (!visit(operator, args, current)) break;
  }
}
