import { expect, test } from "vitest";
import { readPdf } from "./readPdf.ts";
import { writePdf, objectsOf, show } from "./testing/build.ts";

interface Cell {
  x: number;
  text: string;
}

/** A page with a tagged table, whose cells are tagged in the order given and stand where `x` says. */
const tablePdf = (rows: readonly (readonly Cell[])[]): Buffer => {
  const cells = rows.flatMap((row, r) => row.map((cell) => ({ ...cell, y: 700 - 20 * r })));
  const shown = cells.map(({ x, y, text }, n) => `/TD <</MCID ${n}>> BDC ${show(x, y, 10, text)} EMC`);
  const objects = objectsOf([shown.join(" ")]);
  objects[0] = "<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>";
  objects[3] = String(objects[3]).replace("/Contents", "/StructParents 0/Contents");
  const firstRow = 8;
  const firstCell = firstRow + rows.length;
  const reference = (n: number): string => `${n} 0 R`;
  const rowOf = rows.flatMap((row, r) => row.map(() => r));
  const rowTags = rows.map((_, r) => {
    const kids = rowOf.flatMap((of, n) => (of === r ? [reference(firstCell + n)] : []));
    return `<</Type/StructElem/S/TR/P 7 0 R/K[${kids.join(" ")}]>>`;
  });
  const cellTags = rowOf.map((r, n) => `<</Type/StructElem/S/TD/P ${firstRow + r} 0 R/Pg 4 0 R/K[${n}]>>`);
  const parents = rowOf.map((_, n) => reference(firstCell + n)).join(" ");
  return writePdf([
    ...objects,
    `<</Type/StructTreeRoot/K[7 0 R]/ParentTree<</Nums[0[${parents}]]>>>>`,
    `<</Type/StructElem/S/Table/P 6 0 R/K[${rows.map((_, r) => reference(firstRow + r)).join(" ")}]>>`,
    ...rowTags,
    ...cellTags,
  ]);
};

test("cells of a row with unordered tags are read in their visual order", async () => {
  const at = (x: number, text: string): Cell => ({ x, text });
  const head = [at(72, "City"), at(400, "Source"), at(200, "This week"), at(300, "Last week")];
  const row = [at(72, "Iowa"), at(200, "1.35"), at(300, "1.38"), at(400, "Reported")];
  const gap = [at(72, "Ohio"), at(200, ""), at(300, "1.40"), at(400, "Reported")];
  expect(await readPdf(tablePdf([head, row, gap]))).toEqual([
    "| City | This week | Last week | Source |\n| --- | --- | --- | --- |\n| Iowa | 1.35 | 1.38 | Reported |\n| Ohio |  | 1.40 | Reported |",
  ]);
});
