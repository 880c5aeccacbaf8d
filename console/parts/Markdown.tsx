import { lazy, Suspense, type ReactNode } from "react";
import { importFile } from "./importFile.ts";
import "./markdown.css";

/** The parser is half of a screen: words are shown as they are until it is there. */
const Tree = lazy(() => importFile(() => import("./MarkdownTree.tsx")));

/** Markdown as elements. `[…](source:1)` stands for the number of a source, which `mark` draws. */
export const Markdown = ({ text, mark }: { text: string; mark: (n: number) => ReactNode }) => (
  <div className="markdown">
    <Suspense fallback={<p className="body-text">{text}</p>}>
      <Tree text={text} mark={mark} />
    </Suspense>
  </div>
);
