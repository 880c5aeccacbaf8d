import type { ElementContent } from "hast";
import { NOTE } from "../html/notes.ts";
import { element } from "../html/tree.ts";
import { UnreadableFile } from "../reader.ts";
import { merged, type Run } from "./flow.ts";
import { type FlowBody, flowBody } from "./flowBody.ts";
import { decodeBytes, encodingOfCharset, encodingOfCodePage } from "./rtfCharset.ts";
import { isCodeStyle, meaningOf } from "./meaning.ts";
import { changed, initial, noText, places, signs, starred, type State } from "./rtfState.ts";
import type { CellPlan } from "./edgeTable.ts";
import { rtfTokens } from "./rtfTokens.ts";

interface Group {
  state: State;
  /** Of a note: what it interrupts, and the label found there. */
  outer?: { body: FlowBody; runs: Run[]; label: string };
}

interface Row {
  plans: CellPlan[];
  header: boolean;
  wide: boolean;
  tall: boolean;
}

/** Groups nested deeper are written by no program. */
const MAX_GROUPS = 4_000;
const newRow = (): Row => ({ plans: [], header: false, wide: false, tall: false });

/** Reads RTF, given as one character for each byte, as blocks of HTML. Throws UnreadableFile: nested too deeply. */
export const readRtfBlocks = (source: string): ElementContent[] => {
  const fonts = new Map<number, { encoding: string | undefined; fixed: boolean }>();
  const styles = new Map<string, string>();
  const notes: ElementContent[] = [];
  const groups: Group[] = [];
  let state = initial;
  let encoding = "windows-1252";
  let body = flowBody();
  /** Of the paragraph that is open. */
  let runs: Run[] = [];
  let label = "";
  let row = newRow();
  let pending = "";
  let starts = false;
  let star = false;
  let standIns = 0;
  let high = "";

  const say = (text: string): void => {
    if (state.place === "address") state.field.href += text;
    else if (state.place === "label") label += text;
    else if (state.place === "styles") nameStyle(text);
    else if (state.place === "text" && !state.hidden && text !== "") {
      const { bold, italic, struck, raised } = state;
      const code = fonts.get(state.font)?.fixed === true || isCodeStyle(styles.get(`cs${state.charStyle}`));
      const href = /^\s*HYPERLINK\s+"([^"]+)"/i.exec(state.field.href)?.[1];
      runs.push({ text, bold, italic, struck, raised, code, href });
    }
  };

  const nameStyle = (text: string): void => {
    const key = state.charStyle >= 0 ? `cs${state.charStyle}` : `s${Math.max(state.paragraph.style, 0)}`;
    styles.set(key, (styles.get(key) ?? "") + text.replace(/;.*$/s, ""));
  };

  const flush = (): void => {
    if (pending !== "") say(decodeBytes(pending, fonts.get(state.font)?.encoding ?? encoding));
    pending = "";
  };

  const closeParagraph = (inTable: boolean): void => {
    const whole = merged(runs);
    const meaning = meaningOf(state.paragraph, styles.get(`s${state.paragraph.style}`) ?? "", label, whole);
    body.endParagraph(meaning && { ...meaning, runs: whole }, inTable);
    [runs, label] = [[], ""];
  };

  const endParagraph = (): void => {
    closeParagraph(state.paragraph.inTable);
  };

  const endCell = (): void => {
    if (runs.length > 0) closeParagraph(true);
    body.endCell();
  };

  const startNote = (): void => {
    const group = groups.at(-1);
    if (!group || state.place !== "text") return;
    const note = String(notes.length + 1);
    runs.push({ text: "", note });
    notes.push(element(NOTE, [], { id: note }));
    group.outer = { body, runs, label };
    [body, runs, label] = [flowBody(), [], ""];
  };

  const endNote = ({ outer }: Group, id: number): void => {
    if (!outer) return;
    endParagraph();
    notes[id - 1] = element(NOTE, body.finish(), { id: String(id) });
    ({ body, runs, label } = outer);
  };

  const noteIds: number[] = [];

  const endGroup = (): void => {
    const group = groups.pop();
    if (group?.outer) endNote(group, noteIds.pop() ?? 0);
    if (group) state = group.state;
  };

  const unicode = (value: number): void => {
    const sign = String.fromCharCode(value < 0 ? value + 65_536 : value);
    standIns = state.standIns;
    if (/[\uD800-\uDBFF]/.test(sign)) high = sign;
    else {
      say(high + sign);
      high = "";
    }
  };

  const word = (name: string, value: number | null): void => {
    if (starts && !noTextHere(name)) enter(name);
    const next = changed(state, name, value);
    if (next) state = next;
    else act(name, value);
  };

  const noTextHere = (name: string): boolean => {
    if (state.place === "styles") return false;
    if (!noText.has(name) && !(star && !starred.has(name))) return false;
    state = { ...state, place: "skip" };
    return true;
  };

  const enter = (name: string): void => {
    const place = places[name];
    if (place && state.place !== "skip") state = { ...state, place };
  };

  const act = (name: string, value: number | null): void => {
    const sign = signs[name];
    if (sign !== undefined) return say(sign);
    if (state.place === "skip") return;
    switch (name) {
      case "u":
        return unicode(value ?? 0);
      case "par":
      case "sect":
        return endParagraph();
      case "line":
        if (state.place === "text" && !state.hidden) runs.push({ text: "", line: true, code: runs.at(-1)?.code });
        return;
      case "field":
        state = { ...state, field: { href: "" } };
        return;
      case "footnote":
        startNote();
        if (groups.at(-1)?.outer) noteIds.push(notes.length);
        return;
      case "cell":
      case "nestcell":
        return name === "cell" ? endCell() : endParagraph();
      case "row":
        body.endRow(row.plans, row.header);
        return;
      case "trowd":
        row = newRow();
        return;
      case "trhdr":
        row.header = true;
        return;
      case "clmrg":
        row.wide = true;
        return;
      case "clvmrg":
        row.tall = true;
        return;
      case "cellx":
        row.plans.push({ edge: value ?? 0, wide: row.wide, tall: row.tall });
        row = { ...row, wide: false, tall: false };
        return;
      case "ansicpg":
        encoding = encodingOfCodePage(value ?? 1252);
        return;
      case "mac":
        encoding = "macintosh";
        return;
      case "fcharset":
        fonts.set(state.font, {
          fixed: fonts.get(state.font)?.fixed ?? false,
          encoding: encodingOfCharset(value ?? 0),
        });
        return;
      case "fmodern":
        if (state.place === "fonts")
          fonts.set(state.font, { ...fonts.get(state.font), encoding: undefined, fixed: true });
        return;
      default:
        return;
    }
  };

  for (const token of rtfTokens(source)) {
    if (token.kind === "bytes") {
      const skipped = Math.min(standIns, token.bytes.length);
      standIns -= skipped;
      pending += token.bytes.slice(skipped);
      starts = false;
      continue;
    }
    flush();
    if (token.kind !== "word") standIns = 0;
    if (token.kind === "open") {
      groups.push({ state });
      if (groups.length > MAX_GROUPS) throw new UnreadableFile("The file is nested too deeply.");
      [starts, star] = [true, false];
    } else if (token.kind === "close") {
      endGroup();
      starts = false;
    } else if (token.name === "*") star = true;
    else {
      word(token.name, token.value);
      starts = false;
    }
  }
  flush();
  // A file that ends too early ends all that it began.
  while (groups.length > 0) endGroup();
  endParagraph();
  return [...body.finish(), ...notes];
};
