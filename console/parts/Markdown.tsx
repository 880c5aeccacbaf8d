import { lazy, Suspense, type ReactNode } from "react";
import { importFile } from "./importFile.ts";
import "./markdown.css";

/** The parser is half as large as a screen, so the raw text is shown until it is loaded. */
const Tree = lazy(() => importFile(() => import("./MarkdownTree.tsx")));

/** Markdown as elements. `[…](source:1)` is the number of a source, which `mark` renders. */
export const Markdown = ({ text, mark }: { text: string; mark: (n: number) => ReactNode }) => (
  <div className="markdown">
    <Suspense fallback={<p className="body-text">{text}</p>}>
      <Tree text={text} mark={mark} />
    </Suspense>
  </div>
);
