/* What RTF changes as it goes. A group takes a copy and gives it back at its end. */

/** Where text goes: into the document, a table at its beginning, a field's address, a list's label, nowhere. */
export type Place = "text" | "skip" | "fonts" | "styles" | "address" | "label";

export interface ParagraphState {
  style: number;
  /** From 0. */
  outline: number | null;
  inTable: boolean;
  list: number;
  level: number;
  left: number;
  first: number;
}

export interface State {
  place: Place;
  font: number;
  /** Signs to leave out after one of Unicode: its stand-in for older programs. */
  standIns: number;
  bold: boolean;
  italic: boolean;
  struck: boolean;
  raised: boolean;
  hidden: boolean;
  charStyle: number;
  field: { href: string };
  paragraph: ParagraphState;
}

export const plain = { bold: false, italic: false, struck: false, raised: false, hidden: false, charStyle: -1 };

export const pard: ParagraphState = { style: -1, outline: null, inTable: false, list: 0, level: 0, left: 0, first: 0 };

export const initial: State = { place: "text", font: -1, standIns: 1, ...plain, field: { href: "" }, paragraph: pard };

export const places: Record<string, Place> = {
  fonttbl: "fonts",
  stylesheet: "styles",
  fldinst: "address",
  listtext: "label",
  pntext: "label",
};

/** Read although a star says that they need not be. */
export const starred = new Set(["fldinst", "footnote", "shpinst"]);

/** Groups that hold no text of the document, or the same text again. */
export const noText = new Set(
  (
    "colortbl info pict header headerl headerr headerf footer footerl footerr footerf objdata shprslt nonshppict sp " +
    "nonesttables xe tc upr annotation filetbl ftnsep ftnsepc aftnsep aftnsepc ftncn aftncn"
  ).split(" "),
);

/** Control words that are a sign of the text. */
export const signs: Record<string, string> = {
  tab: "\t",
  emdash: "—",
  endash: "–",
  bullet: "•",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  emspace: " ",
  enspace: " ",
  qmspace: " ",
  "~": " ",
  _: "-",
  "\\": "\\",
  "{": "{",
  "}": "}",
};

const isOn = (value: number | null): boolean => value !== 0;

/** What a word changes in the state; undefined for a word that does something else. */
export const changed = (state: State, name: string, value: number | null): State | undefined => {
  const paragraph = (change: Partial<ParagraphState>): State => ({
    ...state,
    paragraph: { ...state.paragraph, ...change },
  });
  switch (name) {
    case "b":
      return { ...state, bold: isOn(value) };
    case "i":
      return { ...state, italic: isOn(value) };
    case "strike":
      return { ...state, struck: isOn(value) };
    case "super":
      return { ...state, raised: isOn(value) };
    case "nosupersub":
      return { ...state, raised: false };
    case "v":
    case "deleted":
      return { ...state, hidden: isOn(value) };
    case "f":
      return { ...state, font: value ?? 0 };
    case "uc":
      return { ...state, standIns: value ?? 1 };
    case "cs":
      return { ...state, charStyle: value ?? -1 };
    case "plain":
      return { ...state, ...plain };
    case "pard":
      return { ...state, paragraph: pard };
    case "s":
      return paragraph({ style: value ?? 0 });
    case "outlinelevel":
      return paragraph({ outline: value });
    case "intbl":
      return paragraph({ inTable: true });
    case "ls":
      return paragraph({ list: value ?? 0 });
    case "ilvl":
      return paragraph({ level: value ?? 0 });
    case "li":
      return paragraph({ left: value ?? 0 });
    case "fi":
      return paragraph({ first: value ?? 0 });
    default:
      return undefined;
  }
};
