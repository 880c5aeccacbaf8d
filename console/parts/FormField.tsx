import type { ReactNode } from "react";

interface Props {
  label: string;
  /** Shown in brackets after the label. */
  note?: string;
  /** Shown in a line of its own. */
  hint?: string;
  children: ReactNode;
}

/** A control with its label. */
export const FormField = ({ label, note, hint, children }: Props) => (
  <label>
    {note && (
      <span>
        {label} <span className="quiet">({note})</span>
      </span>
    )}
    {hint && <span>{label}</span>}
    {hint && <span className="quiet">{hint}</span>}
    {!note && !hint && label}
    {children}
  </label>
);
