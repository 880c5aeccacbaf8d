import { Check } from "./Form.tsx";

interface Props {
  /** Of the checkboxes. */
  name: string;
  chosen: readonly string[];
  /** The values that have a checkbox; undefined: not known yet. */
  listed: readonly string[] | undefined;
  /** Whether there are no others. */
  isWhole: boolean;
}

/** Chosen values without a checkbox: what is gone can be left out, and what is only not listed stays as it is when the form is saved. */
export function Unlisted({ name, chosen, listed, isWhole }: Props) {
  const known = new Set(listed);
  return chosen
    .filter((value) => !known.has(value))
    .map((value) =>
      listed && isWhole ? (
        <Check key={value} name={name} value={value} label={value} hint="is no longer there" isChecked />
      ) : (
        <input key={value} type="hidden" name={name} value={value} />
      ),
    );
}
