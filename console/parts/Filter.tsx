import { Options, type Choice } from "./Choices.tsx";

interface SelectProps {
  label: string;
  value: string | undefined;
  choices: readonly Choice[];
  /** Whether `/` goes to it. */
  isFirst?: boolean;
  /** Whether one of the choices holds always. */
  isRequired?: boolean;
  onPick(value?: string): void;
}

/** A filter whose value may be one that is not listed: a deleted agent, or an address that somebody sent. */
export function SelectFilter({ label, value, choices, isFirst, isRequired = false, onPick }: SelectProps) {
  const isListed = value === undefined || choices.some((choice) => choice.value === value);
  return (
    <label>
      {label}
      <select data-filter={isFirst} value={value ?? ""} onChange={({ target }) => onPick(target.value || undefined)}>
        {!isRequired && <option value="">any</option>}
        {!isListed && <option value={value}>{value}</option>}
        <Options choices={choices} />
      </select>
    </label>
  );
}

interface InputProps {
  label: string;
  type: "search" | "date";
  value: string | undefined;
  isFirst?: boolean;
  onChange(value?: string): void;
}

/** A filter that is typed. */
export const InputFilter = ({ label, type, value, isFirst, onChange }: InputProps) => (
  <label>
    {label}
    <input
      data-filter={isFirst}
      type={type}
      value={value ?? ""}
      onChange={({ target }) => onChange(target.value || undefined)}
    />
  </label>
);
