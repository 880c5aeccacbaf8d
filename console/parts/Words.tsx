import { useState, type ReactNode } from "react";
import { Markdown } from "./Markdown.tsx";

/** Words of models and documents: formatted, or as they are, and the button that changes it. */
export function useRawText(): { isRaw: boolean; toggle: ReactNode } {
  const [isRaw, setRaw] = useState(false);
  const toggle = (
    <button type="button" className="button small" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
      Raw text
    </button>
  );
  return { isRaw, toggle };
}

/** Markdown as elements, with its line breaks, or the text itself. */
export const Words = ({ text, isRaw }: { text: string; isRaw: boolean }) =>
  isRaw ? (
    <p className="body-text">{text}</p>
  ) : (
    <div className="words">
      <Markdown text={text} mark={(n) => `[${n}]`} />
    </div>
  );
