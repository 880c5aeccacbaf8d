import type { Literal } from "mdast";

/** Inline Markdown that is written unescaped. The node type `inlineMath` is used because it counts as phrasing content. */
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
