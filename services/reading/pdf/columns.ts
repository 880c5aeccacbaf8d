import { boundingBox, type Box, height, median, overlap, width } from "./geometry.ts";
import { type Band, isWithin, tableBand, type TextBox } from "./tableBands.ts";

/** Maximum nesting of regions; a newspaper page needs three. */
const MAX_DEPTH = 6;
/** Minimum width of a column, as a share of the region it divides. */
const MIN_WIDTH = 0.15;
/** Minimum share of a column's width that its lines fill on average; a table's cells fill less. */
const MIN_FILL = 0.5;

/** The total height of the boxes at each x of the region, in steps of 1 point. */
function skyline(boxes: readonly Box[], region: Box): Float64Array {
  const steps = Math.max(1, Math.min(20_000, Math.ceil(width(region)) + 1));
  const sky = new Float64Array(steps + 1);
  for (const box of boxes) {
    const from = Math.max(0, Math.floor(box.x0 - region.x0 + 0.5));
    const to = Math.min(steps, Math.max(from + 1, Math.ceil(box.x1 - region.x0 - 0.5)));
    sky[from]! += height(box);
    sky[to]! -= height(box);
  }
  for (let x = 1; x <= steps; x++) sky[x]! += sky[x - 1]!;
  return sky;
}

interface Gutter {
  x0: number;
  x1: number;
}

const splitAt = <B extends Box>(
  boxes: readonly B[],
  gutter: Gutter,
  tables: readonly Band[],
): { left: B[]; right: B[]; across: B[] } => {
  const [left, right, across]: B[][] = [[], [], []];
  const middle = (gutter.x0 + gutter.x1) / 2;
  for (const box of boxes) {
    if (isWithin(box, tables)) across!.push(box);
    else if (box.x1 <= middle + 1) left!.push(box);
    else if (box.x0 >= middle - 1) right!.push(box);
    else across!.push(box);
  }
  return { left: left!, right: right!, across: across! };
};

/** The quantile of line lengths that counts as usual. Up to two in three lines may be short, because of figures and formulas. */
const USUAL_QUANTILE = 0.7;

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)]!;

interface Side {
  rows: Set<number>;
  /** Share of the side's width that a usual line fills. */
  filled: number;
  /** Usual length of a line, as a multiple of its text size. */
  long: number;
}

/** Measures the lines on one side of a gutter. Its margins are the margins of most of its boxes. */
function measureSide(boxes: readonly Box[], size: number): Side {
  const lengths = new Map<number, number>();
  for (const box of boxes) {
    const row = Math.round(box.y1 / (size * 0.5));
    lengths.set(row, (lengths.get(row) ?? 0) + width(box));
  }
  const left = quantile(
    boxes.map((box) => box.x0),
    0.1,
  );
  const right = quantile(
    boxes.map((box) => box.x1),
    0.95,
  );
  const usual = quantile([...lengths.values()], USUAL_QUANTILE);
  return { rows: new Set(lengths.keys()), filled: usual / Math.max(1, right - left), long: usual / size };
}

/** Whether both sides are prose: their lines are long and fill the side, or at least do not share rows like a table's cells. */
function areColumns(before: readonly Box[], after: readonly Box[], size: number): boolean {
  if (before.length < 4 || after.length < 4) return false;
  const [left, right] = [measureSide(before, size), measureSide(after, size)];
  const [fewer, more] = left.rows.size < right.rows.size ? [left, right] : [right, left];
  if (fewer.rows.size < 4 || left.long < 6 || right.long < 6) return false;
  const sharedRows = [...fewer.rows].filter((row) => more.rows.has(row)).length / fewer.rows.size;
  const filled = Math.min(left.filled, right.filled);
  if (sharedRows > 0.8) return filled >= MIN_FILL + 0.1 && Math.min(left.long, right.long) >= 10;
  return filled >= MIN_FILL || (filled >= 0.3 && sharedRows < 0.5);
}

interface Valley extends Gutter {
  depth: number;
}

/** The low stretches of the skyline between two higher ones, deepest first. */
function findValleys(sky: Float64Array, x0: number, size: number): Valley[] {
  const steps = sky.length - 1;
  const highest = new Float64Array(steps + 2);
  for (let x = steps - 1; x >= 0; x--) highest[x] = Math.max(highest[x + 1]!, sky[x]!);
  const valleys: Valley[] = [];
  let left = 0;
  for (let x = 0; x < steps; left = Math.max(left, sky[x]!), x++) {
    // most places are no valley, so the slow search for the end of a level is skipped there
    if (Math.min(left, highest[x]!) - sky[x]! < size * 4) continue;
    let end = x;
    while (end < steps && Math.abs(sky[end]! - sky[x]!) <= size * 0.5) end++;
    const depth = Math.min(left, highest[end]!) - sky[x]!;
    if (depth >= size * 4 && end - x >= Math.max(3, size * 0.55)) valleys.push({ x0: x0 + x, x1: x0 + end, depth });
  }
  valleys.sort((a, b) => b.depth - a.depth || b.x1 - b.x0 - (a.x1 - a.x0));
  const apart: Valley[] = [];
  for (const valley of valleys) {
    if (apart.length >= 24) break;
    if (apart.every((other) => overlap(valley.x0, valley.x1, other.x0, other.x1) < 0)) apart.push(valley);
  }
  return apart;
}

/** The deepest valley of the skyline with prose on both sides, and the tables that other valleys divide; null if there is none. */
function findGutter(boxes: readonly TextBox[], region: Box): { gutter: Gutter; tables: Band[] } | null {
  const size = median(boxes.map(height)) || 1;
  const valleys = findValleys(skyline(boxes, region), region.x0, size);
  const narrow = MIN_WIDTH * width(region);
  const tables: Band[] = [];
  for (const valley of valleys) {
    if (valley.x0 - region.x0 < narrow || region.x1 - valley.x1 < narrow) continue;
    const deep = valleys.filter((other) => other.depth >= valley.depth * 0.5);
    const from = Math.max(region.x0, ...deep.filter((other) => other.x1 < valley.x0 - narrow).map((other) => other.x0));
    const to = Math.min(region.x1, ...deep.filter((other) => other.x0 > valley.x1 + narrow).map((other) => other.x1));
    const { left, right } = splitAt(boxes, valley, tables);
    const before = left.filter((box) => box.x0 >= from - 1);
    const after = right.filter((box) => box.x1 <= to + 1);
    if (!areColumns(before, after, size)) continue;
    const table = tableBand(left, right);
    if (table === null) return { gutter: valley, tables };
    tables.push(table);
  }
  return null;
}

/** Height of a heading, as a multiple of the text's. */
const MIN_HEAD = 1.15;
/** Maximum distance between the ends of two columns: less than two lines, as a multiple of the text's height. */
const MAX_UNBALANCED = 2;

/**
 * Headings on the left that begin a band of columns. Beside such a heading, the right side is blank. Above it, both sides end at most one
 * line apart. Below it, both sides start on one line, or text spans both. Ordinary columns of a page do not satisfy this.
 */
function findBandHeads<B extends TextBox>({ left, right, across }: Record<"left" | "right" | "across", B[]>): B[] {
  const size = median([...left, ...right].map(height)) || 1;
  const last = (boxes: readonly B[], { y0 }: B): number =>
    Math.max(...boxes.filter((box) => box.y1 <= y0 + 1).map((box) => box.y1));
  const next = (boxes: readonly B[], { y1 }: B): number =>
    Math.min(...boxes.filter((box) => box.y0 >= y1 - 1 && height(box) < size * MIN_HEAD).map((box) => box.y0));
  return left.filter((head) => {
    const isBlank = right.every((box) => box.y1 <= head.y0 + 1 || box.y0 >= head.y1 - 1);
    const isBalanced = Math.abs(last(left, head) - last(right, head)) < size * MAX_UNBALANCED;
    if (height(head) < size * MIN_HEAD || !isBlank || !isBalanced) return false;
    const [below, beside] = [next(left, head), next(right, head)];
    return next(across, head) <= Math.min(below, beside) + 1 || Math.abs(below - beside) < size * 0.3;
  });
}

/**
 * Groups of boxes in reading order: column by column, above and below the boxes that span them. Within a group the lines are ordered
 * from top to bottom.
 */
export function readingOrder<B extends TextBox>(boxes: readonly B[], depth = 0): B[][] {
  if (boxes.length < 8 || depth >= MAX_DEPTH) return boxes.length === 0 ? [] : [[...boxes]];
  const region = boundingBox(boxes);
  const found = findGutter(boxes, region);
  if (found === null) return [[...boxes]];
  const parts = splitAt(boxes, found.gutter, found.tables);
  const heads = new Set(findBandHeads(parts));
  const [left, right] = [parts.left.filter((box) => !heads.has(box)), parts.right];
  const across = [...parts.across, ...heads];
  const groups: B[][] = [];
  const bands = findBands(across);
  let [restLeft, restRight] = [left, right];
  for (const band of [...bands, null]) {
    const above = (box: B): boolean => band === null || (box.y0 + box.y1) / 2 < band.box.y0;
    const within = (box: B): boolean =>
      band !== null && overlap(box.y0, box.y1, band.box.y0, band.box.y1) > 0.5 * height(box);
    groups.push(
      ...readingOrder(restLeft.filter(above), depth + 1),
      ...readingOrder(restRight.filter(above), depth + 1),
    );
    const inBand = [...restLeft, ...restRight].filter((box) => !above(box) && within(box));
    if (band !== null) groups.push(...readingOrder([...band.boxes, ...inBand], depth + 1));
    const used = new Set<B>(inBand);
    restLeft = restLeft.filter((box) => !above(box) && !used.has(box));
    restRight = restRight.filter((box) => !above(box) && !used.has(box));
  }
  return groups;
}

/** Boxes that span the gutter, merged if they follow without a gap. */
function findBands<B extends Box>(across: readonly B[]): { box: Box; boxes: B[] }[] {
  const bands: { box: Box; boxes: B[] }[] = [];
  for (const one of across.toSorted((a, b) => a.y0 - b.y0)) {
    const last = bands.at(-1);
    if (last !== undefined && one.y0 - last.box.y1 < height(one) * 1.2) {
      last.boxes.push(one);
      last.box = boundingBox([last.box, one]);
    } else bands.push({ box: { x0: one.x0, y0: one.y0, x1: one.x1, y1: one.y1 }, boxes: [one] });
  }
  return bands;
}
