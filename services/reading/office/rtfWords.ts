import { endCell, endParagraph, startNote } from "./rtfBlocks.ts";
import { encodingOfCharset, encodingOfCodePage } from "./rtfCharset.ts";
import { newRow, type Reading } from "./rtfReading.ts";
import { changed, signs } from "./rtfState.ts";
import { addText, addUnicode } from "./rtfText.ts";

const describeFont = ({ state, fonts }: Reading, said: { encoding?: string; fixed?: boolean }): void => {
  if (state.place === "fonts") fonts.set(state.font, { ...fonts.get(state.font), ...said });
};

const addLine = ({ state, part }: Reading): void => {
  if (state.place === "text" && !state.hidden) part.runs.push({ text: "", line: true, code: part.runs.at(-1)?.code });
};

/** What words do that change more than the state. */
const acts: Record<string, (reading: Reading, value: number | null) => void> = {
  u: (reading, value) => addUnicode(reading, value ?? 0),
  par: endParagraph,
  sect: endParagraph,
  // A cell of a table inside a cell.
  nestcell: endParagraph,
  line: addLine,
  cell: endCell,
  row: ({ part, row }) => part.body.endRow(row.plans, row.header),
  trowd: (reading) => void (reading.row = newRow()),
  trhdr: ({ row }) => void (row.header = true),
  clmrg: ({ row }) => void (row.wide = true),
  clvmrg: ({ row }) => void (row.tall = true),
  cellx: ({ row }, value) => {
    row.plans.push({ edge: value ?? 0, wide: row.wide, tall: row.tall });
    [row.wide, row.tall] = [false, false];
  },
  field: (reading) => void (reading.state = { ...reading.state, field: { href: "" } }),
  footnote: startNote,
  ansicpg: (reading, value) => void (reading.encoding = encodingOfCodePage(value ?? 1252)),
  mac: (reading) => void (reading.encoding = "macintosh"),
  fcharset: (reading, value) => describeFont(reading, { encoding: encodingOfCharset(value ?? 0) }),
  fmodern: (reading) => describeFont(reading, { fixed: true }),
};

/** Does what a word says; unknown ones say nothing. */
export const obey = (reading: Reading, name: string, value: number | null): void => {
  const state = changed(reading.state, name, value);
  const sign = Object.hasOwn(signs, name) ? signs[name] : undefined;
  if (state) reading.state = state;
  else if (sign !== undefined) addText(reading, sign);
  else if (reading.state.place !== "skip" && Object.hasOwn(acts, name)) acts[name]?.(reading, value);
};
