import {
  endCell,
  endNestedCell,
  endNestedRow,
  endParagraph,
  endRow,
  startBox,
  startNestedRow,
  startNote,
  startPicture,
  startProperty,
  startShape,
} from "./rtfBlocks.ts";
import { charsetEncoding, codePageEncoding } from "./rtfCharset.ts";
import { newRow, type RtfFont, type RtfReader } from "./rtfReaderState.ts";
import { applyToState, type State, SYMBOLS } from "./rtfState.ts";
import { addText, addUnicode } from "./rtfText.ts";

const describeFont = ({ state, fonts }: RtfReader, details: RtfFont): void => {
  if (state.destination === "fonts") fonts.set(state.font, { ...fonts.get(state.font), ...details });
};

const addLine = ({ state, part }: RtfReader): void => {
  if (state.destination === "text" && !state.hidden && !state.deleted)
    part.runs.push({ text: "", isLineBreak: true, code: part.runs.at(-1)?.code });
};

/** The charset of symbol fonts. */
const SIGNS = 2;

/** Words that change more than the state. */
const ACTIONS: Record<string, (reading: RtfReader, value: number | null) => void> = {
  u: (reading, value) => addUnicode(reading, value ?? 0),
  par: endParagraph,
  sect: endParagraph,
  // the line end after a backslash, as programs of macOS write
  "\n": endParagraph,
  "\r": endParagraph,
  nestcell: endNestedCell,
  nesttableprops: startNestedRow,
  nestrow: endNestedRow,
  line: addLine,
  lbr: addLine,
  page: addLine,
  column: addLine,
  cell: endCell,
  row: endRow,
  trowd: (reading) => void (reading.row = newRow()),
  trhdr: ({ row }) => void (row.header = true),
  clmrg: ({ row }) => void (row.mergesLeft = true),
  clvmrg: ({ row }) => void (row.mergesUp = true),
  cellx: ({ row }, value) => {
    row.plans.push({ edge: value ?? 0, mergesLeft: row.mergesLeft, mergesUp: row.mergesUp });
    [row.mergesLeft, row.mergesUp] = [false, false];
  },
  field: (reading) => void (reading.state = { ...reading.state, field: { href: "" } }),
  footnote: startNote,
  pict: startPicture,
  shpinst: startShape,
  sn: startProperty,
  shptxt: startBox,
  dptxbxtext: startBox,
  ansicpg: (reading, value) => void (reading.encoding = codePageEncoding(value ?? 1252)),
  mac: (reading) => void (reading.encoding = "macintosh"),
  fcharset: (reading, value) =>
    describeFont(reading, { encoding: charsetEncoding(value ?? 0), isSigns: value === SIGNS }),
  fmodern: (reading) => describeFont(reading, { fixed: true }),
};

const isSkipped = ({ destination }: State): boolean => destination === "skip" || destination === "copy";

/** Applies a control word; unknown words are ignored. */
export const applyControlWord = (reading: RtfReader, name: string, value: number | null): void => {
  const state = applyToState(reading.state, name, value);
  const symbol = Object.hasOwn(SYMBOLS, name) ? SYMBOLS[name] : undefined;
  if (state) reading.state = state;
  else if (symbol !== undefined) addText(reading, symbol);
  else if (!isSkipped(reading.state) && Object.hasOwn(ACTIONS, name)) ACTIONS[name]?.(reading, value);
};
