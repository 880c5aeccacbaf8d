import type { Literal } from "mdast";

/** Inline Markdown that is written unescaped. The node type `inlineMath` is used because it counts as phrasing content. */
export interface RawMarkdown extends Literal {
  type: "inlineMath";
}

declare module "mdast" {
  interface PhrasingContentMap {
    inlineMath: RawMarkdown;
  }
  interface RootContentMap {
    inlineMath: RawMarkdown;
  }
}

export const rawMarkdown = (value: string): RawMarkdown => ({ type: "inlineMath", value });
