import type { Element } from "hast";
import type { CellPlan } from "./edgeTable.ts";
import type { Run } from "./flow.ts";
import { type FlowBody, flowBody } from "./flowBody.ts";
import { initial, type State } from "./rtfState.ts";

/* How far the reading of an RTF file has come. */

/** The document's own text, or a note's. */
export interface Part {
  body: FlowBody;
  /** Of the paragraph that is open. */
  runs: Run[];
  label: string;
  /** Undefined for the document. */
  note?: Element;
}

export interface Group {
  state: State;
  /** What a note that begins in the group interrupts. */
  outer?: Part;
}

export interface Row {
  plans: CellPlan[];
  header: boolean;
  /** Of the cell that is described next. */
  wide: boolean;
  tall: boolean;
}

export interface Reading {
  state: State;
  groups: Group[];
  part: Part;
  row: Row;
  notes: Element[];
  /** Of fonts that declare none. */
  encoding: string;
  fonts: Map<number, { encoding?: string; fixed?: boolean }>;
  /** Names by `s1` for paragraphs and `cs1` for signs. */
  styles: Map<string, string>;
  /** Bytes that are not decoded yet: a sign may have two, and be spelled in two ways. */
  bytes: string;
  /** Signs still to leave out. */
  standIns: number;
  /** The first half of a sign beyond 65,535. */
  half: string;
}

export const newPart = (note?: Element): Part => ({ body: flowBody(), runs: [], label: "", note });

export const newRow = (): Row => ({ plans: [], header: false, wide: false, tall: false });

export const newReading = (): Reading => ({
  state: initial,
  groups: [],
  part: newPart(),
  row: newRow(),
  notes: [],
  encoding: "windows-1252",
  fonts: new Map(),
  styles: new Map(),
  bytes: "",
  standIns: 0,
  half: "",
});
