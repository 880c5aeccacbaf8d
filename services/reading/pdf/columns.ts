import { around, type Box, height, median, overlap, width } from "./geometry.ts";

/** Regions within regions: a page of a newspaper needs three. */
const DEEPEST = 6;
/** Narrower than this part of what it divides is no column. */
const NARROWEST = 0.15;
/** Of a column's width that its lines fill on average; a table's cells fill less. */
const FILLED = 0.5;

/** How high the boxes stand above each point of the region's width, in steps of 1 point. */
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

const sides = (boxes: readonly Box[], gutter: Gutter): { left: Box[]; right: Box[]; across: Box[] } => {
  const [left, right, across]: Box[][] = [[], [], []];
  const middle = (gutter.x0 + gutter.x1) / 2;
  for (const box of boxes) {
    if (box.x1 <= middle + 1) left!.push(box);
    else if (box.x0 >= middle - 1) right!.push(box);
    else across!.push(box);
  }
  return { left: left!, right: right!, across: across! };
};

/** Figures and formulas make short lines of their own, up to two in three. */
const USUAL = 0.7;

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)]!;

interface Side {
  rows: Set<number>;
  /** Of the side's width that a usual line fills. */
  filled: number;
  /** Usual length of a line, in heights of its letters. */
  long: number;
}

/** How a side's lines lie; its margins are those of most of its boxes. */
function sideOf(boxes: readonly Box[], size: number): Side {
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
  const usual = quantile([...lengths.values()], USUAL);
  return { rows: new Set(lengths.keys()), filled: usual / Math.max(1, right - left), long: usual / size };
}

/** Columns of prose: their lines are long and fill them; or they at least do not stand beside each other as a table's do. */
function areColumns(before: readonly Box[], after: readonly Box[], size: number): boolean {
  if (before.length < 4 || after.length < 4) return false;
  const [left, right] = [sideOf(before, size), sideOf(after, size)];
  const [fewer, more] = left.rows.size < right.rows.size ? [left, right] : [right, left];
  if (fewer.rows.size < 4 || left.long < 6 || right.long < 6) return false;
  const beside = [...fewer.rows].filter((row) => more.rows.has(row)).length / fewer.rows.size;
  const filled = Math.min(left.filled, right.filled);
  if (beside > 0.8) return filled >= FILLED + 0.1 && Math.min(left.long, right.long) >= 10;
  return filled >= FILLED || (filled >= 0.3 && beside < 0.5);
}

interface Valley extends Gutter {
  depth: number;
}

/** The stretches of the skyline that lie low between two heights, deepest first. */
function valleysOf(sky: Float64Array, x0: number, size: number): Valley[] {
  const steps = sky.length - 1;
  const highest = new Float64Array(steps + 2);
  for (let x = steps - 1; x >= 0; x--) highest[x] = Math.max(highest[x + 1]!, sky[x]!);
  const valleys: Valley[] = [];
  let left = 0;
  for (let x = 0; x < steps; x++) {
    let end = x;
    while (end < steps && Math.abs(sky[end]! - sky[x]!) <= size * 0.5) end++;
    const depth = Math.min(left, highest[end]!) - sky[x]!;
    if (depth >= size * 4 && end - x >= Math.max(3, size * 0.55)) valleys.push({ x0: x0 + x, x1: x0 + end, depth });
    left = Math.max(left, sky[x]!);
  }
  valleys.sort((a, b) => b.depth - a.depth || b.x1 - b.x0 - (a.x1 - a.x0));
  const apart: Valley[] = [];
  for (const valley of valleys) {
    if (apart.length >= 24) break;
    if (apart.every((other) => overlap(valley.x0, valley.x1, other.x0, other.x1) < 0)) apart.push(valley);
  }
  return apart;
}

/** The deepest valley of the skyline that has a column of prose on its left and on its right. */
function findGutter(boxes: readonly Box[], region: Box): Gutter | null {
  const size = median(boxes.map(height)) || 1;
  const valleys = valleysOf(skyline(boxes, region), region.x0, size);
  const narrow = NARROWEST * width(region);
  for (const valley of valleys) {
    if (valley.x0 - region.x0 < narrow || region.x1 - valley.x1 < narrow) continue;
    const deep = valleys.filter((other) => other.depth >= valley.depth * 0.5);
    const from = Math.max(region.x0, ...deep.filter((other) => other.x1 < valley.x0 - narrow).map((other) => other.x0));
    const to = Math.min(region.x1, ...deep.filter((other) => other.x0 > valley.x1 + narrow).map((other) => other.x1));
    const { left, right } = sides(boxes, valley);
    const before = left.filter((box) => box.x0 >= from - 1);
    const after = right.filter((box) => box.x1 <= to + 1);
    if (areColumns(before, after, size)) return valley;
  }
  return null;
}

/**
 * Groups of boxes in the order in which a person reads them: column by column, and around what spans columns.
 * Within a group the lines follow each other from top to bottom.
 */
export function readingOrder<B extends Box>(boxes: readonly B[], depth = 0): B[][] {
  if (boxes.length < 8 || depth >= DEEPEST) return boxes.length === 0 ? [] : [[...boxes]];
  const region = around(boxes);
  const gutter = findGutter(boxes, region);
  if (gutter === null) return [[...boxes]];
  const { left, right, across } = sides(boxes, gutter) as { left: B[]; right: B[]; across: B[] };
  const groups: B[][] = [];
  const bands = bandsOf(across);
  let [restLeft, restRight] = [left, right];
  for (const band of [...bands, null]) {
    const above = (box: B): boolean => band === null || (box.y0 + box.y1) / 2 < band.box.y0;
    const within = (box: B): boolean =>
      band !== null && overlap(box.y0, box.y1, band.box.y0, band.box.y1) > 0.5 * height(box);
    groups.push(
      ...readingOrder(restLeft.filter(above), depth + 1),
      ...readingOrder(restRight.filter(above), depth + 1),
    );
    const beside = [...restLeft, ...restRight].filter((box) => !above(box) && within(box));
    if (band !== null) groups.push(...readingOrder([...band.boxes, ...beside], depth + 1));
    const taken = new Set<B>(beside);
    restLeft = restLeft.filter((box) => !above(box) && !taken.has(box));
    restRight = restRight.filter((box) => !above(box) && !taken.has(box));
  }
  return groups;
}

/** What spans the gutter, put together where it follows without a gap. */
function bandsOf<B extends Box>(across: readonly B[]): { box: Box; boxes: B[] }[] {
  const bands: { box: Box; boxes: B[] }[] = [];
  for (const one of across.toSorted((a, b) => a.y0 - b.y0)) {
    const last = bands.at(-1);
    if (last !== undefined && one.y0 - last.box.y1 < height(one) * 1.2) {
      last.boxes.push(one);
      last.box = around([last.box, one]);
    } else bands.push({ box: { x0: one.x0, y0: one.y0, x1: one.x1, y1: one.y1 }, boxes: [one] });
  }
  return bands;
}
