/** A cell of a tagged table, and the start of its text, which is not finite for an empty cell. */
export interface Cell {
  text: string;
  x: number;
}

/** The cells from left to right, if their tags are in neither direction: some programs write them in the order of typing. */
const inPlace = (row: Cell[]): Cell[] => {
  if (row.some(({ x }) => !Number.isFinite(x))) return row;
  const steps = row.slice(1).map((cell, at) => Math.sign(cell.x - row[at]!.x));
  return steps.includes(1) && steps.includes(-1) ? row.toSorted((a, b) => a.x - b.x) : row;
};

/** Aligns rows with spanning cells: each cell is assigned to the column of the fullest row that is nearest in x. */
export function alignRows(tagged: readonly Cell[][]): string[][] {
  const rows = tagged.map(inPlace);
  const fullest = rows.reduce((a, b) => (b.length > a.length ? b : a), []);
  return rows.map((row) => {
    if (row.length === fullest.length || row.some((cell) => cell.text === "")) return row.map((cell) => cell.text);
    const cells = fullest.map(() => "");
    let from = 0;
    for (const [index, cell] of row.entries()) {
      const last = fullest.length - (row.length - index);
      let best = from;
      for (let at = from; at <= last; at++) {
        if (Math.abs(fullest[at]!.x - cell.x) < Math.abs(fullest[best]!.x - cell.x)) best = at;
      }
      cells[best] = cell.text;
      from = best + 1;
    }
    return cells;
  });
}
