import { Options, type Choice } from "./Choices.tsx";
import { FormField } from "./FormField.tsx";

interface SelectProps {
  label: string;
  value: string | undefined;
  choices: readonly Choice[];
  /** Whether the key `/` focuses it. */
  isFirst?: boolean;
  /** Whether one of the choices is always selected. */
  isRequired?: boolean;
  onPick(value?: string): void;
}

/** A filter whose value may be missing in its list, such as a deleted agent or a value from a shared address. */
export function SelectFilter({ label, value, choices, isFirst, isRequired = false, onPick }: SelectProps) {
  const isListed = value === undefined || choices.some((choice) => choice.value === value);
  return (
    <FormField label={label}>
      <select data-filter={isFirst} value={value ?? ""} onChange={({ target }) => onPick(target.value || undefined)}>
        {!isRequired && <option value="">any</option>}
        {!isListed && <option value={value}>{value}</option>}
        <Options choices={choices} />
      </select>
    </FormField>
  );
}

interface InputProps {
  label: string;
  type: "search" | "date";
  value: string | undefined;
  isFirst?: boolean;
  onChange(value?: string): void;
}

/** A text filter. */
export const InputFilter = ({ label, type, value, isFirst, onChange }: InputProps) => (
  <FormField label={label}>
    <input
      data-filter={isFirst}
      type={type}
      value={value ?? ""}
      onChange={({ target }) => onChange(target.value || undefined)}
    />
  </FormField>
);
