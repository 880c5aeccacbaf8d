/** Page coordinates in points: x to the right, y down from the upper edge. */
export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export const width = (box: Box): number => box.x1 - box.x0;
export const height = (box: Box): number => box.y1 - box.y0;

/** The length that two intervals share; negative: the gap between them. */
export const overlap = (a0: number, a1: number, b0: number, b1: number): number => Math.min(a1, b1) - Math.max(a0, b0);

export const boundingBox = (boxes: readonly Box[]): Box => {
  const all = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  for (const box of boxes) {
    all.x0 = Math.min(all.x0, box.x0);
    all.y0 = Math.min(all.y0, box.y0);
    all.x1 = Math.max(all.x1, box.x1);
    all.y1 = Math.max(all.y1, box.y1);
  }
  return all;
};

export const median = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

/** A PDF transform `[a, b, c, d, e, f]`. */
export type Matrix = readonly [number, number, number, number, number, number];

export const multiply = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[2] * n[1],
  m[1] * n[0] + m[3] * n[1],
  m[0] * n[2] + m[2] * n[3],
  m[1] * n[2] + m[3] * n[3],
  m[0] * n[4] + m[2] * n[5] + m[4],
  m[1] * n[4] + m[3] * n[5] + m[5],
];

export const transformPoint = (m: Matrix, x: number, y: number): [number, number] => [
  m[0] * x + m[2] * y + m[4],
  m[1] * x + m[3] * y + m[5],
];

/** The box around a transform's unit square. */
export function unitBox(m: Matrix): Box {
  const corners = [transformPoint(m, 0, 0), transformPoint(m, 1, 0), transformPoint(m, 0, 1), transformPoint(m, 1, 1)];
  return boundingBox(corners.map(([x, y]) => ({ x0: x, y0: y, x1: x, y1: y })));
}

/** Whether the middle of the inner box is in the outer one. */
export const isMiddleIn = (inner: Box, outer: Box): boolean => {
  const [x, y] = [(inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2];
  return x >= outer.x0 && x <= outer.x1 && y >= outer.y0 && y <= outer.y1;
};
