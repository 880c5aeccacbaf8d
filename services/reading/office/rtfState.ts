/* The state that RTF words change. A group's changes end with the group. */

/**
 * The destination of text: the document, nowhere, nowhere because other groups have the same content, the font or style table, a field's
 * instruction, a list label, a property of a shape, an equation, or the bytes of a picture.
 */
export type Destination =
  | "text"
  | "skip"
  | "copy"
  | "fonts"
  | "styles"
  | "address"
  | "label"
  | "property"
  | "value"
  | "math"
  | "picture";

export interface ParagraphState {
  style: number;
  /** From 0. */
  outline: number | null;
  inTable: boolean;
  /** The number of surrounding tables, for tables in cells. */
  depth: number;
  list: number;
  level: number;
  /** Indents of the paragraph and of its first line, in twips. */
  left: number;
  first: number;
}

export interface State {
  destination: Destination;
  font: number;
  /** Characters to skip after a Unicode character: its fallback for older programs. */
  fallbackLength: number;
  bold: boolean;
  italic: boolean;
  strikethrough: boolean;
  superscript: boolean;
  hidden: boolean;
  deleted: boolean;
  charStyle: number;
  field: { href: string };
  paragraph: ParagraphState;
}

export const PLAIN_TEXT = {
  bold: false,
  italic: false,
  strikethrough: false,
  superscript: false,
  hidden: false,
  deleted: false,
  charStyle: -1,
};

export const DEFAULT_PARAGRAPH: ParagraphState = {
  style: -1,
  outline: null,
  inTable: false,
  depth: 0,
  list: 0,
  level: 0,
  left: 0,
  first: 0,
};

export const INITIAL_STATE: State = {
  destination: "text",
  font: -1,
  fallbackLength: 1,
  ...PLAIN_TEXT,
  field: { href: "" },
  paragraph: DEFAULT_PARAGRAPH,
};

export const DESTINATIONS: Record<string, Destination> = {
  fonttbl: "fonts",
  stylesheet: "styles",
  fldinst: "address",
  listtext: "label",
  pntext: "label",
  sn: "property",
  sv: "value",
  moMath: "math",
  pict: "picture",
  // the same shapes, texts and pictures for older programs
  shprslt: "copy",
  nonshppict: "copy",
  nonesttables: "copy",
  mmathPict: "copy",
};

/** Starred groups that are read. */
export const READ_STARRED = new Set(
  "fldinst footnote shpinst do nesttableprops moMathPara moMath mmathPict shppict picprop".split(" "),
);

/** Groups without document text. */
export const SKIPPED_DESTINATIONS = new Set(
  (
    "colortbl info header headerl headerr headerf footer footerl footerr footerf objdata xe tc upr annotation filetbl " +
    "ftnsep ftnsepc aftnsep aftnsepc ftncn aftncn moMathParaPr"
  ).split(" "),
);

/** Control words that stand for a character. */
export const SYMBOLS: Record<string, string> = {
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

/** The state after a word; undefined if the word does not change the state. */
export const applyToState = (state: State, name: string, value: number | null): State | undefined => {
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
      return { ...state, strikethrough: isOn(value) };
    case "super":
      return { ...state, superscript: isOn(value) };
    case "nosupersub":
      return { ...state, superscript: false };
    case "v":
      return { ...state, hidden: isOn(value) };
    case "deleted":
      return { ...state, deleted: isOn(value) };
    case "f":
      return { ...state, font: value ?? 0 };
    case "uc":
      return { ...state, fallbackLength: value ?? 1 };
    case "cs":
      return { ...state, charStyle: value ?? -1 };
    case "plain":
      return { ...state, ...PLAIN_TEXT };
    case "pard":
      return { ...state, paragraph: DEFAULT_PARAGRAPH };
    case "s":
      return paragraph({ style: value ?? 0 });
    case "outlinelevel":
      return paragraph({ outline: value });
    case "intbl":
      return paragraph({ inTable: true });
    case "itap":
      return paragraph({ depth: value ?? 0 });
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
