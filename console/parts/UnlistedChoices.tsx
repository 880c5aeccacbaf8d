import { Checkbox } from "./Form.tsx";

interface Props {
  /** The name of the checkboxes. */
  name: string;
  chosen: readonly string[];
  /** The values with a checkbox; undefined if not known yet. */
  listed: readonly string[] | undefined;
  /** Whether the list of values is complete. */
  isWhole: boolean;
}

/** Selected values without a checkbox. Deleted values can be left out; values that are only missing in the list are kept when the form is saved. */
export function UnlistedChoices({ name, chosen, listed, isWhole }: Props) {
  const known = new Set(listed);
  return chosen
    .filter((value) => !known.has(value))
    .map((value) =>
      listed && isWhole ? (
        <Checkbox key={value} name={name} value={value} label={value} hint="is no longer there" isChecked />
      ) : (
        <input key={value} type="hidden" name={name} value={value} />
      ),
    );
}
