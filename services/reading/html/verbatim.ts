import type { Literal } from "mdast";

/** Markdown that is written as it stands, inside a line. Of the types that may hold it, this one is taken for phrasing. */
export interface Verbatim extends Literal {
  type: "inlineMath";
}

declare module "mdast" {
  interface PhrasingContentMap {
    inlineMath: Verbatim;
  }
  interface RootContentMap {
    inlineMath: Verbatim;
  }
}

export const verbatim = (value: string): Verbatim => ({ type: "inlineMath", value });
