import type { ReactNode } from "react";
import { NARROW, useMedia } from "./useMedia.ts";

interface Props {
  /** The current values of the filters; an undefined value does not filter. */
  values: readonly unknown[];
  className?: string;
  children: ReactNode;
}

/** The filters of a list. A phone shows one button with the number of active filters. */
export function Filters({ values, className = "", children }: Props) {
  const isNarrow = useMedia(NARROW);
  const fields = `filters ${className}`;
  if (!isNarrow) return <search className={fields}>{children}</search>;
  const set = values.filter((value) => value !== undefined).length;
  return (
    <search>
      <details className="folded">
        <summary className="button">Filters{set > 0 && ` (${set} set)`}</summary>
        <div className={fields}>{children}</div>
      </details>
    </search>
  );
}
