import type { ReactNode } from "react";

interface Props {
  /** Tells screen readers which filter the button removes. */
  filter: string;
  onRemove(): void;
  children: ReactNode;
}

/** A filter that another screen set: it is shown and can be removed. */
export const FilterChip = ({ filter, onRemove, children }: Props) => (
  <p className="chip">
    {children}{" "}
    <button type="button" className="button small" onClick={onRemove}>
      Remove<span className="hidden-text"> the filter {filter}</span>
    </button>
  </p>
);
