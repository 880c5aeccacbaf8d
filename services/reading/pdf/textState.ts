import type { Matrix } from "./geometry.ts";
import { OPS } from "./operators.ts";
import type { TextStyle } from "./textFlow.ts";

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];
/** Width of a unit of most fonts' glyphs, for a size of 1. */
export const DEFAULT_UNIT = 0.001;

/** The state for the next text. */
export interface TextState {
  style: TextStyle;
  /** Width of a unit of the font's glyphs, for a size of 1. */
  unit: number;
  /** -1 for text of a negative size, which runs in the opposite direction. */
  sign: number;
  spacing: number;
  wordSpacing: number;
  stretch: number;
  leading: number;
  rise: number;
  /** From text space to the page's units, for the next character and for the line. */
  text: Matrix;
  line: Matrix;
}

export const INITIAL_TEXT_STATE: TextState = {
  style: { font: "", family: "", size: 0, widthSize: 0 },
  unit: DEFAULT_UNIT,
  sign: 1,
  spacing: 0,
  wordSpacing: 0,
  stretch: 1,
  leading: 0,
  rise: 0,
  text: IDENTITY,
  line: IDENTITY,
};

/** The matrix after a translation within it. */
export const translate = (m: Matrix, x: number, y: number): Matrix => [
  m[0],
  m[1],
  m[2],
  m[3],
  m[0] * x + m[2] * y + m[4],
  m[1] * x + m[3] * y + m[5],
];

const toNextLine = (state: TextState, x: number, y: number): Partial<TextState> => {
  const line = translate(state.line, x, y);
  return { text: line, line };
};

type Change = (state: TextState, args: number[]) => Partial<TextState>;

/** The state that text operators change. */
export const TEXT_OPERATORS = new Map<number, Change>([
  [OPS.beginText, () => ({ text: IDENTITY, line: IDENTITY })],
  [OPS.setCharSpacing, (_, [spacing]) => ({ spacing })],
  [OPS.setWordSpacing, (_, [wordSpacing]) => ({ wordSpacing })],
  [OPS.setHScale, (_, [percent]) => ({ stretch: percent! / 100 })],
  [OPS.setLeading, (_, [leading]) => ({ leading })],
  [OPS.setTextRise, (_, [rise]) => ({ rise })],
  [OPS.moveText, (state, [x, y]) => toNextLine(state, x!, y!)],
  [OPS.setLeadingMoveText, (state, [x, y]) => ({ ...toNextLine(state, x!, y!), leading: -y! })],
  [OPS.nextLine, (state) => toNextLine(state, 0, -state.leading)],
]);
