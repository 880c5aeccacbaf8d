import { formatSpan, parseSpan, SPAN_PATTERN } from "../format/spans.ts";
import { FieldError } from "../format/FieldError.ts";
import { formText } from "./formText.ts";

const DAY_S = 86_400;

interface Props {
  name: string;
  label: string;
  hint?: string;
  /** Seconds. */
  value: number | undefined;
  isRequired?: boolean;
}

/** A field for a duration, such as "30 days". */
export const SpanField = ({ name, label, hint, value, isRequired = false }: Props) => (
  <label>
    <span>
      {label} {hint && <span className="quiet">({hint})</span>}
    </span>
    <input
      name={name}
      pattern={SPAN_PATTERN}
      title="A number and a unit, as in 30 days, 12 hours or 90 seconds"
      placeholder={isRequired ? undefined : "30 days"}
      autoComplete="off"
      spellCheck={false}
      required={isRequired}
      defaultValue={value === undefined ? "" : formatSpan(value)}
    />
  </label>
);

/** The seconds of a field; null if it is empty. Throws a FieldError. */
export function readSpan(form: FormData, name: string, label: string): number | null {
  const text = formText(form, name);
  if (text.trim() === "") return null;
  const seconds = parseSpan(text);
  if (seconds === undefined) throw new FieldError(name, `${label}: write a number and a unit, as in 30 days.`);
  return seconds;
}

/** The same in whole days. */
export function readDays(form: FormData, name: string, label: string): number | null {
  const seconds = readSpan(form, name, label);
  if (seconds === null) return null;
  if (seconds % DAY_S !== 0) throw new FieldError(name, `${label}: write whole days, as in 30 days.`);
  return seconds / DAY_S;
}
