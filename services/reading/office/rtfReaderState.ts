import type { Element } from "hast";
import type { CellPlan } from "./edgeTable.ts";
import type { OpenMath } from "./rtfMath.ts";
import type { TextRun } from "./paragraphs.ts";
import { type BlockCollector, createBlockCollector } from "./blockCollector.ts";
import { INITIAL_STATE, type State } from "./rtfState.ts";

/** The text of the document, of a note or of a box. */
export interface TextPart {
  body: BlockCollector;
  /** The runs of the open paragraph. */
  runs: TextRun[];
  label: string;
  /** Undefined for the document and for boxes. */
  note?: Element;
}

export interface Group {
  state: State;
  /** The text that a note or a box in this group interrupts. */
  outer?: TextPart;
  /** The shape around the shape or picture of this group. */
  outerShape?: Shape;
}

/** A shape, a group of shapes, or a picture. */
export interface Shape {
  /** The property that is being described, and its value if that is a text. */
  property: string;
  text: string;
  description: string;
  /** Whether it has text of its own, so that its description is left out. */
  hasText: boolean;
  pictures: number;
}

/** The description of a table row, which precedes its cells. */
export interface RowPlan {
  plans: CellPlan[];
  header: boolean;
  /** The merge state of the next cell. */
  mergesLeft: boolean;
  mergesUp: boolean;
}

export interface RtfFont {
  encoding?: string;
  fixed?: boolean;
  /** Whether its characters have a meaning only in this font. */
  isSigns?: boolean;
  /** The mapping of its symbols, if known. */
  signs?: (text: string) => string;
}

/** The state of reading an RTF file. */
export interface RtfReader {
  state: State;
  groups: Group[];
  part: TextPart;
  row: RowPlan;
  /** The description of the row around the current table. */
  outerRow: RowPlan;
  notes: Element[];
  /** The encoding of fonts without a charset. */
  encoding: string;
  fonts: Map<number, RtfFont>;
  /** Names of styles: `s1` for paragraphs, `cs1` for characters. */
  styles: Map<string, string>;
  /** The innermost open shape. */
  shape: Shape;
  /** Number of pictures without a description. */
  pictures: number;
  /** Bytes to decode together: a character may have several, each as text or as `\'hh`. */
  pendingBytes: string;
  /** Fallback characters still to skip. */
  skipCount: number;
  /** Number of symbols of unknown fonts. */
  unknownSigns: number;
  /** Number of hidden passages. */
  hiddenTexts: number;
  /** Whether the last text was hidden. */
  isInHidden: boolean;
  /** The open parts of an equation. */
  math: OpenMath[];
  /** The first half of a surrogate pair, which comes as two words. */
  highSurrogate: string;
}

export const newPart = (note?: Element): TextPart => ({ body: createBlockCollector(), runs: [], label: "", note });

export const newRow = (): RowPlan => ({ plans: [], header: false, mergesLeft: false, mergesUp: false });

export const newShape = (): Shape => ({ property: "", text: "", description: "", hasText: false, pictures: 0 });

export const newReader = (): RtfReader => ({
  state: INITIAL_STATE,
  groups: [],
  part: newPart(),
  row: newRow(),
  outerRow: newRow(),
  notes: [],
  encoding: "windows-1252",
  fonts: new Map(),
  styles: new Map(),
  shape: newShape(),
  pictures: 0,
  pendingBytes: "",
  skipCount: 0,
  unknownSigns: 0,
  hiddenTexts: 0,
  isInHidden: false,
  math: [],
  highSurrogate: "",
});
