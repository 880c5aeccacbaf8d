import { useState, type ReactNode } from "react";
import { Markdown } from "./Markdown.tsx";

/** Text of models and documents, formatted or raw, with a button that switches. */
export function useRawText(): { isRaw: boolean; toggle: ReactNode } {
  const [isRaw, setRaw] = useState(false);
  const toggle = (
    <button type="button" className="button small" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
      Raw text
    </button>
  );
  return { isRaw, toggle };
}

interface Props {
  text: string;
  isRaw: boolean;
  /** Renders the number of a source (`[1](source:1)`). */
  mark?: (n: number) => ReactNode;
}

/** Markdown as elements with its line breaks, or the raw text. */
export const FormattedText = ({ text, isRaw, mark = (n) => `[${n}]` }: Props) =>
  isRaw ? (
    <p className="body-text">{text}</p>
  ) : (
    <div className="words">
      <Markdown text={text} mark={mark} />
    </div>
  );
